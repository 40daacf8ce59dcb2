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
#include "proto/kinds/device_time.pb.h"
#include "proto/kinds/kernels.pb.h"

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
  // Returns the family of a kernel by the string id of its name.
  results::KernelFamily OfName(uint32_t name);
  // Adds the time of a piece of work if it is a kernel.
  void Add(const Track& track, const DeviceWork& work, FamilyTimes* times);

 private:
  const Process* process_;
  std::unordered_map<uint32_t, results::KernelFamily> known_;  // by signature
  std::unordered_map<uint32_t, results::KernelFamily> names_;
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
  InputTypes(ProcessOps* ops, RowDetails* details) : ops_(ops), details_(details) {}

  // Returns the types for a kernel. `op`: the operation that launched it.
  InputPrecision Of(const KernelTable& kernels, size_t row, const std::optional<OpRef>& op);

 private:
  InputPrecision OfDetail(uint32_t detail);

  ProcessOps* ops_;
  RowDetails* details_;
  std::unordered_map<uint32_t, InputPrecision> known_;  // by string id of a detail
};

// The categories of a process's kernels. Found on first use; one thread.
class KernelClasses {
 public:
  explicit KernelClasses(const Process& process)
      : process_(&process), own_families_(process), families_(&own_families_) {}
  // Asks the inputs of operations for the type if code and name leave it open. Operations and
  // calls must outlive this, as must details and families if others use them, too.
  KernelClasses(ProcessOps* ops, const CallIndex* calls, RowDetails* details = nullptr,
                KernelFamilies* families = nullptr)
      : process_(&ops->process()),
        ops_(ops),
        calls_(calls),
        details_(details),
        own_families_(*process_),
        families_(families == nullptr ? &own_families_ : families) {}
  KernelClasses(const KernelClasses&) = delete;
  KernelClasses& operator=(const KernelClasses&) = delete;

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
  Class Find(uint32_t signature, uint32_t device);
  results::TimeCategory ByInputs(const Class& open, const Track& track, const DeviceWork& work);

  const Process* process_;
  ProcessOps* ops_ = nullptr;
  const CallIndex* calls_ = nullptr;
  RowDetails* details_ = nullptr;
  KernelFamilies own_families_;
  KernelFamilies* families_;
  std::optional<Origin> origin_;  // made on first use, as the next are
  std::optional<RowDetails> own_details_;
  std::optional<InputTypes> inputs_;
  std::unordered_map<uint64_t, Class> known_;  // by signature and device
};

}  // namespace gpuprof::analysis
