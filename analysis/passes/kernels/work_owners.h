// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The framework's operation that a piece of device work belongs to, as passes group work by it. It
// is the operation that launched the work, or the one in which a node of a CUDA graph was captured.
// Without both, it is the one that the source of the trace names. Made for one process; operations
// and details must outlive it. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {

class WorkOwners {
 public:
  static constexpr uint32_t kNone = 0;
  // Stands for the unknown operations of nodes of graphs.
  static constexpr uint32_t kGraph = 0xffffffff;

  WorkOwners(const ProcessOps* ops, RowDetails* details) : ops_(ops), details_(details) {}

  // Returns a number for the operation. `kernel`: string id of the kernel's name, which is that of
  // the operation on TPUs.
  uint32_t OfKernel(const KernelTable& kernels, size_t row, const WorkOrigin& origin,
                    uint32_t kernel);
  // Returns the operation that the kernel's detail names, whoever launched the kernel. kNone: it
  // names none. `detail`: string id.
  uint32_t OfSource(uint32_t detail, uint32_t kernel);
  // Returns the same as OfKernel for a copy or a memset.
  uint32_t Of(const WorkOrigin& origin) const;

  // Returns the name; "": there is no operation.
  std::string Name(uint32_t owner) const;
  results::OwnerEvidence EvidenceOf(uint32_t owner, bool in_graph) const;

 private:
  // From here on numbers stand for operations that only details of kernels name.
  static constexpr uint32_t kFirstNamed = 0xf0000000;

  const ProcessOps* ops_;
  RowDetails* details_;
  std::unordered_map<uint64_t, uint32_t> by_detail_;  // and the kernel's name
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace gpuprof::analysis
