// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether operations and kernels ran eagerly, in compiled code, or in a CUDA graph. The finder is
// made for one process, which must outlive it, as must its operations. One thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/derived/origin.h"
#include "analysis/steps/op_tree.h"
#include "proto/kinds/ops.pb.h"

namespace gpuprof::analysis {

struct ExecutionFound {
  results::Execution execution = results::EXECUTION_NONE;
  results::ExecutionEvidence evidence = results::EXECUTION_EVIDENCE_NONE;
  bool operator==(const ExecutionFound&) const = default;
};

// The execution of several operations or kernels. Those whose execution is not known do not count.
class ExecutionTally {
 public:
  void Add(const ExecutionFound& found);
  // Returns EXECUTION_MIXED if they differ. The evidence is that of the first.
  ExecutionFound found() const { return found_; }

 private:
  ExecutionFound found_;
};

// Returns whether operations outside of compiled regions run eagerly, as those of PyTorch do.
inline bool MayBeEager(const Trace& trace) { return trace.importer != "XSpace"; }

class ExecutionFinder {
 public:
  // Takes the answer of MayBeEager.
  ExecutionFinder(ProcessOps* ops, bool may_be_eager);

  ExecutionFound OfOp(OpRef op);
  // Finds the execution of a kernel. `op`: the operation that launched it. `in_graph`: its launch
  // was that of a graph.
  ExecutionFound OfKernel(const KernelTable& kernels, size_t row, const std::optional<OpRef>& op,
                          bool in_graph = false);

 private:
  enum class Region : uint8_t { kNone, kCompiled, kEager };

  std::string_view TextOf(uint32_t id) const;
  Region RegionOf(uint32_t name);
  bool IsHlo(uint32_t detail);
  const std::vector<Region>& RegionsOf(uint32_t track);

  ProcessOps* ops_;
  bool may_be_eager_;
  std::unordered_map<uint32_t, Region> by_name_;
  std::unordered_map<uint32_t, bool> is_hlo_;            // by string id of a detail
  std::unordered_map<uint32_t, bool> is_compiled_name_;  // by signature
  std::vector<std::vector<Region>> regions_;             // by track and row; made on first use
};

}  // namespace gpuprof::analysis
