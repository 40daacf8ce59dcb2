// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules about devices look at: the busiest device, and the process that used it.

#pragma once

#include <cstdint>

#include "proto/results/critical_path.pb.h"
#include "proto/results/idle.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

struct DeviceFacts {
  results::Verdict verdict;
  results::DeviceSeries series;  // of steps, or of the whole recording
  // Two neighbouring steps, or the whole recording. No what-ifs: the recording is too large.
  results::CriticalPath path;
  results::Idle idle;
  results::Kernels kernels;    // of the process, by name
  uint32_t compute_major = 0;  // 0: not known
  int64_t median_kernel_ns = 0;
  int64_t median_launch_ns = 0;  // of calls that launch
  bool is_partial = false;       // only a part of the work was recorded (--gpu-rate)
  bool has_python = false;       // calls of Python functions were traced, which slows the host
  // First uses of CUDA and its libraries: calls that took 10 ms or longer and do not wait for work.
  int64_t first_use_ns = 0;
  int64_t first_use_window_ns = 0;  // from the first call to the end of the last work

  // Returns the length of a step, or of the recording.
  int64_t StepNs() const {
    return series.count() == 0 ? 0 : series.total_ns() / static_cast<int64_t>(series.count());
  }
  // Returns the time of a category in the mean step.
  int64_t PerStep(results::TimeCategory category) const;
  // Returns what a step would save if the subject took no time. 0: not known.
  int64_t SavedPerStep(results::WhatIfSubject subject) const;
};

}  // namespace gpuprof::analysis
