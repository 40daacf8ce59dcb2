// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See iteration_rows.h.

#include "analysis/passes/device/iteration_rows.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "analysis/steps/iterations.h"

namespace gpuprof::analysis {
namespace {

constexpr double kNanoseconds = 1e9;

// Sets the part of the periods of these steps in which the busiest device had work.
void FillBusy(const StepAnalysis& steps, const PhaseIterations& phase,
              const results::Steps& devices, results::IterationSeries* row) {
  std::unordered_set<uint64_t> numbers;
  for (const size_t i : phase.steps) numbers.insert(steps.steps[i].number);
  std::map<uint32_t, std::pair<int64_t, int64_t>> by_device;
  for (const results::DeviceStep& step : devices.device_steps()) {
    if (step.window() != results::STEP_WINDOW_PERIOD || numbers.count(step.number()) == 0) continue;
    auto& [busy, whole] = by_device[step.device()];
    busy += step.busy_ns();
    whole += step.duration_ns();
  }
  double most = 0;
  for (const auto& [device, times] : by_device)
    most = std::max(most, Ratio(times.first, times.second));
  if (!by_device.empty()) row->set_busy_ratio(most);
}

}  // namespace

results::IterationPhase PhaseOf(proto::IterationPhase phase) {
  switch (phase) {
    case proto::IterationPhase::kPrefill:
      return results::ITERATION_PHASE_PREFILL;
    case proto::IterationPhase::kDecode:
      return results::ITERATION_PHASE_DECODE;
    case proto::IterationPhase::kMixed:
      return results::ITERATION_PHASE_MIXED;
    case proto::IterationPhase::kIdle:
      return results::ITERATION_PHASE_IDLE;
    case proto::IterationPhase::kUnknown:
      break;
  }
  return results::ITERATION_PHASE_NONE;
}

void FillIteration(const proto::IterationName& name, results::Step* row) {
  if (!name.is_iteration) return;
  row->set_phase(PhaseOf(name.phase));
  if (name.requests != proto::IterationName::kUntold) row->set_request_count(name.requests);
  if (name.tokens != proto::IterationName::kUntold) row->set_token_count(name.tokens);
}

void AddIterationSeries(const Process& process, const StepAnalysis& steps,
                        const results::Steps* devices, results::Steps* out) {
  for (const auto& [kind, phase] : IterationsByPhase(process, steps)) {
    results::IterationSeries* row = out->add_iteration_series();
    row->set_pid(process.pid);
    row->set_host(process.host);
    row->set_tid(steps.summary.tid);
    row->set_phase(PhaseOf(kind));
    row->set_count(phase.steps.size());
    const Samples lengths(phase.lengths), gaps(phase.gaps);
    constexpr double kP95 = 0.95;
    row->set_total_ns(lengths.total());
    row->set_median_ns(lengths.median());
    row->set_p95_ns(lengths.Percentile(kP95));
    if (phase.tells_requests)
      row->set_mean_request_count(Ratio(phase.requests, uint64_t{phase.steps.size()}));
    if (phase.tells_tokens) {
      row->set_token_count(phase.tokens);
      row->set_tokens_per_s(kNanoseconds * Ratio(static_cast<double>(phase.tokens),
                                                 static_cast<double>(lengths.total())));
    }
    if (devices != nullptr) FillBusy(steps, phase, *devices, row);
    if (gaps.size() == 0) continue;
    row->set_gap_total_ns(gaps.total());
    row->set_gap_median_ns(gaps.median());
    row->set_gap_p95_ns(gaps.Percentile(kP95));
  }
}

}  // namespace gpuprof::analysis
