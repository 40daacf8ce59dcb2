// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What each stack of one process weighs: the measures that the pass `stacks` folds by. Sums over
// all stacks are the totals that the passes heap and locks tell. Any thread.

#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/passes/memory/live_memory.h"

namespace gpuprof::analysis {

struct StackWeights {
  struct Key {
    uint32_t stack = 0;  // id; 0: none was taken
    // What kind of event it was, for measures over several kinds, as the innermost frame shows it:
    // "[condition]", "" where there is one kind.
    std::string_view kind = {};
    int32_t thread = 0;  // 0: the measure is of the process
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, uint64_t> by_stack;
  std::deque<std::string> texts;  // what innermost frames are views of, where they are no literals
  // Frames of CUDA's own libraries between a launch and gpuprof are not part of the stack.
  bool without_cuda = false;
  // Frames of Python are functions, whatever line of them runs.
  bool by_function = false;
  uint64_t total = 0;
  Estimate estimate;  // of the total; heap only
  bool estimated = false;
  uint64_t samples = 0;  // allocations in it
};

struct StackWeight {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
  StackWeights (*collect)(PassContext& context, size_t index);
};

std::span<const StackWeight> StackWeightTable();

// Removes frames of CUDA's own libraries from the begin of a stack, which is innermost first.
void DropCudaFrames(const Process& process, std::vector<uint64_t>* pcs);

// Returns whole parts whose sum is `total`, each at most 1 from its exact value: the running sum is
// rounded. `parts` are not negative, and their sum is about the total.
std::vector<uint64_t> WholeParts(const std::vector<double>& parts, uint64_t total);

}  // namespace gpuprof::analysis
