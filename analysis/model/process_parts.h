// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Small parts of a process in the model (model/trace.h): contexts, captures, and what the headers
// of its blocks tell.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

// A context that was seen to come or go.
struct ContextLife {
  uint32_t id = 0;
  int64_t begin_ns = INT64_MIN;  // before the capture, or not known
  int64_t end_ns = INT64_MAX;    // when its destruction began, if known
};

struct CaptureWindow {
  uint32_t number = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;     // last event when the stop mark is missing
  int64_t let_go_ns = 0;  // before start_ns: under capture too, but a flight recorder let it go
  bool has_stop = false;
  uint64_t steps = 0;  // whole steps in a window of a limited recording; 0: not known
  // The process had CUDA already, and may have allocated GPU memory.
  bool cuda_had_begun = false;
  std::string start_trigger, stop_trigger;
};

// What the blocks of one kind amount to, by their headers: known even where no event was decoded.
struct KindTotals {
  uint16_t kind = 0;  // proto::ChunkKind; kinds of newer writers too
  uint64_t blocks = 0;
  uint64_t rows = 0;
  uint64_t compressed_bytes = 0;
  uint64_t raw_bytes = 0;
};

// How CUPTI's clock ran compared with gpuprof's clock; see analysis/read/cupti_clock.h.
struct CuptiClockFacts {
  uint64_t readings = 0;
  double residual_ns = 0;
  int64_t step_ns = 0;
  bool is_lost = false;
};

}  // namespace gpuprof::analysis
