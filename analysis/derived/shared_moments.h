// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether two ranks can have taken part in the same collectives. A collective that gives all ranks
// a result of all ranks ends nowhere before each of them came. So both ranks are in it at one
// moment, whatever their clocks are apart. Pure, any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/derived/collective_message.h"

namespace gpuprof::analysis {

// A rank's part in a collective.
struct CollectiveMoment {
  int64_t start_ns = 0;
  std::optional<int64_t> end_ns;  // none: not known
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::optional<uint64_t> bytes;
};

// Returns whether the ranks can have entered these collectives together, one after the other. Each
// list is sorted by start. A recording may lack some at its begin or at its end. Two empty lists
// are the same.
bool CanBeShared(std::span<const CollectiveMoment> ours, std::span<const CollectiveMoment> theirs);

}  // namespace gpuprof::analysis
