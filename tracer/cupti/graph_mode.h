// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How launches of graphs are recorded: every node, or each launch as one record
// (CUPTI_ACTIVITY_KIND_GRAPH_TRACE), which costs the program far less and hides what is inside.
// Every change leaves a mark for the trace.
//
// Whole launches are asked for inside of the program's cuInit or not at all. CUPTI 13.0 crashes in
// the launch of a graph that was instantiated before the kind was enabled, whatever was enabled
// then (seen on an H200), and nobody knows what a program instantiated while nothing was recorded.
//
// Begin, TurnToWhole: the thread that calls CUPTI. TakeMark: the drain.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/contract.h"

namespace gpuprof::tracer::cupti {

struct GraphMark {
  uint64_t ticks;
  proto::GraphMode mode;
};

// Why graphs are recorded by nodes although wholes were asked for.
enum class GraphsBy : uint32_t { kAsAsked, kRefused, kLate };
const char* Words(GraphsBy reason);  // "" for kAsAsked

class GraphModes {
 public:
  // A capture begins, with nodes.
  void Begin(uint64_t ticks);
  void TurnToWhole(uint64_t ticks);
  bool is_whole() const { return is_whole_; }
  bool TakeMark(GraphMark* mark);

 private:
  // More than one capture makes until the drain comes.
  static constexpr uint32_t kMostMarks = 16;

  void Mark(const GraphMark& mark);

  bool is_whole_ = false;
  GraphMark marks_[kMostMarks] = {};
  std::atomic<uint32_t> marks_made_{0};
  std::atomic<uint32_t> marks_taken_{0};
};

}  // namespace gpuprof::tracer::cupti
