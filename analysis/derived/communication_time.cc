// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/communication_time.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "analysis/base/parallel.h"

namespace gpuprof::analysis {
namespace {

struct OfRank {
  std::vector<CommunicationTime> groups;  // by RankEntries::groups, then those without a group
  CommunicationTime all;
  StageTime stage;
};

class RankTimer {
 public:
  RankTimer(const JobRank& rank, const std::vector<Interval>& steps) : rank_(rank), steps_(steps) {}

  OfRank Find() {
    FindComputing();
    OfRank out;
    std::vector<std::vector<Interval>> groups(rank_.found.groups.size() + 1);
    std::vector<Interval> all, collectives;
    for (const CollectiveEntry& entry : rank_.found.entries) {
      if (!entry.done_ns) continue;
      const Interval span = {entry.start_ns, *entry.done_ns};
      groups[entry.group == kNoGroup ? groups.size() - 1 : entry.group].push_back(span);
      all.push_back(span);
      (IsMessage(entry.kind) ? messages_ : collectives).push_back(span);
    }
    for (std::vector<Interval>& spans : groups)
      out.groups.push_back(TimeOf(UnionOf(std::move(spans))));
    out.all = TimeOf(UnionOf(std::move(all)));
    if (!messages_.empty()) FindBubbles(UnionOf(std::move(collectives)), &out.stage);
    return out;
  }

 private:
  void FindComputing() {
    std::unordered_set<uint32_t> names;  // of collectives
    for (const CollectiveEntry& entry : rank_.found.entries) names.insert(entry.name);
    std::unordered_set<uint32_t> collectives;  // signatures
    for (const auto& [id, signature] : rank_.process->signatures)
      if (names.contains(signature.name())) collectives.insert(id);
    std::vector<Interval> spans;
    for (const Track& track : rank_.process->tracks) {
      if (!track.is_stream || track.device != rank_.found.device) continue;
      const Column<uint32_t>::Reader signatures(track.kernel.signature);
      const Column<int64_t>::Reader ends(track.kernel.end_ns);
      const Column<int64_t>::Reader durations(track.kernel.duration_ns);
      for (size_t i = 0; i < track.kernel.rows(); ++i)
        if (!collectives.contains(signatures[i]))
          spans.push_back({ends[i] - durations[i], ends[i]});
      for (size_t i = 0; i < track.graph_launch.rows(); ++i) {
        const int64_t end = track.graph_launch.end_ns[i];
        spans.push_back({end - track.graph_launch.duration_ns[i], end});
      }
    }
    computing_ = UnionOf(std::move(spans));
  }

  CommunicationTime TimeOf(const std::vector<Interval>& spans) const {
    return {TotalLength(spans), TotalLength(Intersection(spans, computing_))};
  }

  // Finds the time in which the stage had nothing to do, step by step.
  void FindBubbles(const std::vector<Interval>& collectives, StageTime* stage) const {
    stage->message_count = messages_.size();
    const std::vector<Interval> busy = UnionOfAll({computing_, collectives});
    const std::vector<Interval> whole = {{INT64_MIN, INT64_MAX}};
    for (const Interval& step : steps_.empty() ? whole : steps_) {
      Interval window = {INT64_MAX, INT64_MIN};
      const auto extend = [&](const Interval& span) {
        window = {std::min(window.start, span.start), std::max(window.end, span.end)};
      };
      auto at = std::partition_point(messages_.begin(), messages_.end(),
                                     [&](const Interval& span) { return span.start < step.start; });
      for (; at != messages_.end() && at->start < step.end; ++at) extend(*at);
      if (window.end <= window.start) continue;
      ++stage->window_count;
      stage->window_ns += window.length();
      stage->bubble_ns += window.length() - CoveredLength(busy, window);
    }
  }

  const JobRank& rank_;
  const std::vector<Interval>& steps_;
  std::vector<Interval> computing_;
  std::vector<Interval> messages_;  // by start
};

void AddTime(const CommunicationTime& time, CommunicationTime* sum) {
  sum->total_ns += time.total_ns;
  sum->hidden_ns += time.hidden_ns;
}

}  // namespace

CommunicationTimes FindCommunicationTimes(const std::vector<JobRank>& ranks,
                                          const Arrivals& arrivals,
                                          const std::vector<std::vector<Interval>>& steps) {
  CommunicationTimes out;
  if (!arrivals.is_of_kernels) return out;
  std::vector<OfRank> found(ranks.size());
  ParallelFor(ranks.size(), ThreadCount(0), [&](size_t i, int) {
    found[i] = RankTimer(ranks[i], steps[i]).Find();
    found[i].stage.rank = i;
  });
  out.groups.resize(arrivals.groups.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    out.ranks.push_back(found[i].all);
    if (found[i].stage.message_count != 0) out.stages.push_back(found[i].stage);
    const std::vector<uint32_t>& numbers = arrivals.groups_of_ranks[i];
    for (size_t g = 0; g < found[i].groups.size(); ++g)
      if (numbers[g] != kNoGroup) AddTime(found[i].groups[g], &out.groups[numbers[g]]);
  }
  return out;
}

}  // namespace gpuprof::analysis
