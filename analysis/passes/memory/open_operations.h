// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells who allocated recorded blocks: the innermost operation that is open, and what its memory is
// for by all that are open. One thread.

#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/derived/memory_account.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class OpenOperations {
 public:
  // Takes the moment from which on what no rule knows is of a forward pass. INT64_MAX: never.
  OpenOperations(ProcessOps* ops, int64_t trains_from_ns)
      : ops_(*ops), trains_from_ns_(trains_from_ns) {}

  // Returns an owner for each row of a track's table of tensors; 0: no operation was open.
  std::vector<uint32_t> OwnersOf(size_t track);
  // Returns the owners. The first stands for one that is not known.
  const std::vector<MemoryOwner>& owners() const { return owners_; }
  const std::vector<uint32_t>& names() const { return names_; }

 private:
  uint32_t OwnerOf(const OpTable& ops, const std::vector<uint32_t>& open, int64_t time_ns);
  results::MemoryCategory CategoryOf(uint32_t name);

  ProcessOps& ops_;
  const int64_t trains_from_ns_;
  std::vector<MemoryOwner> owners_ = {{}};
  std::vector<uint32_t> names_ = {0};
  std::unordered_map<uint64_t, uint32_t> known_;
  std::unordered_map<uint32_t, results::MemoryCategory> categories_;
};

// Returns an owner whose operation is the evidence of its category.
MemoryOwner OwnerByOperation(results::MemoryCategory category);

}  // namespace gpuprof::analysis
