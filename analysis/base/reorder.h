// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts two tables of millions of rows into one order, in place. Pure.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

// Moves row from[i] of both tables to place i. It moves along the cycles of the order: a second
// table would take much memory.
template <typename First, typename Second>
void Reorder(std::vector<uint32_t> from, std::vector<First>* first, std::vector<Second>* second) {
  for (uint32_t begin = 0; begin < from.size(); ++begin) {
    if (from[begin] == begin) continue;
    const First saved_first = (*first)[begin];
    const Second saved_second = (*second)[begin];
    uint32_t place = begin;
    for (; from[place] != begin; place = std::exchange(from[place], place)) {
      (*first)[place] = (*first)[from[place]];
      (*second)[place] = (*second)[from[place]];
    }
    from[place] = place;
    (*first)[place] = saved_first;
    (*second)[place] = saved_second;
  }
}

}  // namespace gpuprof::analysis
