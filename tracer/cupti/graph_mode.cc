// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/graph_mode.h"

namespace gpuprof::tracer::cupti {

using proto::GraphMode;

void GraphModes::Begin(uint64_t ticks) {
  is_whole_ = false;
  Mark({ticks, GraphMode::kNode});
}

void GraphModes::TurnToWhole(uint64_t ticks) {
  is_whole_ = true;
  Mark({ticks, GraphMode::kWhole});
}

void GraphModes::Mark(const GraphMark& mark) {
  const uint32_t made = marks_made_.load(std::memory_order_relaxed);
  if (made - marks_taken_.load(std::memory_order_acquire) >= kMostMarks) return;
  marks_[made % kMostMarks] = mark;
  marks_made_.store(made + 1, std::memory_order_release);
}

bool GraphModes::TakeMark(GraphMark* mark) {
  const uint32_t taken = marks_taken_.load(std::memory_order_relaxed);
  if (taken == marks_made_.load(std::memory_order_acquire)) return false;
  *mark = marks_[taken % kMostMarks];
  marks_taken_.store(taken + 1, std::memory_order_release);
  return true;
}

const char* Words(GraphsBy reason) {
  switch (reason) {
    case GraphsBy::kRefused:
      return "this libcupti cannot record launches of CUDA graphs as wholes: every node is "
             "recorded";
    case GraphsBy::kLate:
      return "every node of CUDA graphs is recorded: whole launches need a capture that begins "
             "with "
             "the program, since CUPTI may crash on older graphs";
    default:
      return "";
  }
}

}  // namespace gpuprof::tracer::cupti
