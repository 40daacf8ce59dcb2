// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See open_operations.h.

#include "analysis/passes/memory/open_operations.h"

#include "analysis/steps/op_walk.h"

namespace gpuprof::analysis {

MemoryOwner OwnerByOperation(results::MemoryCategory category) {
  const bool is_known = category != results::MEMORY_CATEGORY_UNKNOWN;
  return {category, is_known ? results::MEMORY_EVIDENCE_OPERATION : results::MEMORY_EVIDENCE_NONE,
          category == results::MEMORY_CATEGORY_TEMPORARY,
          category == results::MEMORY_CATEGORY_OPTIMIZER_STATE};
}

std::vector<uint32_t> OpenOperations::OwnersOf(size_t track) {
  const Track& of = ops_.process().tracks[track];
  const Column<int64_t>& times = of.tensor.time_ns;
  std::vector<uint32_t> found(times.size(), 0);
  if (times.empty()) return found;
  VisitOpenOps(times, ops_.tree(track), [&](size_t i, const std::vector<uint32_t>& open) {
    found[i] = OwnerOf(of.op, open, times[i]);
  });
  return found;
}

uint32_t OpenOperations::OwnerOf(const OpTable& ops, const std::vector<uint32_t>& open,
                                 int64_t time_ns) {
  MemoryJudge judge;
  for (size_t i = open.size(); i-- > 0;) judge.Add(CategoryOf(ops.name[open[i]]));
  if (judge.category() == results::MEMORY_CATEGORY_UNKNOWN && time_ns >= trains_from_ns_)
    judge.Add(results::MEMORY_CATEGORY_ACTIVATIONS);
  const uint32_t name = ops.name[open.back()];
  const uint64_t key = uint64_t{name} << 8 | static_cast<uint64_t>(judge.category());
  const auto [at, is_new] = known_.try_emplace(key, static_cast<uint32_t>(owners_.size()));
  if (is_new) {
    owners_.push_back(OwnerByOperation(judge.category()));
    names_.push_back(name);
  }
  return at->second;
}

results::MemoryCategory OpenOperations::CategoryOf(uint32_t name) {
  const auto [at, is_new] = categories_.try_emplace(name);
  if (is_new) {
    const std::string text = ops_.process().String(name);
    at->second = CategoryOfFrame({"", text});
    // What an optimizer needs for a moment is found by its life (MemoryAccount).
    if (ops_.name_kind(name) == NameKind::kOptimizerStep)
      at->second = results::MEMORY_CATEGORY_OPTIMIZER_STATE;
    if (ops_.name_kind(name) == NameKind::kLoaderNext)
      at->second = results::MEMORY_CATEGORY_ACTIVATIONS;
  }
  return at->second;
}

}  // namespace gpuprof::analysis
