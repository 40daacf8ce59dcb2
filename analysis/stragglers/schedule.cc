// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See schedule.h.

#include "analysis/stragglers/schedule.h"

namespace gpuprof::analysis {

std::vector<uint32_t> OrderOf(const Schedule& schedule) {
  const size_t count = schedule.operations.size();
  const auto unit_of = [&](size_t operation) {
    const uint32_t group = schedule.operations[operation].group;
    return group == kNoPeers ? operation : count + group;
  };
  // What waits for a unit, and for how many operations a unit still waits.
  std::vector<std::vector<size_t>> next(count + schedule.groups.size());
  std::vector<size_t> missing(next.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    for (const uint32_t before : schedule.operations[i].after) {
      next[unit_of(before)].push_back(unit_of(i));
      ++missing[unit_of(i)];
    }
  }
  std::vector<size_t> ready;
  size_t units = schedule.groups.size();
  for (size_t i = 0; i < next.size(); ++i) {
    const bool is_unit = i >= count || unit_of(i) == i;
    if (i < count && is_unit) ++units;
    if (is_unit && missing[i] == 0) ready.push_back(i);
  }
  std::vector<uint32_t> order;
  for (size_t at = 0; at < ready.size(); ++at) {
    const size_t unit = ready[at];
    order.push_back(unit < count ? static_cast<uint32_t>(unit)
                                 : kGroupBit | static_cast<uint32_t>(unit - count));
    for (const size_t after : next[unit])
      if (--missing[after] == 0) ready.push_back(after);
  }
  if (order.size() != units) order.clear();
  return order;
}

}  // namespace gpuprof::analysis
