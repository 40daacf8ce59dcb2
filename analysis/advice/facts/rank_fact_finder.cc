// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rank_fact_finder.h.

#include "analysis/advice/facts/rank_fact_finder.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/arrivals.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/model/process_name.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

struct Entry {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string name;
};

struct RankRows {
  RankPlace rank;
  std::string host;
  int64_t compute_ns = 0;      // a step
  std::vector<Entry> entries;  // collectives by start
};

int64_t ComputePerStep(const results::DeviceSeries& series) {
  int64_t sum = 0;
  for (const results::CategoryTime& part : series.categories()) {
    if (part.category() >= results::TIME_CATEGORY_COMPUTE_FP64 &&
        part.category() <= results::TIME_CATEGORY_GRAPH)
      sum += part.total_ns();
  }
  return sum / static_cast<int64_t>(std::max<uint64_t>(series.count(), 1));
}

std::vector<Entry> EntriesOf(const Process& process, uint32_t device, Interval window) {
  std::unordered_map<uint32_t, bool> known;  // by signature: it is a collective
  std::vector<Entry> entries;
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != device) continue;
    for (size_t i = 0; i < track.kernel.rows(); ++i) {
      const int64_t start = track.kernel.end_ns[i] - track.kernel.duration_ns[i];
      const uint32_t signature = track.kernel.signature[i];
      if (start < window.start || start >= window.end) continue;
      const auto found = process.signatures.find(signature);
      if (found == process.signatures.end()) continue;
      const auto [is_collective, is_new] = known.try_emplace(signature, false);
      if (is_new)
        is_collective->second =
            IsCollective(process, Demangle(process.String(found->second.name()).c_str()));
      if (!is_collective->second) continue;
      entries.push_back({start, track.kernel.end_ns[i], process.String(found->second.name())});
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.start_ns < b.start_ns; });
  return entries;
}

bool SameOrder(const std::vector<RankRows>& ranks) {
  const std::vector<Entry>& first = ranks.front().entries;
  return !first.empty() && std::all_of(ranks.begin(), ranks.end(), [&](const RankRows& rank) {
    return std::equal(first.begin(), first.end(), rank.entries.begin(), rank.entries.end(),
                      [](const Entry& a, const Entry& b) { return a.name == b.name; });
  });
}

// Puts the clocks of all ranks right: a collective ends at the same moment on each. The median
// distance of the ends from those of the first rank is the error of a rank's clock.
void AlignClocks(std::vector<RankRows>* ranks) {
  const std::vector<Entry>& first = ranks->front().entries;
  for (RankRows& rank : *ranks) {
    std::vector<int64_t> distances;
    for (size_t i = 0; i < first.size(); ++i)
      distances.push_back(rank.entries[i].end_ns - first[i].end_ns);
    const int64_t error = Samples(std::move(distances)).median();
    for (Entry& entry : rank.entries) {
      entry.start_ns -= error;
      entry.end_ns -= error;
    }
  }
}

void FindLate(const std::vector<RankRows>& ranks, RankFacts* facts) {
  std::vector<uint64_t> counts(ranks.size(), 0);
  std::vector<int64_t> leads(ranks.size(), 0);
  std::vector<Instance> longest(ranks.size());
  facts->matched_count = ranks.front().entries.size();
  for (size_t i = 0; i < facts->matched_count; ++i) {
    std::vector<std::pair<int64_t, size_t>> starts;
    for (size_t rank = 0; rank < ranks.size(); ++rank)
      starts.emplace_back(ranks[rank].entries[i].start_ns, rank);
    std::sort(starts.begin(), starts.end());
    const auto& [last, late] = starts.back();
    ++counts[late];
    const int64_t before = starts[starts.size() - 2].first;
    leads[late] += last - before;
    if (last - before <= longest[late].duration_ns) continue;
    longest[late].start_ns = before;
    longest[late].duration_ns = last - before;
  }
  const auto late =
      static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  facts->late = ranks[late].rank;
  facts->late_count = counts[late];
  facts->late_ns = leads[late];
  facts->longest_wait = longest[late];
  facts->longest_wait.pid = facts->late.pid;
  facts->longest_wait.host = ranks[late].host;
  facts->longest_wait.device = facts->late.device;
}

}  // namespace

void FillRankFacts(PassContext& context, const results::Overview& overview,
                   const results::DeviceSeries& series, RankFacts* facts) {
  if (series.window() == results::STEP_WINDOW_ALL) return;
  std::vector<RankRows> ranks;
  for (const results::DeviceSeries& each : overview.device_series()) {
    if (each.window() != series.window()) continue;
    for (const size_t index : context.selected()) {
      const Process& process = context.process(index);
      if (process.pid != each.pid() || process.host != each.host()) continue;
      RankRows rank{{each.pid(), each.device()}, each.host(), ComputePerStep(each), {}};
      rank.entries = EntriesOf(process, each.device(), {each.start_ns(), each.end_ns()});
      // A process that sends nothing is no rank.
      if (!rank.entries.empty()) ranks.push_back(std::move(rank));
    }
  }
  if (ranks.size() < 2) return;
  facts->rank_count = ranks.size();
  const auto by_compute = [](const RankRows& a, const RankRows& b) {
    return a.compute_ns < b.compute_ns;
  };
  const auto [fastest, slowest] = std::minmax_element(ranks.begin(), ranks.end(), by_compute);
  facts->fastest = fastest->rank;
  facts->fastest_ns = fastest->compute_ns;
  facts->slowest = slowest->rank;
  facts->slowest_ns = slowest->compute_ns;
  for (const RankRows& rank : ranks) facts->mean_ns += rank.compute_ns;
  facts->mean_ns /= static_cast<int64_t>(ranks.size());
  if (!SameOrder(ranks)) return;
  AlignClocks(&ranks);
  FindLate(ranks, facts);
}

std::optional<LateHostRank> FindLateHostRank(PassContext& context, std::optional<size_t> leading,
                                             const Thresholds& limits) {
  if (context.selected().size() < 2) return std::nullopt;
  std::vector<const Process*> processes;
  for (const size_t index : context.selected()) processes.push_back(&context.process(index));
  std::optional<Interval> window;
  if (leading) {
    const std::vector<Interval> steps = context.steps(*leading).Counted();
    if (!steps.empty()) window = {steps.front().start, steps.back().end};
  }
  const Arrivals arrivals =
      FindArrivals(processes,
                   {limits("CO-010.min_last"), limits("CO-010.min_share"),
                    static_cast<uint64_t>(limits.Whole("CO-010.min_collectives"))},
                   window);
  if (arrivals.late() == nullptr || arrivals.is_of_kernels) return std::nullopt;
  const Straggler& late = *arrivals.late();
  const Process& process = *processes[arrivals.ranks[late.rank].process];
  LateHostRank found;
  found.name = ProcessName(process);
  found.pid = process.pid;
  found.host = process.host;
  found.rank_count = arrivals.ranks.size();
  found.count = late.count;
  found.of = late.of;
  found.lead_ns = late.lead_ns;
  found.caused_ns = arrivals.ranks[late.rank].caused_ns;
  found.longest.start_ns = late.longest_start_ns;
  found.longest.duration_ns = late.longest_ns;
  found.longest.pid = process.pid;
  found.longest.host = process.host;
  return found;
}

}  // namespace gpuprof::analysis
