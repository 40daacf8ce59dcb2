// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels of one host, by name, shape and operation. Pure functions, any thread.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/xprof/hlo_programs.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

struct KernelReport {
  // The order of the members is the order of kernels that took the same time.
  struct Key {
    std::string name;
    uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
    uint32_t registers = 0, static_shared = 0, dynamic_shared = 0;
    bool uses_tensor_cores = false, is_eligible = false;
    std::string op;
    auto operator<=>(const Key&) const = default;
  };
  Key key;
  float occupancy = 0;  // of the first one
  uint32_t occurrences = 0;
  uint64_t total_ns = 0, min_ns = 0, max_ns = 0;
};

using KernelReports = std::map<KernelReport::Key, KernelReport>;

void AddKernels(const Plane& gpu, const HloPrograms& programs, KernelReports* reports);

// Sorts by time and keeps the first thousand.
void KeepLongest(std::vector<KernelReport>* reports);
std::vector<KernelReport> LongestOf(const KernelReports& reports);

// Kernels of one operation.
struct OpKernels {
  bool is_eligible = false;  // one of them is
  uint64_t total_ns = 0, tensor_core_ns = 0;
};
std::map<std::string, OpKernels, std::less<>> KernelsByOp(const std::vector<KernelReport>& reports);

}  // namespace gpuprof::analysis::xprof
