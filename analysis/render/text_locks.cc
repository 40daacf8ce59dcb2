// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of locks. See text.h.

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/locks.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kWorstIntervals = 5;

std::string Address(uint64_t object) {
  char text[24];
  std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(object));
  return text;
}

std::string ThreadCell(const std::string& name, int32_t tid) {
  return OneLine(name) + " (" + std::to_string(tid) + ")";
}

std::string Deadlocks(const results::Locks& result, const TextOptions& options) {
  std::string out;
  const Pids pid(result.deadlocks());
  for (const results::Deadlock& deadlock : result.deadlocks()) {
    out +=
        "Deadlock in pid " + pid(deadlock) + ": " + std::to_string(deadlock.waits_size()) +
        (deadlock.waits_size() == 1 ? " thread waits for itself" : " threads wait for each other") +
        ", for " + FormatDuration(deadlock.length_ns()) + " when the recording ended; " +
        std::to_string(deadlock.blocked_thread_count()) +
        (deadlock.blocked_thread_count() == 1 ? " thread is" : " threads are") + " blocked by it\n";
    for (const results::DeadlockWait& wait : deadlock.waits()) {
      const std::string holder = ThreadCell(wait.holder(), wait.holder_tid());
      out += "  " + ThreadCell(wait.waiter(), wait.waiter_tid()) + " waits for " +
             (wait.kind() == "join"
                  ? "the end of " + holder + ", which it joins\n"
                  : wait.kind() + " " + Address(wait.object()) + ", which " + holder + " holds\n");
      const std::vector<const results::Frame*> frames =
          FramesOf(result.call_stacks(), wait.call_stack());
      if (frames.empty()) out += "    in " + OneLine(ShownName(wait.caller(), options)) + "\n";
      for (const results::Frame* frame : frames)
        out += "    in " + OneLine(ShownName(*frame, options)) + "\n";
    }
    out += "\n";
  }
  return out;
}

std::string LockWords(const results::Lock& lock, const CellContext& context) {
  return ShownName(lock, context.options) + Unfinished(lock.incomplete_count());
}
std::string WaiterWords(const results::LockEdge& edge) {
  return ThreadCell(edge.waiter(), edge.waiter_tid());
}
std::string HolderWords(const results::LockEdge& edge) {
  return ThreadCell(edge.holder(), edge.holder_tid());
}
std::string HolderName(const results::LockHolder& holder) {
  return ThreadCell(holder.name(), holder.tid());
}
std::string SinceBegin(const results::LockInterval& interval, const CellContext& context) {
  const auto& result = static_cast<const results::Locks&>(context.result);
  return FormatDuration(interval.start_ns() - result.intervals(0).start_ns());
}

constexpr TableColumn kLockColumns[] = {
    {.field = "name",
     .title = "waited for in",
     .cell = CellOf<results::Lock, LockWords>,
     .flexible = true},
    {.field = "kind", .title = "kind"},
    {.field = "contended",
     .title = "contended",
     .tip = "Another thread held the lock; other waits are for events",
     .in_text = false},
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "max", .scale = kMilliseconds},
    {.field = "step_ns", .title = "in steps"},
    {.field = "step_blocked_ns", .title = "blocked in steps", .in_text = false},
    {.field = "object", .title = "object", .unit = Unit::kAddress, .on_page = OnPage::kOffered},
    kPidColumn,
    {.field = "threads", .title = "threads", .flexible = true},
    {.field = "holders", .title = "held by", .in_text = false},
};
// The waiting graph: whose hands others waited for.
constexpr TableColumn kEdgeColumns[] = {
    {.field = "waiter",
     .title = "thread",
     .cell = CellOf<results::LockEdge, WaiterWords>,
     .flexible = true},
    {.field = "holder",
     .title = "waited for",
     .cell = CellOf<results::LockEdge, HolderWords>,
     .flexible = true},
    {.field = "kind", .title = "kind"},
    {.field = "object",
     .title = "lock",
     .unit = Unit::kAddress,
     .needs = "object",
     .blank = "0",
     .on_page = OnPage::kOffered},
    kPidColumn,
    {.field = "count", .title = "waits"},
    {.field = "total_ns", .title = "total"},
    {.field = "max_ns", .title = "longest", .scale = kMilliseconds},
};
constexpr TableColumn kHolderColumns[] = {
    {.field = "name",
     .title = "thread",
     .cell = CellOf<results::LockHolder, HolderName>,
     .flexible = true},
    kPidColumn,
    {.field = "direct_ns", .title = "waited for it"},
    {.field = "root_ns", .title = "with those behind"},
    {.field = "waiter_count", .title = "threads"},
};
constexpr TableColumn kIntervalColumns[] = {
    {.field = "start_ns", .title = "from", .cell = CellOf<results::LockInterval, SinceBegin>},
    {.field = "waiting_ratio", .title = "threads waiting", .unit = Unit::kReal},
    {.field = "max_waiters", .title = "at most", .unit = Unit::kNumber},
    {.field = "name", .title = "mostly in", .flexible = true},
    {.field = "object", .title = "lock", .unit = Unit::kAddress, .blank = "0"},
    {.field = "holder", .title = "held by", .flexible = true},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "locks",
     .row = results::Lock::descriptor,
     .columns = kLockColumns,
     .sorted_by = "total_ns",
     .noun = "wait",
     .title = "Locks that other threads held"},
    {.rows = "edges",
     .row = results::LockEdge::descriptor,
     .columns = kEdgeColumns,
     .sorted_by = "total_ns",
     .noun = "pair",
     .title = "Who waited for whom"},
    {.rows = "holders",
     .row = results::LockHolder::descriptor,
     .columns = kHolderColumns,
     .title =
         "Who made others wait (with those behind: also threads that waited for the waiters, while "
         "the holder itself did not wait)"},
    {.rows = "intervals",
     .row = results::LockInterval::descriptor,
     .columns = kIntervalColumns,
     .title = "When most waited"},
};

// One sign an interval, from nobody to the most.
std::string Curve(const results::Locks& result) {
  constexpr const char* kSigns[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                    "\u2585", "\u2586", "\u2587", "\u2588"};
  double most = 0;
  for (const auto& interval : result.intervals()) most = std::max(most, interval.waiting_ratio());
  std::string out;
  for (const auto& interval : result.intervals()) {
    const double part = most > 0 ? interval.waiting_ratio() / most : 0;
    out += interval.waiting_ns() == 0 ? "." : kSigns[std::min(7, static_cast<int>(part * 8))];
  }
  return out;
}

std::string OverTime(const results::Locks& result, const TextOptions& options) {
  if (result.intervals().empty()) return "";
  std::vector<const results::LockInterval*> worst;
  for (const auto& interval : result.intervals()) {
    if (interval.waiting_ns() > 0) worst.push_back(&interval);
  }
  if (worst.empty()) return "";
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto* a, const auto* b) { return a->waiting_ns() > b->waiting_ns(); });
  if (worst.size() > kWorstIntervals) worst.resize(kWorstIntervals);
  return "Threads waiting for locks over time, one character per " +
         FormatDuration(result.intervals(0).length_ns()) + "\n  " + Curve(result) + "\n\n" +
         TableText(std::string(kLayouts[3].title), kLayouts[3],
                   std::vector<const ResultMessage*>(worst.begin(), worst.end()), result, options);
}

}  // namespace

std::span<const TableLayout> LocksLayouts() { return kLayouts; }

TextTable LockRows(const google::protobuf::RepeatedPtrField<results::Lock>& locks, int most,
                   const TextOptions& options) {
  TableRows rows;
  rows.all = rows.shown = PointersTo(locks);
  rows.shown.resize(std::min(rows.all.size(), static_cast<size_t>(most)));
  return MakeTable(kLayouts[0], rows, results::Locks::default_instance(), options);
}

std::string LocksText(const results::Locks& result, const TextOptions& options) {
  if (result.locks().empty()) {
    return "No wait for a lock or a condition was recorded.\n" + MetaText(result.meta(), options);
  }
  std::string out = Deadlocks(result, options);
  out += "Contended: " + FormatNumber(result.contended_count()) + " waits, " +
         FormatDuration(result.contended_ns());
  if (result.has_step_contended_ns()) {
    out += "; in steps, on the step's thread: " + FormatDuration(result.step_contended_ns());
  }
  out += "\n\n";
  std::vector<const ResultMessage*> contended, others;
  for (const results::Lock& lock : result.locks())
    (lock.contended() ? contended : others).push_back(&lock);
  out +=
      TableText(std::string(kLayouts[0].title), kLayouts[0], std::move(contended), result, options);
  out += TableText(kLayouts[1], result, options);
  out += TableText(kLayouts[2], result, options);
  out += OverTime(result, options);
  out += TableText("Intended waits (conditions, semaphores, barriers, joins)", kLayouts[0],
                   std::move(others), result, options);
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
