// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much the kernels of XLA's operations compute and move, by the programs that the trace holds
// (analysis/hlo/cost.h). They serve where no source tells figures of an operation.
//
// An operation may launch several kernels. Kernels of the name that ran least often ran once in
// each execution. The one with most time has the operations, and the other kernels have 0. Bytes
// are known only if all kernels of the operation have one name.
//
// Made for one process, then read only. It keeps an entry for each operation, not for each kernel.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "analysis/derived/row_details.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Figures of one execution. None: not known.
struct HloFigures {
  std::optional<uint64_t> flops, bytes;
  bool is_part = false;  // another kernel of the operation has the operations
};

class HloWork {
 public:
  HloWork(const Process& process, RowDetails* details);

  HloFigures Of(const KernelTable& kernels, size_t row) const {
    if (figures_.empty()) return {};
    const auto found = figures_.find({DetailOf(kernels, row), kernels.signature[row]});
    return found == figures_.end() ? HloFigures() : found->second;
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, HloFigures> figures_;  // by detail and signature
};

}  // namespace gpuprof::analysis
