// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `health`: losses, own cost and clock of each process's recording, as the recorder
// measured them in the run. See passes.h.

#include <algorithm>
#include <cmath>

#include "analysis/derived/call_index.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/budget_use.h"
#include "analysis/passes/recorder/recorder_cost.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "analysis/steps/statistics.h"
#include "analysis/steps/step_summary.h"
#include "proto/results/health.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

// Files may claim anything.
void FillLosses(const Process& process, results::HealthProcess* row) {
  row->set_lost_thread_count(LostThreads(process));
  row->set_activity_missing_ns(static_cast<int64_t>(process.health.activity_missing_ns()));
  for (const auto& [kind, count] : LossesOf(process)) {
    results::Loss* loss = row->add_losses();
    loss->set_name(std::string(LossKindName(static_cast<uint32_t>(kind))));
    loss->set_count(count);
    loss->set_fix(std::string(LossFix(kind, WaitsForRoom(process))));
    if (IsLossOfEvents(kind)) row->set_lost_count(row->lost_count() + count);
  }
  row->set_lost_ratio(Ratio(static_cast<int64_t>(row->lost_count()),
                            static_cast<int64_t>(row->lost_count() + WrittenRecords(process))));
}

void FillOwnTime(const Process& process, results::HealthProcess* row) {
  const proto::Health& health = process.health;
  // The stacks of heap events are in both.
  const int64_t estimate = std::max(row->hook_ns(), row->stack_ns()) + row->op_ns();
  const int64_t within = WithinProcessorTime(process, estimate);
  row->set_cost_limited(within < estimate);
  // A process that ended before it had a drain has no such times.
  const bool has_drain = health.drain_cpu_ns() != 0 || BeginEndOf(process) == 0;
  if (has_drain) {
    row->set_drain_cpu_ns(static_cast<int64_t>(health.drain_cpu_ns()));
    row->set_control_cpu_ns(static_cast<int64_t>(health.control_cpu_ns()));
  }
  const int64_t beside = row->drain_cpu_ns() + row->control_cpu_ns();
  if (has_drain && process.recorded_ns >= kLeastForShares)
    row->set_background_ratio(Ratio(beside, process.recorded_ns));
  if (BeginEndOf(process) != 0) row->set_begin_end_ns(BeginEndOf(process));
  row->set_slowdown_ratio(
      Ratio(within + BeginEndOf(process) + RoomWaitOfAThread(process), process.recorded_ns));
  row->set_process_cpu_ns(static_cast<int64_t>(health.process_cpu_ns()));
  if (row->process_cpu_ns() > 0) row->set_cpu_ratio(Ratio(beside + within, row->process_cpu_ns()));
}

void FillCost(const Process& process, results::HealthProcess* row) {
  const proto::Health& health = process.health;
  const HookCost hooks = HookCostOf(process);
  row->set_hook_count(hooks.count);
  row->set_hook_ns(hooks.ns);
  row->set_hook_low_ns(hooks.low_ns);
  row->set_hook_high_ns(hooks.high_ns);
  row->set_stack_count(health.stack_samples());
  row->set_stack_ns(static_cast<int64_t>(health.stack_ns()));
  row->set_op_event_count(OpEventsOf(process));
  row->set_op_ns(static_cast<int64_t>(row->op_event_count() * health.op_callback_ns()));
  row->set_room_wait_count(health.room_waits());
  row->set_room_wait_ns(RoomWaitOf(process));
  if (IsCostKnown(process)) FillOwnTime(process, row);
  row->set_memory_bytes(health.memory_bytes());
  row->set_file_bytes(process.file_bytes);
  if (process.rows > 0) {
    row->set_bytes_per_event(static_cast<double>(process.file_bytes) /
                             static_cast<double>(process.rows));
  }
}

template <typename Table>
uint64_t CountFlagged(const Table& table, uint8_t flag) {
  return static_cast<uint64_t>(std::count_if(
      table.operation.begin(), table.operation.end(),
      [flag](uint32_t operation) { return (proto::FlagsOf(operation) & flag) != 0; }));
}

uint64_t StacksMissing(const Process& process) {
  uint64_t missing = 0;
  for (const Track& track : process.tracks) {
    missing += CountFlagged(track.heap, proto::kFlagNoUnwinder) +
               CountFlagged(track.wait, proto::kFlagNoUnwinder) +
               CountFlagged(track.mapping, proto::kFlagNoUnwinder);
  }
  return missing;
}

void FillStacksAndClock(const Process& process, results::HealthProcess* row) {
  const proto::StackWalks& walks = process.health.stack_walks();
  row->set_stack_no_rule_count(walks.no_rule());
  row->set_stack_out_of_bounds_count(walks.out_of_bounds());
  row->set_stack_no_resolver_count(walks.no_resolver());
  row->set_stack_missing_count(StacksMissing(process));
  row->set_clock(std::string(ClockKindName(process.clock_kind)));
  row->set_clock_hz(process.ticks_per_second);
  row->set_clock_residual_ns(process.clock_residual_ns);
  row->set_realtime_step_ns(process.realtime_step_ns);
}

// No kernel begins before its launch: one that seems to shows how far the clocks are apart.
void FillEarlyKernels(PassContext& context, size_t index, results::HealthProcess* row) {
  const Process& process = context.process(index);
  const CallIndex& calls = context.calls(index);
  for (const Track& track : process.tracks) {
    const KernelTable& kernels = track.kernel;
    const Column<int64_t>::Reader ends(kernels.end_ns), durations(kernels.duration_ns);
    const Column<uint32_t>::Reader correlations(kernels.correlation);
    for (size_t i = 0; i < kernels.rows(); ++i) {
      const std::optional<Call> launch = calls.Find(correlations[i]);
      if (!launch) continue;
      const int64_t early = launch->start_ns - (ends[i] - durations[i]);
      if (early <= 0) continue;
      row->set_kernel_before_launch_count(row->kernel_before_launch_count() + 1);
      row->set_kernel_before_launch_ns(std::max(row->kernel_before_launch_ns(), early));
    }
  }
}

void FillGpuClock(PassContext& context, size_t index, results::HealthProcess* row) {
  const Process& process = context.process(index);
  if (!process.has_cupti_clock) return;
  row->set_cupti_clock_reading_count(process.cupti_clock.readings);
  row->set_cupti_clock_residual_ns(process.cupti_clock.residual_ns);
  row->set_cupti_clock_step_ns(process.cupti_clock.step_ns);
  row->set_gpu_tick_ns(process.gpu_tick_ns);
  row->MergeFrom(KeptRows<results::HealthProcess>(
      context.kept(index), "early kernels",
      [&](results::HealthProcess* early) { FillEarlyKernels(context, index, early); }));
}

void FillGpuRates(const Process& process, results::HealthProcess* row) {
  for (const proto::GpuRate& rate : process.health.gpu_rate()) {
    results::GpuRateUse* use = row->add_gpu_rates();
    use->set_name(rate.of() == proto::GPU_RATE_NODES ? "nodes" : "calls");
    use->set_limit_per_s(rate.limit());
    use->set_count(rate.records());
    use->set_left_out_count(rate.left_out());
    use->set_most_one_in_count(rate.most_one_in());
  }
}

}  // namespace

Error RunHealth(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Health>();
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    results::HealthProcess* row = out->add_processes();
    SetProcess(process, row);
    row->set_ppid(process.ppid);
    row->set_name(ProcessName(process));
    row->set_ended(EndOf(process));
    row->set_recovered(process.recovered);
    row->set_capture_count(static_cast<uint32_t>(process.captures.size()));
    row->set_captured_ns(CapturedTime(process));
    row->set_count(process.rows);
    FillLosses(process, row);
    FillCost(process, row);
    FillStacksAndClock(process, row);
    FillGpuClock(context, index, row);
    FillGpuRates(process, row);
    if (HasBudget(process)) FillBudgetUse(process, row->mutable_budget());
    if (process.kept_from_ns != INT64_MIN) {
      row->add_notes("ring: a flight recorder kept only the newest part; " + WhatWasLetGo(process) +
                     "; losses are of all");
    }
    if (const std::string text = UnpairedText(process); !text.empty()) row->add_notes(text);
    for (const proto::Note& note : process.health.note()) {
      row->add_notes(note.source() + ": " + note.text());
    }
  }
  context.FillMeta("health", out->mutable_meta());
  AddSamplers(context.trace(), /*with_notes=*/true, out->mutable_meta());
  context.FillCountConfidence(out->meta(), out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
