// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/recorder/recorder_cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {
namespace {

int64_t Clamped(double value) { return static_cast<int64_t>(std::clamp(value, 0.0, 9e18)); }

// Returns the time in which any of the processes was captured. A flight recorder discards windows,
// not the time of the stepping or first process (`main`).
int64_t TimeUnderCapture(PassContext& context, size_t main) {
  std::vector<Interval> windows;
  for (const size_t index : context.selected()) {
    for (const CaptureWindow& window : context.process(index).captures)
      windows.push_back({window.start_ns, window.end_ns});
  }
  return std::max(TotalLength(UnionOf(std::move(windows))), context.process(main).recorded_ns);
}

// What recording took from the process's own threads, waits for room apart.
int64_t TakenFromThreads(const Process& process) {
  const proto::Health& health = process.health;
  const int64_t hook_ns = std::max(HookCostOf(process).ns, static_cast<int64_t>(health.stack_ns()));
  const auto op_ns = static_cast<int64_t>(OpEventsOf(process) * health.op_callback_ns());
  return WithinProcessorTime(process, hook_ns + op_ns) + BeginEndOf(process);
}

}  // namespace

// The first health is written as the capture begins, before anything was spent; the drain's time is
// in every later one. A process that ended before it had a drain tells what its begin and end took.
bool IsCostKnown(const Process& process) {
  return process.health.drain_cpu_ns() != 0 || process.health.begin_end_cpu_ns() != 0 ||
         (process.has_end && !process.recovered && !process.alive);
}

int64_t WithinProcessorTime(const Process& process, int64_t estimate_ns) {
  const proto::Health& health = process.health;
  if (health.process_cpu_ns() == 0) return estimate_ns;
  const auto all = static_cast<int64_t>(health.process_cpu_ns());
  const auto beside = static_cast<int64_t>(health.drain_cpu_ns() + health.control_cpu_ns());
  return std::min(estimate_ns, std::max<int64_t>(all - beside, 0));
}

int64_t BeginEndOf(const Process& process) {
  return Clamped(static_cast<double>(process.health.begin_end_cpu_ns()));
}

int64_t RoomWaitOf(const Process& process) {
  if (process.ticks_per_second == 0) return 0;
  return Clamped(static_cast<double>(process.health.room_wait_ticks()) * 1e9 /
                 static_cast<double>(process.ticks_per_second));
}

int64_t RoomWaitOfAThread(const Process& process) {
  const auto threads = static_cast<int64_t>(process.ProgramThreads());
  return RoomWaitOf(process) / std::max<int64_t>(threads, 1);
}

HookCost HookCostOf(const Process& process) {
  const proto::Health& health = process.health;
  HookCost cost;
  if (health.hooks_timed() == 0 || process.ticks_per_second == 0) return cost;
  const auto timed = static_cast<double>(health.hooks_timed());
  const double mean = static_cast<double>(health.hook_ticks()) / timed;
  const double variance =
      std::max(static_cast<double>(health.hook_ticks_squared()) / timed - mean * mean, 0.0);
  const double count = timed * std::max(health.hook_timed_one_in(), 1u);
  const double to_ns = 1e9 / static_cast<double>(process.ticks_per_second);
  // Normal approximation of the mean of the timed ones.
  const double error = timed > 1 ? 1.96 * std::sqrt(variance / timed) : mean;
  cost.count = static_cast<uint64_t>(Clamped(count));
  cost.ns = Clamped(count * mean * to_ns);
  // What was timed was spent, whatever the interval says: one hook that was preempted for long
  // makes it reach below zero.
  const double spent = static_cast<double>(health.hook_ticks()) * to_ns;
  cost.low_ns = Clamped(std::max(count * (mean - error) * to_ns, spent));
  cost.high_ns = Clamped(count * (mean + error) * to_ns);
  return cost;
}

void FillCaptured(PassContext& context, results::OverviewCost* cost) {
  std::map<std::string, uint32_t> begun, ended;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    cost->set_life_ns(cost->life_ns() + process.LifeEnd() - process.LifeStart());
    cost->set_captured_ns(cost->captured_ns() + process.recorded_ns);
    for (const CaptureWindow& window : process.captures) {
      cost->set_capture_count(cost->capture_count() + 1);
      if (!window.start_trigger.empty()) ++begun[window.start_trigger];
      if (window.has_stop) {
        if (!window.stop_trigger.empty()) ++ended[window.stop_trigger];
      } else {
        ++ended[process.alive ? "nothing yet" : "a sudden end of the process"];
      }
    }
  }
  const auto add = [](const auto& counts, auto* triggers) {
    for (const auto& [name, count] : counts) {
      results::OverviewTrigger* trigger = triggers->Add();
      trigger->set_name(name);
      trigger->set_count(count);
    }
  };
  add(begun, cost->mutable_begun_by());
  add(ended, cost->mutable_ended_by());
}

void FillRecorderCost(PassContext& context, size_t main, results::OverviewCost* cost) {
  int64_t captured = 0;
  int64_t within = 0;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const proto::Health& health = process.health;
    cost->set_file_bytes(cost->file_bytes() + process.file_bytes);
    cost->set_count(cost->count() + process.rows);
    cost->set_let_go_count(cost->let_go_count() + WrittenRecords(process) - process.rows);
    cost->set_memory_bytes(cost->memory_bytes() + health.memory_bytes());
    cost->set_lost_thread_count(cost->lost_thread_count() + LostThreads(process));
    cost->set_activity_missing_ns(
        std::max(cost->activity_missing_ns(), static_cast<int64_t>(health.activity_missing_ns())));
    if (!IsCostKnown(process)) {
      cost->set_unmeasured_process_count(cost->unmeasured_process_count() + 1);
      continue;
    }
    const auto own = static_cast<int64_t>(health.drain_cpu_ns() + health.control_cpu_ns());
    const auto op_ns = static_cast<int64_t>(OpEventsOf(process) * health.op_callback_ns());
    cost->set_drain_cpu_ns(cost->drain_cpu_ns() + own);
    if (BeginEndOf(process) != 0) {
      cost->set_begin_end_ns(cost->begin_end_ns() + BeginEndOf(process));
      cost->set_begin_end_count(cost->begin_end_count() + 1);
    }
    cost->set_stack_ns(cost->stack_ns() + static_cast<int64_t>(health.stack_ns()));
    cost->set_stack_count(cost->stack_count() + health.stack_samples());
    cost->set_op_event_count(cost->op_event_count() + OpEventsOf(process));
    cost->set_op_ns(cost->op_ns() + op_ns);
    cost->set_room_wait_count(cost->room_wait_count() + health.room_waits());
    cost->set_room_wait_ns(cost->room_wait_ns() + RoomWaitOf(process));
    const int64_t taken = TakenFromThreads(process) + RoomWaitOfAThread(process);
    within += taken;
    captured += process.recorded_ns;
    if (index != main) continue;
    if (health.op_callback_ns() > 0) cost->set_op_callback_ns(health.op_callback_ns());
    cost->set_slowdown_ratio(Ratio(taken, process.recorded_ns));
  }
  if (!cost->has_drain_cpu_ns()) return;
  // A shell that only waits for its compilers pays nothing; they do.
  cost->set_slowdown_ratio(std::max(cost->slowdown_ratio(), Ratio(within, captured)));
  if (const int64_t captured_ns = TimeUnderCapture(context, main); captured_ns >= kLeastForShares)
    cost->set_background_ratio(Ratio(cost->drain_cpu_ns(), captured_ns));
}

}  // namespace gpuprof::analysis
