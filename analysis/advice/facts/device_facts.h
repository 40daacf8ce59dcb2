// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules about devices look at: the busiest device, and the process that used it.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/advice/facts/idle_facts.h"
#include "analysis/advice/facts/kernel_facts.h"
#include "analysis/advice/facts/memory_facts.h"
#include "analysis/advice/facts/pieces.h"
#include "analysis/advice/facts/rank_facts.h"
#include "proto/results/critical_path.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

struct DeviceFacts {
  results::Verdict verdict;
  results::DeviceSeries series;  // of steps, or of the whole recording
  Instance typical_step;         // of the series; without a duration: there are no steps
  // Two neighbouring steps, or the whole recording. No what-ifs: the recording is too large.
  results::CriticalPath path;
  IdleFacts idle;
  results::Kernels kernels;    // of the process, by name
  uint32_t compute_major = 0;  // 0: not known
  int64_t median_kernel_ns = 0;
  int64_t median_launch_ns = 0;  // of calls that launch
  bool is_partial = false;       // only a part of the work was recorded (--gpu-rate)
  bool has_python = false;       // calls of Python functions were traced, which slows the host
  // First uses of CUDA and its libraries: calls that took 10 ms or longer and do not wait for work.
  int64_t first_use_ns = 0;
  std::map<std::string, int64_t> first_use_calls;  // by function
  Instance longest_first_use;
  int64_t first_use_window_ns = 0;  // from the first call to the end of the last work

  // Gains below this part of a step are lost in the noise of the steps. 0: too few steps.
  double noise_ratio = 0;

  // In steps alone. Copies: by asynchronous calls from or to pageable memory; by calls that wait;
  // small ones behind each other; to the host and back.
  Pieces pageable_copies, sync_copies, small_copies, returned_copies, memsets;
  Pieces copies;  // all of them
  // Calls: for memory; that load or make code; slow ones of one function; launches that waited for
  // room in a queue.
  Pieces allocations, code_loads, slow_calls, full_queue;
  // Tracing and compiling by a framework, and whether this is most of the compiling.
  Pieces recompiles;
  bool compile_is_of_framework = false;
  // Work that began when work of another stream ended. One of the two streams is the legacy default
  // stream. Then the number of other streams that had to wait.
  Pieces legacy_stream;
  uint32_t held_streams = 0;
  // Waits for the device with no work behind them, and the time without work. Then the same waits
  // by function: how many, and how long they lasted.
  Pieces waits;
  int64_t longest_wait_ns = 0;  // of the call of waits.longest
  std::map<std::string, std::pair<uint64_t, int64_t>> waits_by_call;
  // Launches of kernels, and those that lasted until their kernel had ended.
  uint64_t launch_count = 0, blocking_launch_count = 0;
  // Kernels of the device.
  uint64_t kernel_count = 0;
  Pieces tiny_kernels;
  // Repetitions of a unit of a few kernels, which the longest names.
  Pieces repeats;
  uint64_t repeated_kernel_count = 0;
  size_t repeated_unit = 0;
  // Steps with the same kernels in the same order, and how many kernels they are.
  uint64_t same_step_count = 0, same_kernel_count = 0;
  bool uses_graphs = false;
  KernelFacts in_steps;
  MemoryFacts memory;
  ClockFacts clocks;
  bool is_mig = false;
  // Collectives whose size is known, and those with small messages.
  int64_t messages_ns = 0;
  Pieces small_messages;
  RankFacts ranks;
  // What a step saves if no results are written.
  int64_t output_saved_per_step_ns = 0;

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
