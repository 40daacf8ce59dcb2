// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a thread of the program did while a device waited for its next launch: data, results, code,
// the device, the profiler, or anything else. From operations, calls of CUDA, ranges, waits and the
// overhead that CUPTI tells. Made for one process; found on first use of a thread; one thread.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/derived/layers.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/op_tree.h"
#include "proto/kinds/device_time.pb.h"

namespace gpuprof::analysis {

// Returns what the name of an operation, a range or a Python function says about the host's work.
// NONE: nothing of interest here.
results::TimeCategory HostCategoryOfName(std::string_view name);
// Returns the same for a function of CUDA: waits for the device, loading of code.
results::TimeCategory HostCategoryOfCall(std::string_view function);

class HostActivity {
 public:
  explicit HostActivity(ProcessOps* ops);

  // Adds the time of each category within the window to `times`. They add up to its length.
  void Split(uint32_t track, Interval window,
             std::array<int64_t, results::TimeCategory_ARRAYSIZE>* times);

 private:
  const std::vector<LayerSpan>& Of(uint32_t track);

  ProcessOps* ops_;
  std::vector<std::vector<LayerSpan>> by_track_;
  std::vector<bool> is_known_;
};

}  // namespace gpuprof::analysis
