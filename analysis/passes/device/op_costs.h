// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What operations cost a device: time, floating-point operations, bytes. For the passes `roofline`
// and `op_profile`. Floating-point operations and bytes are those of `kernels`: what the source
// reports, else what the program of XLA tells (analysis/hlo/cost.h), else what shapes tell
// (analysis/derived/op_work.h). What is not known is counted apart, and is not 0. Devices of one
// name are one model. One thread.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "proto/kinds/kernels.pb.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {

// A quantity that is known of a part of the work. `ns`: the time of that part.
struct KnownWork {
  uint64_t value = 0;
  int64_t ns = 0;
  uint32_t sources = 0;  // a bit for each results::WorkEvidence

  bool is_known() const { return sources != 0; }
  results::WorkEvidence evidence() const;
  void Join(const KnownWork& other);
};

struct WorkSums {
  uint64_t count = 0;
  int64_t total_ns = 0;
  KnownWork flops, bytes;
  // Work with a known peak of computing: its time, and how long it takes at the peak.
  int64_t peaked_ns = 0;
  double peaked_flops = 0, at_peak_ns = 0;
  // Work with both quantities.
  double both_flops = 0, both_bytes = 0;
  // Work with both quantities and both peaks: the roofline is about this work.
  int64_t placed_ns = 0;
  double placed_flops = 0, placed_bytes = 0, placed_at_peak_ns = 0;
  double step_at_peak_ns = 0;     // within counted steps
  uint32_t precisions = 0;        // a bit for each type of the known operations
  std::set<size_t> devices = {};  // by UsedDevices

  void Join(const WorkSums& other);
  results::Precision precision() const;
};

// A place of work below the roof. GB/s and operations a second; none: not known.
struct RoofPoint {
  std::optional<double> flop_per_s, gb_per_s, flop_per_byte;
  std::optional<double> peak_flop_per_s, peak_flop_ratio, peak_gb_ratio;
  std::optional<double> roof_flop_per_s, roof_ratio;
  std::optional<bool> is_memory_bound;
};
// Returns the place. `peak_gb_per_s`: of the device's memory.
RoofPoint PointOf(const WorkSums& sums, std::optional<double> peak_gb_per_s);

// Devices with one name. Without a name, nothing is known of them.
struct DeviceModel {
  std::string name;
  std::optional<double> gb_per_s;  // what its memory moves
  std::string_view gb_source;
  std::array<std::optional<double>, results::Precision_ARRAYSIZE> flop_per_s;  // by precision
  uint64_t step_count = 0;  // counted steps of the processes that used them
  int64_t step_ns = 0;      // for each device
  std::array<int64_t, results::Precision_ARRAYSIZE> precision_ns = {};
};

struct OpCost {
  size_t model = 0;  // in OpCosts::models
  std::string program, category, name;
  std::string shared_name;  // of operations that XLA compiled once; empty: no others
  bool is_kernel = true;    // false: copies, memsets, graphs that were recorded as a whole
  results::OwnerEvidence evidence = results::OWNER_EVIDENCE_NONE;
  WorkSums sums;
};

struct OpCosts {
  std::vector<DeviceModel> models;
  std::vector<OpCost> ops;  // the one with the most time first
};

// Returns the costs of all selected processes. They are kept for further questions.
const OpCosts& OpCostsOf(PassContext& context);

}  // namespace gpuprof::analysis
