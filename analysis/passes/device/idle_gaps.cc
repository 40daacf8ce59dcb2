// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See idle_gaps.h.

#include "analysis/passes/device/idle_gaps.h"

#include <algorithm>
#include <optional>

#include "analysis/model/names.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/host_functions.h"
#include "analysis/passes/device/unseen_work.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

template <typename Table>
const std::vector<LeafSpan>& LeavesOf(uint32_t track, const Table& table,
                                      std::unordered_map<uint32_t, std::vector<LeafSpan>>* known) {
  const auto [at, is_new] = known->try_emplace(track);
  if (is_new) at->second = LeafSpans(table.end_ns, table.duration_ns);
  return at->second;
}

std::string WorkName(const Process& process, const WorkRef& work) {
  const Track& track = process.tracks[work.track];
  switch (work.kind) {
    case DeviceWorkKind::kKernel: {
      const auto found = process.signatures.find(track.kernel.signature[work.row]);
      if (found == process.signatures.end()) return "kernel";
      return Demangle(process.String(found->second.name()).c_str());
    }
    case DeviceWorkKind::kCopy:
      return "copy";
    case DeviceWorkKind::kSet:
      return "memset";
    case DeviceWorkKind::kGraph:
      break;
  }
  return "graph";
}

}  // namespace

void NamesDuring::Add(uint32_t name, int64_t ns) {
  for (auto& [known, sum] : here_) {
    if (known != name) continue;
    sum += ns;
    return;
  }
  here_.emplace_back(name, ns);
}

uint32_t NamesDuring::Finish() {
  uint32_t most = 0;
  int64_t most_ns = 0;
  for (const auto& [name, ns] : here_) {
    Share& share = all_[name];
    share.ns += ns;
    ++share.gaps;
    const bool is_more = ns > most_ns || (ns == most_ns && ns > 0 &&
                                          process_->String(name) < process_->String(most));
    if (!is_more) continue;
    most = name;
    most_ns = ns;
  }
  here_.clear();
  return most;
}

void NamesDuring::AddTo(Shares* shares) const {
  for (const auto& [name, share] : all_) {
    Share& sum = (*shares)[process_->String(name)];
    sum.ns += share.ns;
    sum.gaps += share.gaps;
  }
}

IdleGaps::IdleGaps(PassContext& context, size_t index)
    : process_(&context.process(index)),
      ops_(&context.ops(index)),
      calls_(&context.calls(index)),
      steps_(&context.steps(index).steps),
      origin_(&context.origin(index)),
      devices_(context.devices(index)),
      in_ops_(*process_),
      in_functions_(*process_) {
  size_t count = 0;
  for (const auto& [device, timeline] : devices_->all()) {
    gaps_.try_emplace(device, context, index, device, timeline);
    count += timeline.gaps().size();
  }
  spans_.reserve(count);
  for (const auto& of_device : gaps_) {
    const uint32_t device = of_device.first;
    of_device.second.ForEach([&](const DeviceGap& gap, size_t place) {
      spans_.push_back(
          SpanOf(device, gap.span, static_cast<uint32_t>(place), &in_ops_, &in_functions_));
    });
    host_functions_[device] = HostFunctionTimes(*process_, device);
  }
}

std::shared_ptr<IdleGaps> IdleGaps::Of(PassContext& context, size_t index) {
  constexpr uint64_t kMostKept = 1'000'000;  // pieces of work
  uint64_t work = 0;
  for (const Track& track : context.process(index).tracks)
    work += track.kernel.rows() + track.memcpy.rows() + track.memset.rows();
  if (work > kMostKept) return std::make_shared<IdleGaps>(context, index);
  return context.kept_of_steps(index).Get<std::shared_ptr<IdleGaps>>(
      [&] { return std::make_shared<IdleGaps>(context, index); });
}

std::optional<IdleSpan> IdleGaps::Before(uint32_t device, int64_t from_ns) {
  const auto gaps = gaps_.find(device);
  if (gaps == gaps_.end()) return std::nullopt;
  const DeviceGap& first = gaps->second.timeline().gaps().front();
  if (from_ns >= first.span.end) return std::nullopt;
  NamesDuring in_ops(*process_), in_functions(*process_);
  return SpanOf(device, {from_ns, first.span.end}, 0, &in_ops, &in_functions);
}

void IdleGaps::AddDevices(results::Idle* out) const {
  std::map<uint32_t, std::string> names = DeviceNames(*process_);
  for (const auto& [device, gaps] : gaps_) {
    results::IdleDevice* sums = out->add_devices();
    SetProcess(*process_, sums);
    sums->set_device(device);
    sums->set_name(names[device]);
    sums->set_window_ns(gaps.WindowLength());
    sums->set_busy_ns(gaps.BusyLength());
    sums->set_busy_ratio(Ratio(sums->busy_ns(), sums->window_ns()));
    sums->set_idle_ns(sums->window_ns() - sums->busy_ns());
    uint64_t count = 0;
    gaps.ForEach([&](const DeviceGap&, size_t) { ++count; });
    sums->set_gap_count(count);
    const IdleCauses causes = gaps.Causes();
    AddTimes(causes.times, sums->idle_ns(), sums->mutable_causes());
    AddHtaClasses(device, sums);
    if (causes.unseen_ns == 0) continue;
    out->mutable_meta()->add_notes(
        UnseenNote("pid " + std::to_string(sums->pid()) + ", device " + std::to_string(device),
                   causes.unseen_ns));
  }
}

const std::vector<LeafSpan>& IdleGaps::OpLeaves(uint32_t track) {
  return LeavesOf(track, process_->tracks[track].op, &op_leaves_);
}

const std::vector<LeafSpan>& IdleGaps::FunctionLeaves(uint32_t track) {
  return LeavesOf(track, process_->tracks[track].python, &function_leaves_);
}

DeviceGap IdleGaps::GapOf(const IdleSpan& span) const {
  DeviceGap gap = devices_->all().at(span.device).gaps()[span.place];
  gap.span = {span.start_ns, span.start_ns + span.duration_ns};
  return gap;
}

IdleSpan IdleGaps::SpanOf(uint32_t device, Interval time, uint32_t place, NamesDuring* in_ops,
                          NamesDuring* in_functions) {
  IdleSpan span;
  span.start_ns = time.start;
  span.duration_ns = time.length();
  span.device = device;
  span.place = place;
  const DeviceGap gap = GapOf(span);
  const Interval late = {gap.span.start, gap.HostUntil()};
  if (!gap.launch || late.length() <= 0) return span;
  span.late_ns = late.length() - ForEachSeenPart(late, gaps_.at(device).unseen(), [](Interval) {});
  ForEachLate(
      span, [&](uint32_t name, int64_t ns) { in_ops->Add(name, ns); },
      [&](uint32_t name, int64_t ns) { in_functions->Add(name, ns); });
  span.during_op = in_ops->Finish();
  span.during_function = in_functions->Finish();
  return span;
}

DeviceTimes IdleGaps::TimesOf(const IdleSpan& span) const {
  return gaps_.at(span.device).CausesOf(GapOf(span)).times;
}

results::IdleGap IdleGaps::Describe(const IdleSpan& span) {
  const DeviceGap gap = GapOf(span);
  const DeviceTimes times = TimesOf(span);
  results::IdleGap row;
  SetProcess(*process_, &row);
  row.set_device(span.device);
  row.set_start_ns(gap.span.start);
  row.set_duration_ns(gap.span.length());
  row.set_late_ns(span.late_ns);
  const auto most = std::max_element(times.begin(), times.end());
  row.set_cause(static_cast<results::TimeCategory>(most - times.begin()));
  AddTimes(times, gap.span.length(), row.mutable_causes());
  const int64_t in_functions_ns = CoveredLength(host_functions_.at(span.device), gap.span);
  if (in_functions_ns != 0) row.set_host_function_ns(in_functions_ns);
  if (gap.next) row.set_name(WorkName(*process_, *gap.next));
  if (gap.launch) DescribeLaunch(*gap.launch, &row);
  if (span.during_op != 0) row.set_during_op(process_->String(span.during_op));
  if (span.during_function != 0) row.set_during_function(process_->String(span.during_function));
  return row;
}

void IdleGaps::DescribeLaunch(const Call& launch, results::IdleGap* row) {
  const Track& thread = process_->tracks[launch.track];
  row->set_tid(thread.tid);
  if (!thread.api.has_ids_alone())
    row->set_function(ApiFunctionName(*process_, thread.api.function[launch.row]));
  if (const auto op = origin_->Innermost(launch.track, launch.start_ns))
    row->set_op(process_->String(process_->tracks[op->track].op.name[op->row]));
  if (const auto step = Origin::StepAt(*steps_, launch.start_ns))
    row->set_step((*steps_)[*step].number);
}

// The rules of HolisticTraceAnalysis 0.5: the gaps between the work that follows each other on
// one stream.
void IdleGaps::AddHtaClasses(uint32_t device, results::IdleDevice* sums) const {
  // Its documentation says 30 ns, but it compares microseconds.
  constexpr int64_t kKernelDelayNs = 30'000;
  for (const Track& track : process_->tracks) {
    if (!track.is_stream || track.device != device) continue;
    std::vector<DeviceWork> work;
    ForEachDeviceWork(track, [&](const DeviceWork& each) { work.push_back(each); });
    std::stable_sort(work.begin(), work.end(), [](const DeviceWork& x, const DeviceWork& y) {
      return x.span.start < y.span.start;
    });
    for (size_t i = 1; i < work.size(); ++i) {
      const int64_t ended = work[i - 1].span.end;
      const int64_t ns = work[i].span.start - ended;
      if (ns <= 0) continue;
      const std::optional<Call> call = calls_->Find(work[i].correlation);
      if (call && call->start_ns > ended) {
        sums->set_hta_host_wait_ns(sums->hta_host_wait_ns() + ns);
      } else if (ns < kKernelDelayNs) {
        sums->set_hta_kernel_wait_ns(sums->hta_kernel_wait_ns() + ns);
      } else {
        sums->set_hta_other_ns(sums->hta_other_ns() + ns);
      }
    }
  }
}

}  // namespace gpuprof::analysis
