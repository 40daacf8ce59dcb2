// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sorts values that are a few sorted lists, one behind the other, as times of a device's streams
// are. Merging them is faster than sorting. Pure; any thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

// Sorts any values, and keeps the order of equal ones. Many lists are sorted in the ordinary way.
template <typename T, typename IsBefore = std::less<T>>
void SortLists(std::vector<T>* values, IsBefore is_before = {}) {
  constexpr size_t kMostLists = 64;
  std::vector<typename std::vector<T>::iterator> ends;
  for (auto at = values->begin(); at != values->end() && ends.size() <= kMostLists;) {
    at = std::is_sorted_until(at, values->end(), is_before);
    ends.push_back(at);
  }
  if (ends.size() > kMostLists) return std::stable_sort(values->begin(), values->end(), is_before);
  while (ends.size() > 1) {
    std::vector<typename std::vector<T>::iterator> merged;
    auto begin = values->begin();
    for (size_t i = 0; i < ends.size(); i += 2) {
      const auto end = ends[std::min(i + 1, ends.size() - 1)];
      std::inplace_merge(begin, ends[i], end, is_before);
      merged.push_back(end);
      begin = end;
    }
    ends = std::move(merged);
  }
}

}  // namespace gpuprof::analysis
