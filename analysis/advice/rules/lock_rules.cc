// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about locks. See rules.h.

#include <algorithm>
#include <vector>

#include "analysis/advice/rules/rule_parts.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/function_name.h"

namespace gpuprof::analysis {
namespace {

constexpr int kMostWaitsNamed = 3;
// A single thread is parked if its waits are so many times as long as the shortest ones that park.
constexpr int64_t kVeryLong = 10;

// What a wait of this kind waits for.
Argument WaitedFor(const results::Lock& lock) {
  const std::string& kind = lock.kind();
  if (kind == "sleep") return say::Phrase({"SY-007.sleeps"});
  if (kind == "input") return say::Phrase({"SY-007.input", {say::Plain(lock.object())}});
  if (kind == "events") return say::Phrase({"SY-007.events"});
  if (kind == "child") return say::Phrase({"SY-007.child"});
  if (kind == "condition") return say::Phrase({"SY-007.condition"});
  if (kind == "join") return say::Phrase({"SY-007.join"});
  return say::Phrase({"SY-007.other", {say::Name(kind)}});
}

// Returns whether each of several threads waits at a mutex of its own, in the same function.
bool HasMutexForEachThread(const AdviceFacts& facts, const results::Lock& lock) {
  for (const results::Lock& other : facts.locks->locks()) {
    if (other.name() == lock.name() && other.kind() == lock.kind() && other.pid() == lock.pid() &&
        other.host() == lock.host() && other.object() != lock.object() &&
        other.thread_count() == 1 && lock.threads_size() != 0 && other.threads_size() != 0 &&
        other.threads(0) != lock.threads(0))
      return true;
  }
  return false;
}

// Returns whether the waits of this row are a way to park threads that have nothing to do: few long
// waits, by one thread for very long, by threads with a mutex each, or for nearly all of the
// process's life. Contention would let a thread go on in between.
bool IsParking(const AdviceFacts& facts, const results::Lock& lock) {
  if (lock.count() == 0 || lock.thread_count() == 0) return false;
  const auto mean_ns = lock.total_ns() / static_cast<int64_t>(lock.count());
  const int64_t long_ns = facts.limits.Whole("SY-005.min_parked");
  if (mean_ns < long_ns) return false;
  const bool is_very_long = mean_ns >= kVeryLong * long_ns;
  if (lock.thread_count() == 1 && (is_very_long || HasMutexForEachThread(facts, lock))) return true;
  for (const results::OverviewProcess& process : facts.overview->processes()) {
    if (process.pid() != lock.pid() || process.host() != lock.host()) continue;
    const int64_t life_ns = process.end_ns() - process.start_ns();
    if (Ratio(lock.total_ns() / lock.thread_count(), life_ns) >=
        facts.limits("SY-005.parked_share"))
      return true;
  }
  return false;
}

// Returns whether the row says nothing of contention between the program's own locks. With samples
// the interpreter's lock is told by PY-002, with its holders.
bool IsNoContention(const AdviceFacts& facts, const results::Lock& lock) {
  return IsParking(facts, lock) || (facts.samples && lock.kind() == "gil");
}

// Returns whether half of this time a step is for another rank, which is late: CO-010 says so.
bool IsForLateRank(const AdviceFacts& facts, int64_t blocked_ns) {
  if (!facts.late_rank || facts.late_rank->device ||
      facts.late_rank->pid == facts.overview->steps().pid())
    return false;
  const auto count = static_cast<int64_t>(facts.overview->steps().count());
  return facts.late_rank->lead_ns / count * 2 >= blocked_ns;
}

}  // namespace

std::optional<Finding> StepsBlocked(const AdviceFacts& facts) {
  const results::StepCategory* blocked = FindCategory(facts, "blocked");
  if (blocked == nullptr || blocked->share_ratio() < facts.limits("SY-007.min_share"))
    return std::nullopt;
  const int64_t gain = HostGain(facts, blocked->mean_ns());
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("SY-007.min_share"))
    return std::nullopt;
  if (IsForLateRank(facts, blocked->mean_ns())) return std::nullopt;
  Finding finding = Make("SY-007.name", results::LEVEL_HIGH, {"SY-007.reason"});
  finding.Evidence("SY-007.blocked_outside_every_operation",
                   {PartOfStep(facts, blocked->mean_ns())});
  std::vector<const results::Lock*> waits;
  for (const results::Lock& lock : facts.locks->locks())
    if (!lock.contended() && lock.step_blocked_ns() > 0) waits.push_back(&lock);
  std::stable_sort(waits.begin(), waits.end(), [](const results::Lock* a, const results::Lock* b) {
    return a->step_blocked_ns() > b->step_blocked_ns();
  });
  const auto count = static_cast<int64_t>(facts.overview->steps().count());
  for (const results::Lock* lock : waits) {
    if (finding.evidence.size() > kMostWaitsNamed) break;
    finding.Evidence("SY-007.per_step_called",
                     {say::Duration(lock->step_blocked_ns() / count), WaitedFor(*lock),
                      say::Name(ShortFunctionName(lock->name()))});
  }
  // A sleep waits for nothing that can come earlier. Only the program knows whether it is needed.
  int64_t slept_ns = 0;
  for (const results::Lock* lock : waits)
    if (lock->kind() == "sleep") slept_ns += lock->step_blocked_ns();
  const bool is_sleep = slept_ns / count * 2 >= blocked->mean_ns();
  if (is_sleep) {
    SetUnknownGain(facts, "SY-007.gain_of_sleep", blocked->share_ratio(), &finding);
    finding.Fix("SY-007.sleep_less");
  } else {
    SetGain(facts, Bound(gain, "SY-007.gain"), &finding);
  }
  // Waits for a loader's or tf.data's next batch are no part of this: they are input.
  const bool knows_input = facts.input.loader != nullptr || facts.input.iterators.count != 0;
  finding.Fix(knows_input ? "SY-007.waited_not_for_batches"
                          : "SY-007.waited_another_thread_process");
  finding.Caveat("SY-007.caveat");
  return finding;
}

std::optional<Finding> LockContention(const AdviceFacts& facts) {
  if (!facts.locks->has_step_contended_ns()) return std::nullopt;
  const auto count = static_cast<int64_t>(facts.overview->steps().count());
  const int64_t per_step = facts.locks->step_contended_ns() / count;
  if (Ratio(per_step, facts.overview->steps().mean_ns()) < facts.limits("SY-004.min_share"))
    return std::nullopt;
  const int64_t gain = HostGain(facts, per_step);
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("SY-004.min_share"))
    return std::nullopt;
  Finding finding = Make("SY-004.name", results::LEVEL_HIGH, {"SY-004.reason"});
  finding.Evidence("SY-004.spent_waiting_mutexes_rwlocks", {PartOfStep(facts, per_step)});
  for (const results::Lock& lock : facts.overview->top_locks()) {
    if (!lock.contended() || lock.step_ns() == 0) continue;
    finding.Evidence("SY-004.per_step_waits_longest",
                     {say::Duration(lock.step_ns() / count), say::Name(lock.name()),
                      say::Count(lock.count()), say::Duration(lock.max_ns())});
    break;
  }
  SetGain(facts, Bound(gain, "SY-004.gain"), &finding);
  finding.Fix("SY-004.move_work_other_threads");
  return finding;
}

// Without steps there is only the whole run to compare with.
std::optional<Finding> LockContentionInRun(const AdviceFacts& facts) {
  const results::Overview& overview = *facts.overview;
  if (overview.has_steps() || overview.top_locks().empty()) return std::nullopt;
  const int64_t run = overview.meta().window_end_ns() - overview.meta().window_start_ns();
  int64_t waited = facts.locks->contended_ns();
  uint64_t count = facts.locks->contended_count();
  const results::Lock* top = nullptr;
  for (const results::Lock& lock : facts.locks->locks()) {
    if (!lock.contended() || !IsNoContention(facts, lock)) continue;
    waited -= lock.total_ns();
    count -= lock.count();
  }
  for (const results::Lock& lock : overview.top_locks()) {
    if (top == nullptr && !IsNoContention(facts, lock)) top = &lock;
  }
  if (Ratio(waited, run) < facts.limits("SY-005.min_share")) return std::nullopt;
  Finding finding = Make("SY-005.name", results::LEVEL_HIGH, {"SY-005.reason"});
  finding.severity = Ratio(waited, run) >= facts.limits("SY-005.medium_share")
                         ? results::SEVERITY_MEDIUM
                         : results::SEVERITY_LOW;
  finding.Evidence("SY-005.waiting_mutexes_rwlocks_summed",
                   {say::Duration(waited), say::Duration(run), say::Count(count)});
  if (top != nullptr) {
    finding.Evidence("SY-005.longest",
                     {say::Duration(top->total_ns()), say::Name(ShortFunctionName(top->name())),
                      say::Count(top->thread_count()), say::Duration(top->max_ns())});
  }
  finding.Fix("SY-005.hold_lock_shorter_time");
  finding.Caveat("SY-005.caveat");
  return finding;
}

// A circle that is older than any lock is held in passing.
std::optional<Finding> Deadlocked(const AdviceFacts& facts) {
  if (facts.locks->deadlocks().empty()) return std::nullopt;
  const results::Deadlock& deadlock = facts.locks->deadlocks(0);
  const bool surely = deadlock.length_ns() >= facts.limits("SY-006.sure_after");
  Finding finding = Make("SY-006.name", surely ? results::LEVEL_HIGH : results::LEVEL_MEDIUM,
                         surely ? "SY-006.reason_lasting" : "SY-006.reason_new");
  finding.severity = results::SEVERITY_HIGH;
  finding.Evidence("SY-006.blocked", {say::Plain(deadlock.waits_size()), say::Plain(deadlock.pid()),
                                      say::Duration(deadlock.length_ns()),
                                      say::Plain(deadlock.blocked_thread_count())});
  for (const results::DeadlockWait& wait : deadlock.waits()) {
    const std::vector<const results::Frame*> frames =
        FramesOf(facts.overview->call_stacks(), wait.call_stack());
    const std::string where = frames.empty() ? wait.caller().name() : frames.front()->name();
    std::vector<Argument> arguments = {say::Name(wait.waiter()), say::Plain(wait.waiter_tid()),
                                       say::Name(ShortFunctionName(where)),
                                       say::Name(wait.holder()), say::Plain(wait.holder_tid())};
    if (wait.kind() == "join") {
      finding.Evidence("SY-006.waits_for_end", std::move(arguments));
    } else {
      arguments.push_back(say::Name(wait.kind()));
      finding.Evidence("SY-006.waits_for_lock", std::move(arguments));
    }
  }
  finding.Fix("SY-006.take_locks_same_order");
  return finding;
}

}  // namespace gpuprof::analysis
