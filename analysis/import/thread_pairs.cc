// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See thread_pairs.h.

#include "analysis/import/thread_pairs.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace gpuprof::analysis::import {
namespace {

// A file of a stranger must not cost hours.
constexpr size_t kMostCalls = 512, kMostTimelines = 256, kMostCandidates = 1024;
// Fewer calls can fit by chance.
constexpr size_t kFewestCalls = 3;

using Spans = std::vector<SpanNs>;  // by start

bool HasSpanAt(const Spans& spans, int64_t time) {
  const auto behind = std::upper_bound(spans.begin(), spans.end(), time,
                                       [](int64_t at, const SpanNs& x) { return at < x.start; });
  return behind != spans.begin() && time <= std::prev(behind)->end;
}

// Returns the spans of the operations with these names on a timeline.
std::unordered_map<uint32_t, Spans> SpansOf(const std::vector<OpRow>& ops,
                                            const std::set<uint32_t>& names) {
  std::unordered_map<uint32_t, Spans> spans;
  for (const OpRow& op : ops)
    if (names.count(op.name) != 0) spans[op.name].push_back(op.span);
  for (auto& [name, each] : spans)
    std::stable_sort(each.begin(), each.end(),
                     [](const SpanNs& x, const SpanNs& y) { return x.start < y.start; });
  return spans;
}

}  // namespace

void ThreadPairs::Add(uint32_t timeline, uint32_t operation, int64_t time) {
  if (calls_.size() == kMostTimelines && calls_.count(timeline) == 0) return;
  std::vector<Call>& calls = calls_[timeline];
  if (calls.size() < kMostCalls) calls.push_back({operation, time});
}

std::vector<std::pair<uint32_t, uint32_t>> ThreadPairs::Find(const ProcessBuilder& builder) const {
  std::set<uint32_t> names;
  for (const auto& [timeline, calls] : calls_)
    for (const Call& call : calls) names.insert(call.operation);
  struct Best {
    size_t fits = 0, second = 0;
    uint32_t timeline = 0;
  };
  std::map<uint32_t, Best> best;  // by the timeline of calls
  size_t candidates = 0;
  for (uint32_t t = 0; t < builder.timelines(); ++t) {
    // A timeline with both needs no other.
    if (builder.ops(t).empty() || !builder.calls(t).empty()) continue;
    const auto spans = SpansOf(builder.ops(t), names);
    if (spans.empty() || ++candidates > kMostCandidates) continue;
    for (const auto& [timeline, calls] : calls_) {
      if (!builder.ops(timeline).empty()) continue;
      size_t fits = 0;
      for (const Call& call : calls) {
        const auto of_name = spans.find(call.operation);
        fits += of_name != spans.end() && HasSpanAt(of_name->second, call.time) ? 1 : 0;
      }
      Best& so_far = best[timeline];
      if (fits > so_far.fits) {
        so_far = {fits, so_far.fits, t};
      } else {
        so_far.second = std::max(so_far.second, fits);
      }
    }
  }
  std::map<uint32_t, uint32_t> claims;  // of timelines of operations
  for (const auto& [timeline, found] : best) ++claims[found.timeline];
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& [timeline, found] : best) {
    const size_t calls = calls_.at(timeline).size();
    const bool is_clear =
        found.fits >= kFewestCalls && found.fits * 10 >= calls * 9 && found.second * 2 < found.fits;
    if (is_clear && claims[found.timeline] == 1) pairs.emplace_back(timeline, found.timeline);
  }
  return pairs;
}

}  // namespace gpuprof::analysis::import
