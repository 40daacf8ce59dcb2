// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The phase of a training step that a kernel is part of: forward, backward or optimizer. The phase
// in which the training thread launched the kernel decides. A kernel that was launched outside of
// all phases, or by an unknown call, has the phase that its name tells.
//
// Made for one process and its steps, which must outlive it; one thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/step_summary.h"

namespace gpuprof::analysis {

// Returns the phase that a kernel's name tells, by the words that libraries use: "fwd", "dgrad".
// None: it tells nothing. `name`: demangled.
std::optional<Category> PhaseOfName(std::string_view name);

class KernelPhases {
 public:
  KernelPhases(const Process& process, const CallIndex& calls, const CategoryTimeline& timeline,
               KernelFamilies* families)
      : process_(&process), calls_(&calls), timeline_(&timeline), families_(families) {}

  // Returns kForward, kBackward or kOptimizer. None: nothing tells.
  std::optional<Category> Of(const Track& track, const DeviceWork& work);

 private:
  // Returns the category of the training thread at a moment. Mostly the moments rise.
  Category At(int64_t time_ns);
  std::optional<Category> OfSignature(uint32_t signature);

  const Process* process_;
  const CallIndex* calls_;
  const CategoryTimeline* timeline_;
  KernelFamilies* families_;
  std::unordered_map<uint32_t, std::optional<Category>> known_;  // by signature
  size_t at_ = 0;                                                // the last segment found
};

}  // namespace gpuprof::analysis
