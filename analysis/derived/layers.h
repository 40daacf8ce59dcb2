// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Several lists of intervals in one: each moment belongs to the first list that covers it. Pure,
// any thread.

#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

struct LayerSpan {
  Interval span;
  uint32_t layer = 0;  // index of the list
  bool operator==(const LayerSpan&) const = default;
};

// Returns spans that are sorted and disjoint. So is each list.
std::vector<LayerSpan> TopLayers(const std::vector<std::vector<Interval>>& lists);

}  // namespace gpuprof::analysis
