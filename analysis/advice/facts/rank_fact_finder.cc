// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_fact_finder.h.

#include "analysis/advice/facts/rank_fact_finder.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/collective_entries.h"
#include "analysis/model/process_name.h"

namespace gpuprof::analysis {
namespace {

int64_t ComputePerStep(const results::DeviceSeries& series) {
  int64_t sum = 0;
  for (const results::CategoryTime& part : series.categories()) {
    if (part.category() >= results::TIME_CATEGORY_COMPUTE_FP64 &&
        part.category() <= results::TIME_CATEGORY_GRAPH)
      sum += part.total_ns();
  }
  return sum / static_cast<int64_t>(std::max<uint64_t>(series.count(), 1));
}

// Returns whether there can be two ranks.
bool HasSeveral(const std::vector<const Process*>& processes) {
  if (processes.size() != 1) return !processes.empty();
  std::set<uint32_t> devices;
  for (const Track& track : processes.front()->tracks)
    if (track.is_stream) devices.insert(track.device);
  return devices.size() > 1;
}

LatenessLimits LimitsOf(const Thresholds& limits, bool is_of_kernels) {
  if (is_of_kernels)
    return {limits("CO-002.min_last"), limits("CO-002.min_share"),
            static_cast<uint64_t>(limits.Whole("CO-002.min_collectives"))};
  return {limits("CO-010.min_last"), limits("CO-010.min_share"),
          static_cast<uint64_t>(limits.Whole("CO-010.min_collectives"))};
}

}  // namespace

void FillRankFacts(PassContext& context, const results::Overview& overview,
                   const results::DeviceSeries& series, RankFacts* facts) {
  if (series.window() == results::STEP_WINDOW_ALL) return;
  struct Computing {
    RankPlace place;
    int64_t compute_ns;  // a step
  };
  std::vector<Computing> ranks;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    // A process that sends nothing is no rank.
    const std::vector<uint32_t> devices = CollectiveDevices(process);
    for (const results::DeviceSeries& each : overview.device_series()) {
      if (each.window() == series.window() && each.pid() == process.pid &&
          each.host() == process.host &&
          std::binary_search(devices.begin(), devices.end(), each.device()))
        ranks.push_back({{ProcessName(process), each.pid(), each.device()}, ComputePerStep(each)});
    }
  }
  if (ranks.size() < 2) return;
  facts->rank_count = ranks.size();
  const auto [fastest, slowest] = std::minmax_element(
      ranks.begin(), ranks.end(),
      [](const Computing& a, const Computing& b) { return a.compute_ns < b.compute_ns; });
  facts->fastest = fastest->place;
  facts->fastest_ns = fastest->compute_ns;
  facts->slowest = slowest->place;
  facts->slowest_ns = slowest->compute_ns;
  for (const Computing& rank : ranks) facts->mean_ns += rank.compute_ns;
  facts->mean_ns /= static_cast<int64_t>(ranks.size());
}

std::optional<LateRank> FindLateRank(PassContext& context, const ArrivalWindows& windows,
                                     const Thresholds& limits) {
  std::vector<const Process*> processes;
  for (const size_t index : context.selected()) processes.push_back(&context.process(index));
  if (!HasSeveral(processes)) return std::nullopt;
  const Arrivals arrivals = FindArrivals(processes, windows);
  const Judgement judgement = JudgeLateness(arrivals, LimitsOf(limits, arrivals.is_of_kernels));
  if (judgement.late() == nullptr) return std::nullopt;
  const Straggler& late = *judgement.late();
  const RankArrivals& rank = arrivals.ranks[late.rank];
  const Process& process = *processes[rank.process];
  LateRank found;
  found.name = ProcessName(process);
  found.pid = process.pid;
  found.host = process.host;
  found.device = rank.device;
  found.rank_count = arrivals.ranks.size();
  found.count = late.count;
  found.of = late.of;
  found.lead_ns = late.lead_ns;
  found.caused_ns = rank.caused_ns;
  found.longest.start_ns = late.longest_start_ns;
  found.longest.duration_ns = late.longest_ns;
  found.longest.pid = process.pid;
  found.longest.host = process.host;
  found.longest.device = rank.device;
  return found;
}

}  // namespace gpuprof::analysis
