// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See places.h. One table of all rules, at the end.

#include "analysis/advice/rules/places.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/base/enum_word.h"

namespace gpuprof::analysis {
namespace {

using results::Place;
using MaybePlace = std::optional<Place>;

// Makes a place of an event. None: there is no such event.
MaybePlace PlaceOf(results::PlaceKind kind, const Instance& instance, int32_t pid,
                   const std::string& host) {
  if (instance.duration_ns == 0) return std::nullopt;
  Place place;
  place.set_kind(kind);
  place.set_pid(instance.pid == 0 ? pid : instance.pid);
  place.set_host(instance.pid == 0 ? host : instance.host);
  if (instance.tid) place.set_tid(*instance.tid);
  if (instance.device) place.set_device(*instance.device);
  place.set_start_ns(instance.start_ns);
  place.set_end_ns(instance.start_ns + instance.duration_ns);
  if (instance.step) place.set_step(*instance.step);
  return place;
}

// Makes a place of an event of the process that the rules about devices look at.
MaybePlace OfDevice(const AdviceFacts& facts, results::PlaceKind kind, const Instance& instance) {
  if (!facts.device) return std::nullopt;
  return PlaceOf(kind, instance, facts.device->verdict.pid(), facts.device->verdict.host());
}

// Makes a place of an event of the process with the leading steps.
MaybePlace OfHost(const AdviceFacts& facts, results::PlaceKind kind, const Instance& instance) {
  return PlaceOf(kind, instance, facts.overview->steps().pid(), facts.overview->steps().host());
}

MaybePlace OfGap(const results::IdleGap& gap) {
  if (gap.duration_ns() == 0) return std::nullopt;
  Place place;
  place.set_kind(results::PLACE_KIND_LONGEST_GAP);
  place.set_pid(gap.pid());
  place.set_host(gap.host());
  place.set_device(gap.device());
  place.set_start_ns(gap.start_ns());
  place.set_end_ns(gap.start_ns() + gap.duration_ns());
  if (gap.has_step()) place.set_step(gap.step());
  return place;
}

MaybePlace GapOf(const AdviceFacts& facts, results::TimeCategory category) {
  if (!facts.device) return std::nullopt;
  const auto found = facts.device->idle.longest_of.find(category);
  return found == facts.device->idle.longest_of.end() ? std::nullopt : OfGap(found->second);
}

MaybePlace OfLock(const results::Lock& lock) {
  Place place;
  place.set_kind(results::PLACE_KIND_LONGEST_WAIT);
  place.set_pid(lock.pid());
  place.set_host(lock.host());
  place.set_tid(lock.max_tid());
  place.set_start_ns(lock.max_start_ns());
  place.set_end_ns(lock.max_start_ns() + lock.max_ns());
  return place;
}

// Finds the wait that steps spend most time in. With `contended` those for locks, else all others,
// outside of operations.
MaybePlace WaitInSteps(const AdviceFacts& facts, bool contended) {
  const auto part = [contended](const results::Lock& lock) {
    return contended ? lock.step_ns() : lock.step_blocked_ns();
  };
  const results::Lock* most = nullptr;
  for (const results::Lock& lock : facts.locks->locks()) {
    if (lock.contended() != contended || part(lock) == 0) continue;
    if (most == nullptr || part(lock) > part(*most)) most = &lock;
  }
  return most == nullptr ? std::nullopt : OfLock(*most);
}

MaybePlace Peak(const AdviceFacts& facts, int64_t time_ns) {
  if (!facts.device || time_ns == 0) return std::nullopt;
  Place place;
  place.set_kind(results::PLACE_KIND_MEMORY_PEAK);
  place.set_pid(facts.device->verdict.pid());
  place.set_host(facts.device->verdict.host());
  place.set_device(facts.device->verdict.device());
  place.set_start_ns(time_ns);
  place.set_end_ns(time_ns);
  return place;
}

MaybePlace HostStep(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_TYPICAL_STEP, facts.host.typical_step);
}

MaybePlace DeviceStep(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  return OfDevice(facts, results::PLACE_KIND_TYPICAL_STEP, facts.device->typical_step);
}

// Most rules look at pieces of one kind.
template <Pieces DeviceFacts::*pieces, results::PlaceKind kind>
MaybePlace LongestOf(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  return OfDevice(facts, kind, ((*facts.device).*pieces).longest);
}

template <KernelGroup KernelFacts::*group>
MaybePlace KernelOf(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  return OfDevice(facts, results::PLACE_KIND_LONGEST_KERNEL,
                  (facts.device->in_steps.*group).largest_launch);
}

MaybePlace LongestCollective(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  return OfDevice(facts, results::PLACE_KIND_LONGEST_COLLECTIVE,
                  facts.device->in_steps.longest_collective);
}

MaybePlace LateRankPlace(const AdviceFacts& facts) {
  if (!facts.late_rank) return std::nullopt;
  return OfHost(facts, results::PLACE_KIND_LONGEST_WAIT, facts.late_rank->longest);
}

// What the GPU waits for: the host, or the way of its launches.
MaybePlace LateLaunch(const AdviceFacts& facts) {
  const MaybePlace late = GapOf(facts, results::TIME_CATEGORY_HOST);
  return late ? late : GapOf(facts, results::TIME_CATEGORY_LAUNCH);
}

MaybePlace IdlePlace(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MaybePlace place =
      GapOf(facts, ValueOfWord<results::TimeCategory>(facts.overview->gpu().idle_cause()));
  return place ? place : OfGap(facts.device->idle.longest);
}

MaybePlace LongestGap(const AdviceFacts& facts) {
  return facts.device ? OfGap(facts.device->idle.longest) : std::nullopt;
}

// The wait with the time behind it in which the device had nothing to do.
MaybePlace LongestDeviceWait(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  Instance wait = facts.device->waits.longest;
  if (wait.duration_ns != 0) wait.duration_ns += facts.device->longest_wait_ns;
  return OfDevice(facts, results::PLACE_KIND_LONGEST_WAIT, wait);
}

MaybePlace LongestLoad(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_WAIT, facts.input.longest_load);
}

MaybePlace LongestRead(const AdviceFacts& facts) {
  const MaybePlace read = OfHost(facts, results::PLACE_KIND_LONGEST_READ, facts.input.longest_read);
  return read ? read : LongestLoad(facts);
}

MaybePlace LongestElement(const AdviceFacts& facts) {
  const MaybePlace call =
      OfHost(facts, results::PLACE_KIND_LONGEST_WAIT, facts.input.iterators.longest);
  if (call || !facts.run) return call;
  return OfHost(facts, results::PLACE_KIND_LONGEST_WAIT, facts.run->longest_data_wait);
}

MaybePlace LongestStep(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_STEP, facts.host.longest_step);
}

MaybePlace WarmUpStep(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_STEP, facts.host.longest_warm_up);
}

MaybePlace LongestCollection(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_CALL, facts.host.collections.longest);
}

MaybePlace LongestOutput(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_CALL, facts.host.outputs.longest);
}

MaybePlace LongestMove(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_MOVE, facts.host.page_faults.longest);
}

MaybePlace BetweenPlace(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_GAP, facts.host.longest_between);
}

MaybePlace PromptsPlace(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_LONGEST_GAP, facts.host.serving.longest);
}

MaybePlace StartPlace(const AdviceFacts& facts) {
  return OfHost(facts, results::PLACE_KIND_START, facts.host.start);
}

MaybePlace LongestFirstUse(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  return OfDevice(facts, results::PLACE_KIND_LONGEST_CALL, facts.device->longest_first_use);
}

MaybePlace TensorPeak(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const MemoryFacts& memory = facts.device->memory;
  return Peak(facts, memory.tensors_bytes != 0 ? memory.tensors_time_ns : memory.used_peak_time_ns);
}

MaybePlace UsedPeak(const AdviceFacts& facts) {
  return facts.device ? Peak(facts, facts.device->memory.used_peak_time_ns) : std::nullopt;
}

MaybePlace FirstLock(const AdviceFacts& facts) {
  const auto& locks = facts.overview->top_locks();
  return locks.empty() ? std::nullopt : OfLock(locks[0]);
}

MaybePlace DeadlockPlace(const AdviceFacts& facts) {
  if (facts.locks->deadlocks().empty()) return std::nullopt;
  const results::Deadlock& deadlock = facts.locks->deadlocks(0);
  Instance instance;
  instance.start_ns = deadlock.start_ns();
  instance.duration_ns = deadlock.length_ns();
  if (!deadlock.waits().empty()) instance.tid = deadlock.waits(0).waiter_tid();
  return PlaceOf(results::PLACE_KIND_LONGEST_WAIT, instance, deadlock.pid(), deadlock.host());
}

MaybePlace LongestWaitOfRun(const AdviceFacts& facts) {
  if (!facts.run) return std::nullopt;
  return OfHost(facts, results::PLACE_KIND_LONGEST_WAIT, facts.run->longest_wait);
}

MaybePlace StepsInLocks(const AdviceFacts& facts) { return WaitInSteps(facts, true); }
MaybePlace StepsInWaits(const AdviceFacts& facts) { return WaitInSteps(facts, false); }

constexpr auto kCall = results::PLACE_KIND_LONGEST_CALL;
constexpr auto kCopy = results::PLACE_KIND_LONGEST_COPY;
constexpr auto kKernel = results::PLACE_KIND_LONGEST_KERNEL;
constexpr auto kCollective = results::PLACE_KIND_LONGEST_COLLECTIVE;

struct RulePlace {
  std::string_view id;
  MaybePlace (*find)(const AdviceFacts&);
};

// Rules that are not here are about steps as a whole, or about the recording.
constexpr RulePlace kPlaces[] = {
    {"CO-001", LongestCollective},
    {"CO-002", LateRankPlace},
    {"CO-004", LongestOf<&DeviceFacts::small_messages, kCollective>},
    {"CO-006", KernelOf<&KernelFacts::slowed>},
    {"CO-010", LateRankPlace},
    {"CP-001", LongestOf<&DeviceFacts::pageable_copies, kCopy>},
    {"CP-002", LongestOf<&DeviceFacts::sync_copies, kCopy>},
    {"CP-003", LongestOf<&DeviceFacts::copies, kCopy>},
    {"CP-004", LongestOf<&DeviceFacts::small_copies, kCopy>},
    {"CP-006", LongestOf<&DeviceFacts::returned_copies, kCopy>},
    {"CP-007", LongestMove},
    {"CP-008", LongestOf<&DeviceFacts::memsets, kCopy>},
    {"GP-001", IdlePlace},
    {"GP-002", LongestGap},
    {"GP-003", KernelOf<&KernelFacts::low_occupancy>},
    {"GP-004", KernelOf<&KernelFacts::few_blocks>},
    {"GP-005", KernelOf<&KernelFacts::tails>},
    {"GP-007", KernelOf<&KernelFacts::wide_types>},
    {"GP-008", KernelOf<&KernelFacts::misaligned>},
    {"GP-009", KernelOf<&KernelFacts::attention>},
    {"GP-014", KernelOf<&KernelFacts::drifting>},
    {"GP-015", KernelOf<&KernelFacts::layout>},
    {"IN-001", LongestLoad},
    {"IN-002", LongestLoad},
    {"IN-003", LongestRead},
    {"IN-004", LongestLoad},
    {"IN-005", LongestLoad},
    {"IN-006", LongestLoad},
    {"IN-007", LongestElement},
    {"IN-008", LongestRead},
    {"LA-001", LateLaunch},
    {"LA-003", LongestOf<&DeviceFacts::repeats, results::PLACE_KIND_LONGEST_RUN>},
    {"LA-004", LongestOf<&DeviceFacts::full_queue, kCall>},
    {"LA-005", LongestOf<&DeviceFacts::slow_calls, kCall>},
    {"LA-007", LongestOf<&DeviceFacts::code_loads, kCall>},
    {"ME-001", TensorPeak},
    {"ME-002", UsedPeak},
    {"ME-003", TensorPeak},
    {"ME-005", LongestOf<&DeviceFacts::allocations, kCall>},
    {"PY-004", LongestCollection},
    {"RU-001", LongestWaitOfRun},
    {"ST-001", WarmUpStep},
    {"ST-002", LongestStep},
    {"ST-003", LongestCollection},
    {"ST-004", LongestOutput},
    {"ST-005", LongestOf<&DeviceFacts::recompiles, kCall>},
    {"ST-006", BetweenPlace},
    {"ST-008", LongestFirstUse},
    {"ST-009", StartPlace},
    {"ST-010", PromptsPlace},
    {"SY-001", LongestDeviceWait},
    {"SY-002", LongestOf<&DeviceFacts::allocations, kCall>},
    {"SY-003", LongestOf<&DeviceFacts::legacy_stream, kKernel>},
    {"SY-004", StepsInLocks},
    {"SY-005", FirstLock},
    {"SY-006", DeadlockPlace},
    {"SY-007", StepsInWaits},
};

// Leaves out what lies before or behind the recording: a process may be older than its captures.
void Cut(const results::Meta& meta, Place* place) {
  const int64_t first = meta.window_start_ns(), last = meta.window_end_ns();
  if (first >= last) return;
  place->set_start_ns(std::clamp(place->start_ns(), first, last));
  place->set_end_ns(std::clamp(place->end_ns(), first, last));
}

// Returns whether a rule is about a device: then its typical step is one of the device.
bool IsOfDevices(std::string_view id) {
  constexpr std::string_view kFamilies[] = {"CO-", "CP-", "GP-", "LA-", "ME-"};
  return std::any_of(std::begin(kFamilies), std::end(kFamilies),
                     [&](std::string_view family) { return id.starts_with(family); });
}

}  // namespace

void AddPlace(const AdviceFacts& facts, Finding* finding) {
  if (finding->place) return;
  MaybePlace place;
  for (const RulePlace& rule : kPlaces)
    if (rule.id == finding->id) place = rule.find(facts);
  if (!place && IsOfDevices(finding->id)) place = DeviceStep(facts);
  if (!place) place = HostStep(facts);
  if (!place) place = DeviceStep(facts);
  if (!place) return;
  Cut(facts.overview->meta(), &*place);
  finding->place = std::move(*place);
}

void SetKernelPlace(const AdviceFacts& facts, const std::string& kernel, Finding* finding) {
  if (!facts.device) return;
  const auto& launches = facts.device->in_steps.longest_launches;
  const auto found = launches.find(kernel);
  if (found == launches.end()) return;
  if (const MaybePlace place = OfDevice(facts, results::PLACE_KIND_LONGEST_KERNEL, found->second))
    finding->place = *place;
}

}  // namespace gpuprof::analysis
