// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a kernel does with a device's time. A kernel computes with a type of numbers, or moves data
// between devices as part of a collective.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/precision.h"
#include "analysis/derived/row_details.h"
#include "analysis/model/trace.h"
#include "proto/results/breakdown.pb.h"
#include "proto/results/kernel_families.pb.h"

namespace gpuprof::analysis {

// Returns whether a kernel is a collective: of that family (kernel_rule_file.h). `name`: readable.
bool IsCollective(const Process& process, std::string_view name);

// The time of kernels by their families.
using FamilyTimes = std::map<results::KernelFamily, int64_t>;

// The families of a process's kernels. Found on first use; one thread.
class KernelFamilies {
 public:
  explicit KernelFamilies(const Process& process) : process_(&process) {}

  results::KernelFamily Of(uint32_t signature);
  // Adds the time of a piece of work if it is a kernel.
  void Add(const Track& track, const DeviceWork& work, FamilyTimes* times);

 private:
  const Process* process_;
  std::unordered_map<uint32_t, results::KernelFamily> known_;  // by signature
};

// Sets `family` of a row to the one with most time. No kernels: it is left out.
template <typename Row>
void FillFamily(const FamilyTimes& times, Row* row) {
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  if (most != times.end()) row->set_family(most->first);
}

// Returns whether a kernel is the begin or the end of a copy that XLA lets run by itself.
// The device waits in the latter. Pure.
bool IsCopyOfXla(std::string_view name);

// Finds the type of numbers that the operations of kernels read. Made for one process, which must
// outlive it; one thread.
class InputTypes {
 public:
  explicit InputTypes(ProcessOps* ops) : ops_(ops), details_(ops->process()) {}

  // Returns the types for a kernel. `op`: the operation that launched it.
  InputPrecision Of(const KernelTable& kernels, size_t row, const std::optional<OpRef>& op);

 private:
  InputPrecision OfDetail(uint32_t detail);

  ProcessOps* ops_;
  RowDetails details_;
  std::unordered_map<uint32_t, InputPrecision> known_;  // by string id of a detail
};

// The categories of a process's kernels. Found on first use; one thread.
class KernelClasses {
 public:
  explicit KernelClasses(const Process& process) : process_(&process) {}
  // Asks the inputs of operations for the type if code and name leave it open. Operations and
  // calls must outlive this.
  KernelClasses(ProcessOps* ops, const CallIndex* calls)
      : process_(&ops->process()), ops_(ops), calls_(calls) {}

  // Returns the category of a row of kernels.
  results::TimeCategory Of(const Track& track, const DeviceWork& work);

 private:
  // A signature on a device.
  struct Class {
    results::TimeCategory category = results::TIME_CATEGORY_NONE;
    bool is_open = false;  // the inputs may tell the type of numbers
    PrecisionFound told;
    bool on_tensor_cores = false;
  };
  Class Find(uint32_t signature, uint32_t device) const;
  results::TimeCategory ByInputs(const Class& open, const Track& track, const DeviceWork& work);

  const Process* process_;
  ProcessOps* ops_ = nullptr;
  const CallIndex* calls_ = nullptr;
  std::optional<Origin> origin_;  // made on first use, as the next is
  std::optional<InputTypes> inputs_;
  std::unordered_map<uint64_t, Class> known_;  // by signature and device
};

}  // namespace gpuprof::analysis
