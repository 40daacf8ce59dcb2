// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of locks. See text.h.

#include <algorithm>
#include <cstdio>

#include "analysis/render/figures.h"
#include "analysis/render/stack_frames.h"
#include "analysis/render/text.h"
#include "proto/results/locks.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

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

// The waiting graph: whose hands others waited for.
std::string Edges(const results::Locks& result, const TextOptions& options) {
  TextTable table;
  for (const char* header : {"thread", "waited for"}) table.AddColumn(header, Align::kLeft, true);
  table.AddColumn("kind", Align::kLeft);
  table.AddColumn("lock", Align::kRight);
  table.AddColumn("pid", Align::kRight);
  for (const char* header : {"waits", "total", "longest"}) table.AddColumn(header, Align::kRight);
  const Pids pid(result.edges());
  for (int i = 0; i < Shown(result.edges_size(), options); ++i) {
    const results::LockEdge& edge = result.edges(i);
    table.AddRow({ThreadCell(edge.waiter(), edge.waiter_tid()),
                  ThreadCell(edge.holder(), edge.holder_tid()), edge.kind(), Address(edge.object()),
                  pid(edge), FormatNumber(edge.count()), FormatDuration(edge.total_ns()),
                  FormatDuration(edge.max_ns())});
  }
  return Section("Who waited for whom", table, options, result.edges_size());
}

std::string Holders(const results::Locks& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("thread", Align::kLeft, true);
  table.AddColumn("pid", Align::kRight);
  for (const char* header : {"waited for it", "with those behind", "threads"}) {
    table.AddColumn(header, Align::kRight);
  }
  const Pids pid(result.holders());
  for (int i = 0; i < Shown(result.holders_size(), options); ++i) {
    const results::LockHolder& holder = result.holders(i);
    table.AddRow({ThreadCell(holder.name(), holder.tid()), pid(holder),
                  FormatDuration(holder.direct_ns()), FormatDuration(holder.root_ns()),
                  FormatNumber(holder.waiter_count())});
  }
  return Section(
      "Who made others wait (with those behind: also threads that waited for the waiters, while "
      "the holder itself did not wait)",
      table, options, result.holders_size());
}

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
  TextTable table;
  for (const char* header : {"from", "threads waiting", "at most"}) {
    table.AddColumn(header, Align::kRight);
  }
  table.AddColumn("mostly in", Align::kLeft, true);
  table.AddColumn("lock", Align::kRight);
  table.AddColumn("held by", Align::kLeft, true);
  const int64_t start = result.intervals(0).start_ns();
  for (const results::LockInterval* interval : worst) {
    table.AddRow({FormatDuration(interval->start_ns() - start),
                  FormatReal(interval->waiting_ratio()), FormatNumber(interval->max_waiters()),
                  ShownName(*interval, options), Address(interval->object()), interval->holder()});
  }
  return "Threads waiting for locks over time, one character per " +
         FormatDuration(result.intervals(0).length_ns()) + "\n  " + Curve(result) + "\n\n" +
         Section("When most waited", table, options, table.rows());
}

}  // namespace

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
  google::protobuf::RepeatedPtrField<results::Lock> contended, others;
  for (const results::Lock& lock : result.locks())
    *(lock.contended() ? contended : others).Add() = lock;
  out += Section("Locks that other threads held",
                 LockRows(contended, Shown(contended.size(), options), options), options,
                 contended.size());
  out += Edges(result, options);
  out += Holders(result, options);
  out += OverTime(result, options);
  out += Section("Intended waits (conditions, semaphores, barriers, joins)",
                 LockRows(others, Shown(others.size(), options), options), options, others.size());
  return out + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
