// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pm_config.h.

#include "launcher/gpu/pm_config.h"

#include "launcher/gpu/cupti_library.h"

namespace gpuprof::launcher {
namespace {

// Of one counter, the names to be tried: chips differ in them.
struct Wanted {
  CounterId counter;
  const char* names[2];
};

// In the order in which they go first where not all fit into one pass.
constexpr Wanted kWanted[] = {
    {CounterId::kPmSmActive, {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", nullptr}},
    {CounterId::kPmTensorActive,
     {"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"}},
    {CounterId::kPmDramRead,
     {"dramc__read_throughput.avg.pct_of_peak_sustained_elapsed",
      "dram__read_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {CounterId::kPmDramWrite,
     {"dramc__write_throughput.avg.pct_of_peak_sustained_elapsed",
      "dram__write_throughput.avg.pct_of_peak_sustained_elapsed"}},
    {CounterId::kPmInstructionsIssued,
     {"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__inst_executed.avg.pct_of_peak_sustained_elapsed"}},
};

// In place of a result: all is well, but for a second pass, which PM sampling has not.
constexpr int kNeedsPasses = -1;

const char* NameOf(CounterId id) {
  for (const CounterInfo& info : CounterTable()) {
    if (info.id == static_cast<uint32_t>(id)) return info.name;
  }
  return "";
}

}  // namespace

PmConfig::~PmConfig() { Forget(); }

void PmConfig::Forget() {
  if (host_ == nullptr) return;
  auto end = cupti::Make<cupti::HostDeinitializeParams>();
  end.object = host_;
  functions_.host_deinitialize(&end);
  host_ = nullptr;
}

int PmConfig::Try(const std::vector<PmMetric>& metrics) {
  Forget();
  const auto check = [this](const char* function, int result) {
    if (result != cupti::kSuccess) failed_ = function;
    return result;
  };
  auto begin = cupti::Make<cupti::HostInitializeParams>();
  begin.profiler_type = cupti::kProfilerTypePmSampling;
  begin.chip_name = chip_.c_str();
  begin.counter_availability = availability_.empty() ? nullptr : availability_.data();
  int result = check("cuptiProfilerHostInitialize", functions_.host_initialize(&begin));
  if (result != cupti::kSuccess) return result;
  host_ = begin.object;
  names_.clear();
  for (const PmMetric& metric : metrics) names_.push_back(metric.name);
  auto add = cupti::Make<cupti::HostConfigAddMetricsParams>();
  add.object = host_;
  add.metric_names = names_.data();
  add.metric_count = names_.size();
  result = check("cuptiProfilerHostConfigAddMetrics", functions_.host_add_metrics(&add));
  if (result != cupti::kSuccess) return result;
  auto size = cupti::Make<cupti::HostGetConfigImageSizeParams>();
  size.object = host_;
  result = check("cuptiProfilerHostGetConfigImageSize", functions_.host_config_size(&size));
  if (result != cupti::kSuccess) return result;
  image_.assign(size.config_size, 0);
  auto image = cupti::Make<cupti::HostGetConfigImageParams>();
  image.object = host_;
  image.config_size = image_.size();
  image.config = image_.data();
  result = check("cuptiProfilerHostGetConfigImage", functions_.host_config(&image));
  if (result != cupti::kSuccess) return result;
  auto passes = cupti::Make<cupti::HostGetNumOfPassesParams>();
  passes.config_size = image_.size();
  passes.config = image_.data();
  result = check("cuptiProfilerHostGetNumOfPasses", functions_.host_passes(&passes));
  if (result != cupti::kSuccess) return result;
  return passes.passes == 1 ? cupti::kSuccess : kNeedsPasses;
}

std::string PmConfig::Make(const std::string& chip, const std::vector<uint8_t>& availability) {
  chip_ = chip;
  availability_ = availability;
  metrics_.clear();
  left_out_.clear();
  std::vector<PmMetric> all;
  for (const Wanted& wanted : kWanted) all.push_back({wanted.counter, wanted.names[0]});
  // Mostly so; else one after the other, as far as one pass goes.
  if (Try(all) == cupti::kSuccess) {
    metrics_ = all;
    return "";
  }
  int last = cupti::kSuccess;
  for (const Wanted& wanted : kWanted) {
    bool is_taken = false, needs_passes = false;
    for (const char* name : wanted.names) {
      if (name == nullptr || is_taken) continue;
      metrics_.push_back({wanted.counter, name});
      const int result = Try(metrics_);
      is_taken = result == cupti::kSuccess;
      if (is_taken) continue;
      metrics_.pop_back();
      needs_passes = needs_passes || result == kNeedsPasses;
      if (result != kNeedsPasses) last = result;
    }
    if (is_taken) continue;
    left_out_.push_back(
        std::string(NameOf(wanted.counter)) +
        (needs_passes ? " (it would need a second pass)" : " (this chip does not have it)"));
  }
  if (metrics_.empty())
    return last == cupti::kSuccess
               ? "no metric fits into one pass on " + chip_ + "; no action is possible"
               : ExplainCupti(failed_, last);
  if (const int result = Try(metrics_); result != cupti::kSuccess)
    return ExplainCupti(failed_, result);
  return "";
}

}  // namespace gpuprof::launcher
