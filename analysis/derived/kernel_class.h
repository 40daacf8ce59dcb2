// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a kernel does with a device's time. A kernel computes with a type of numbers, or moves data
// between devices as part of a collective. Pure, any thread.

#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "analysis/model/trace.h"
#include "proto/results/breakdown.pb.h"

namespace gpuprof::analysis {

// Returns whether a kernel is a collective, by its name: of NCCL, RCCL and of frameworks' own
// kernels.
bool IsCollective(std::string_view name);

// Returns the category of a kernel. `name` is demangled. The type of numbers comes from the
// kernel's code if it was seen, else from its name.
results::TimeCategory KernelCategory(std::string_view name, uint32_t compute_major,
                                     uint32_t matrix_ops);

// The categories of a process's kernels, by their launch signatures. Found on first use; one
// thread.
class KernelClasses {
 public:
  explicit KernelClasses(const Process& process) : process_(&process) {}

  results::TimeCategory Of(uint32_t signature, uint32_t device);

 private:
  const Process* process_;
  std::unordered_map<uint64_t, results::TimeCategory> known_;  // by signature and device
};

}  // namespace gpuprof::analysis
