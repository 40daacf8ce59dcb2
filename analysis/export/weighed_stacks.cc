// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See weighed_stacks.h.

#include "analysis/export/weighed_stacks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace gpuprof::analysis {

Error WeighedStacks::Collect(PassContext& context, const std::string& by) {
  using Key = std::tuple<size_t, uint32_t, std::string_view, int32_t, bool>;
  std::map<Key, size_t> places;
  std::string names;
  bool is_known = by.empty();
  for (const StackWeight& weight : StackWeightTable()) {
    names += (names.empty() ? "" : ", ") + std::string(weight.name);
    if (!by.empty() && by != weight.name) continue;
    is_known = true;
    const size_t column = measures_.size();
    uint64_t total = 0;
    for (const size_t index : context.selected()) {
      const StackWeights& weights = kept_.emplace_back(weight.collect(context, index));
      for (const auto& [key, value] : weights.by_stack) {
        if (value == 0) continue;
        total += value;
        const auto [at, added] = places.try_emplace(
            Key{index, key.stack, key.kind, key.thread, weights.without_cuda}, stacks_.size());
        if (added)
          stacks_.push_back({index, key.stack, key.kind, key.thread, weights.without_cuda, {}});
        std::vector<uint64_t>& values = stacks_[at->second].values;
        values.resize(column + 1);
        values[column] += value;
      }
    }
    if (total != 0 || !by.empty()) measures_.push_back(&weight);
  }
  if (!is_known)
    return {ErrorKind::kUsage, "'" + by + "' is not a weight of stacks; there are " + names + "."};
  for (WeighedStack& stack : stacks_) stack.values.resize(measures_.size());
  return {};
}

// The pass `stacks` chooses alike.
size_t WeighedStacks::usual() const {
  for (const std::string_view name : {"heap_alloc", "cpu", "wait"}) {
    for (size_t i = 0; i < measures_.size(); ++i) {
      if (measures_[i]->name == name) return i;
    }
  }
  return 0;
}

std::vector<uint64_t> FramesOfStack(PassContext& context, const WeighedStack& stack, bool* cut) {
  std::vector<uint64_t> pcs = context.StackPcs(stack.process, stack.stack);
  const Process& process = context.process(stack.process);
  *cut = process.stack_depth > 0 && pcs.size() >= process.stack_depth;
  if (stack.without_cuda) DropCudaFrames(process, &pcs);
  return pcs;
}

}  // namespace gpuprof::analysis
