// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_index.h.

#include "analysis/derived/call_index.h"

#include <algorithm>
#include <cstddef>

namespace gpuprof::analysis {

CallIndex::CallIndex(const Process& process) : process_(&process) {
  size_t rows = 0;
  for (const Track& track : process.tracks) rows += track.api.rows();
  entries_.reserve(rows);
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const ApiTable& calls = process.tracks[t].api;
    for (uint32_t i = 0; i < calls.rows(); ++i)
      if (calls.correlation[i] != 0) entries_.push_back({calls.correlation[i], t, i});
  }
  // The earliest call of an id comes first: the runtime call contains its driver calls.
  const auto before = [this](const Entry& a, const Entry& b) {
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    return CallOf(a).start_ns < CallOf(b).start_ns;
  };
  if (!std::is_sorted(entries_.begin(), entries_.end(), before))
    std::stable_sort(entries_.begin(), entries_.end(), before);
  const auto same = [](const Entry& a, const Entry& b) { return a.correlation == b.correlation; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
}

Call CallIndex::CallOf(const Entry& entry) const {
  const ApiTable& calls = process_->tracks[entry.track].api;
  const int64_t end = calls.end_ns[entry.row];
  return {end - calls.duration_ns[entry.row], end, entry.track, entry.row};
}

// Ids are different numbers that rise. So the distance to the first id and to the last id limits
// the place of an id. The ids of most programs have few gaps, so few places remain.
std::optional<Call> CallIndex::Find(uint32_t correlation) const {
  if (entries_.empty()) return std::nullopt;
  const uint32_t first = entries_.front().correlation;
  const uint32_t last = entries_.back().correlation;
  if (correlation < first || correlation > last) return std::nullopt;
  const size_t most = std::min<size_t>(entries_.size() - 1, correlation - first);
  const size_t behind = last - correlation;
  const size_t least = entries_.size() - 1 > behind ? entries_.size() - 1 - behind : 0;
  const auto begin = entries_.begin() + static_cast<ptrdiff_t>(least);
  const auto end = entries_.begin() + static_cast<ptrdiff_t>(most) + 1;
  const auto at = std::lower_bound(begin, end, correlation, [](const Entry& entry, uint32_t id) {
    return entry.correlation < id;
  });
  if (at == end || at->correlation != correlation) return std::nullopt;
  return CallOf(*at);
}

}  // namespace gpuprof::analysis
