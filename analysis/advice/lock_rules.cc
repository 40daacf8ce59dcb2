// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about locks. See rules.h.

#include <algorithm>
#include <vector>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/render/stack_frames.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/function_name.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

constexpr int kMostWaitsNamed = 3;
// A single thread is parked if its waits are so many times as long as the shortest ones that park.
constexpr int64_t kVeryLong = 10;

// What a wait of this kind waits for.
std::string WaitedFor(const results::Lock& lock) {
  const std::string& kind = lock.kind();
  if (kind == "sleep") return "sleeps";
  if (kind == "input") return "waits for input from descriptor " + std::to_string(lock.object());
  if (kind == "events") return "waits for files or sockets (poll, select)";
  if (kind == "child") return "waits for the end of a child process";
  if (kind == "condition") return "waits for another thread (condition)";
  if (kind == "join") return "waits for the end of a thread";
  return "waits (" + kind + ")";
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

}  // namespace

std::optional<Finding> StepsBlocked(const AdviceFacts& facts) {
  const results::StepCategory* blocked = FindCategory(facts, "blocked");
  if (blocked == nullptr || blocked->share_ratio() < facts.limits("SY-007.min_share"))
    return std::nullopt;
  const int64_t gain = HostGain(facts, blocked->mean_ns());
  if (Ratio(gain, facts.overview->steps().mean_ns()) < facts.limits("SY-007.min_share"))
    return std::nullopt;
  Finding finding = Make("SY-007", "Steps wait: their thread is blocked and computes nothing",
                         results::LEVEL_HIGH, "every wait was timed");
  finding.add_evidence(PartOfStep(facts, blocked->mean_ns()) +
                       " is blocked, outside of every operation.");
  std::vector<const results::Lock*> waits;
  for (const results::Lock& lock : facts.locks->locks())
    if (!lock.contended() && lock.step_ns() > 0) waits.push_back(&lock);
  std::stable_sort(waits.begin(), waits.end(), [](const results::Lock* a, const results::Lock* b) {
    return a->step_ns() > b->step_ns();
  });
  const auto count = static_cast<int64_t>(facts.overview->steps().count());
  for (const results::Lock* lock : waits) {
    if (finding.evidence_size() > kMostWaitsNamed) break;
    finding.add_evidence(FormatDuration(lock->step_ns() / count) + " per step: " +
                         WaitedFor(*lock) + ", called by " + ShortFunctionName(lock->name()) + ".");
  }
  SetGain(facts, Bound(gain, "waits outside of operations"), &finding);
  finding.add_fix(
      "Do what is waited for in another thread or process, ahead of time: prefetch data, report "
      "results asynchronously. `gpuprof stats stacks --by wait_all` shows where it waits.");
  finding.set_caveat("The gain is reached only if the wait is hidden behind other work.");
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
  Finding finding = Make("SY-004", "Steps wait for locks that other threads hold",
                         results::LEVEL_HIGH, "every contended wait was timed");
  finding.add_evidence(PartOfStep(facts, per_step) + " is spent waiting for mutexes and rwlocks.");
  for (const results::Lock& lock : facts.overview->top_locks()) {
    if (!lock.contended() || lock.step_ns() == 0) continue;
    finding.add_evidence(FormatDuration(lock.step_ns() / count) + " per step in " + lock.name() +
                         " (" + FormatNumber(lock.count()) + " waits, longest " +
                         FormatDuration(lock.max_ns()) + ").");
    break;
  }
  SetGain(facts, Bound(gain, "waits for locks"), &finding);
  finding.add_fix(
      "Move the work of the other threads into another process, or let them hold the lock for a "
      "shorter time. `gpuprof stats locks` names the callers.");
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
    if (!lock.contended() || !IsParking(facts, lock)) continue;
    waited -= lock.total_ns();
    count -= lock.count();
  }
  for (const results::Lock& lock : overview.top_locks()) {
    if (top == nullptr && !IsParking(facts, lock)) top = &lock;
  }
  if (Ratio(waited, run) < facts.limits("SY-005.min_share")) return std::nullopt;
  Finding finding = Make("SY-005", "Threads wait for locks that other threads hold",
                         results::LEVEL_HIGH, "every contended wait was timed");
  finding.set_severity(Ratio(waited, run) >= facts.limits("SY-005.medium_share")
                           ? results::SEVERITY_MEDIUM
                           : results::SEVERITY_LOW);
  finding.add_evidence(FormatDuration(waited) +
                       " of waiting for mutexes and rwlocks, summed over all " + "threads, in " +
                       FormatDuration(run) + " of recording (" + FormatNumber(count) +
                       (count == 1 ? " wait)." : " waits)."));
  if (top != nullptr) {
    finding.add_evidence(FormatDuration(top->total_ns()) + " of this in " +
                         ShortFunctionName(top->name()) + ", by " +
                         FormatNumber(top->thread_count()) +
                         (top->thread_count() == 1 ? " thread" : " threads") + ", longest " +
                         FormatDuration(top->max_ns()) + ".");
  }
  finding.add_fix(
      "Hold the lock for a shorter time, split it, or give each thread its own data. `gpuprof "
      "stats locks` names the callers.");
  finding.set_caveat(
      "A waiting thread costs time only if it had other work: compare run times before and after.");
  return finding;
}

// A circle that is older than any lock is held in passing.
std::optional<Finding> Deadlocked(const AdviceFacts& facts) {
  if (facts.locks->deadlocks().empty()) return std::nullopt;
  const results::Deadlock& deadlock = facts.locks->deadlocks(0);
  const bool surely = deadlock.length_ns() >= facts.limits("SY-006.sure_after");
  Finding finding = Make("SY-006", "Threads wait for each other forever",
                         surely ? results::LEVEL_HIGH : results::LEVEL_MEDIUM,
                         surely ? "a cycle of waits that had lasted long when the recording ended"
                                : "a cycle of waits that had just begun when the recording ended");
  finding.set_severity(results::SEVERITY_HIGH);
  finding.add_evidence(
      std::to_string(deadlock.waits_size()) +
      (deadlock.waits_size() == 1 ? " thread of pid " : " threads of pid ") +
      std::to_string(deadlock.pid()) + ", for " + FormatDuration(deadlock.length_ns()) + "; " +
      std::to_string(deadlock.blocked_thread_count()) +
      (deadlock.blocked_thread_count() == 1 ? " thread is" : " threads are") + " blocked by it.");
  for (const results::DeadlockWait& wait : deadlock.waits()) {
    const std::vector<const results::Frame*> frames =
        FramesOf(facts.overview->call_stacks(), wait.call_stack());
    const std::string where = frames.empty() ? wait.caller().name() : frames.front()->name();
    finding.add_evidence(wait.waiter() + " (" + std::to_string(wait.waiter_tid()) + ") waits in " +
                         ShortFunctionName(where) + " for " +
                         (wait.kind() == "join" ? "the end of " : "a " + wait.kind() + " that ") +
                         wait.holder() + " (" + std::to_string(wait.holder_tid()) + ")" +
                         (wait.kind() == "join" ? "." : " holds."));
  }
  finding.add_fix(
      "Take these locks in the same order everywhere, or both at once (std::scoped_lock). Do not "
      "join a thread while holding a lock that the thread takes. `gpuprof stats locks` shows the "
      "stacks.");
  return finding;
}

}  // namespace gpuprof::analysis
