// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The work of all devices by its launch and by its end. For the dependency graph: how much work was
// waiting, and which work ended before other work began. One thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/base/sort_lists.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

class QueuedWork {
 public:
  void Reserve(size_t rows) {
    launches_.reserve(rows);
    ends_.reserve(rows);
  }
  // Adds work whose launch is known.
  void Add(int64_t launched_ns, int64_t end_ns) {
    launches_.push_back(launched_ns);
    ends_.push_back(end_ns);
  }
  // Call after the last Add().
  void Sort() {
    SortLists(&launches_);
    SortLists(&ends_);
  }

  // Returns whether a call that launches had to wait until the queues of the device had room: it
  // took long, and much work was waiting.
  bool IsHeldUp(Interval call) const;
  // Returns when work ended last until then.
  std::optional<int64_t> LastEnd(int64_t until_ns) const;

  // Adds a node of the graph by its end, in any order.
  void AddNode(int64_t end_ns, uint32_t node) { nodes_.emplace_back(end_ns, node); }
  // Finds the node that ended last within a time, of those for which fits(node) is true. Only the
  // nearest are looked at. None: no node fits.
  template <typename Fits>
  std::optional<uint32_t> LastNode(Interval time, Fits&& fits) {
    constexpr int kMostLookedAt = 64;
    if (sorted_ != nodes_.size()) SortLists(&nodes_);
    sorted_ = nodes_.size();
    auto at = std::upper_bound(nodes_.begin(), nodes_.end(),
                               std::pair<int64_t, uint32_t>(time.end, UINT32_MAX));
    for (int looked_at = 0; at != nodes_.begin() && looked_at < kMostLookedAt; ++looked_at) {
      --at;
      if (at->first <= time.start) return std::nullopt;
      if (fits(at->second)) return at->second;
    }
    return std::nullopt;
  }

 private:
  std::vector<int64_t> launches_, ends_;
  std::vector<std::pair<int64_t, uint32_t>> nodes_;
  size_t sorted_ = 0;  // how many nodes there were when they were sorted last
};

}  // namespace gpuprof::analysis
