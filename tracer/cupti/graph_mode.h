// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How launches of graphs are recorded: every node, or each launch as one record
// (CUPTI_ACTIVITY_KIND_GRAPH_TRACE), which costs the program far less and hides what is inside. In
// the automatic mode nodes come first; once a capture holds as many as the settings say, whole
// launches are asked for. Every change leaves a mark for the trace.
//
// CUPTI's guide says that graphs which were instantiated before have no such records, and that no
// node is recorded meanwhile: then nothing would be known of them. So launches are watched, and
// nodes are recorded again where nothing comes of those that are called.
//
// Begin, IsDue, Turned, IsDark and TurnedBack: the thread that calls CUPTI. Count... and TakeMark:
// the drain.

#pragma once

#include <atomic>
#include <cstdint>

#include "proto/contract.h"

namespace gpuprof::tracer::cupti {

struct GraphMark {
  uint64_t ticks;
  proto::GraphMode mode;
  uint64_t nodes;  // recorded until then, where that was the reason
};

// Why graphs are recorded by nodes although wholes were asked for.
enum class GraphsBy : uint32_t { kAsAsked, kRefused, kLateRefused, kUntold };
const char* Words(GraphsBy reason);  // "" for kAsAsked

class GraphModes {
 public:
  // A capture begins, with nodes. In the automatic mode up to `most_nodes` of them.
  void Begin(proto::GraphMode mode, uint64_t most_nodes, uint64_t ticks);
  // Whether whole launches are to be asked for.
  bool IsDue() const;
  // They were asked for at this moment; the answer. Without success it stays at nodes, for good.
  void Turned(bool is_whole, uint64_t ticks);
  bool is_whole() const { return is_whole_; }
  // Whether many launches were called and neither they nor nodes have been told of for two seconds.
  // A few may wait so long for their turn on the GPU, or be told of in a buffer that is not full.
  bool IsDark(uint64_t now_ns);
  // Nodes were asked for again: for good, unless each capture is to begin with wholes.
  void TurnedBack(uint64_t ticks);

  void CountNodes(uint64_t nodes) { nodes_.fetch_add(nodes, std::memory_order_relaxed); }
  // Calls that launch a graph, and records of whole launches.
  void CountLaunches(uint64_t calls, uint64_t wholes) {
    calls_.fetch_add(calls, std::memory_order_relaxed);
    wholes_.fetch_add(wholes, std::memory_order_relaxed);
  }
  bool TakeMark(GraphMark* mark);

 private:
  // More than one capture makes until the drain comes.
  static constexpr uint32_t kMostMarks = 16;
  static constexpr uint64_t kDarkNs = 2'000'000'000;
  static constexpr uint64_t kDarkCalls = 32;

  void Mark(const GraphMark& mark);

  proto::GraphMode mode_ = proto::GraphMode::kNode;
  uint64_t most_nodes_ = 0;
  bool is_whole_ = false;
  bool is_refused_ = false;
  std::atomic<uint64_t> nodes_{0};
  std::atomic<uint64_t> calls_{0};
  std::atomic<uint64_t> wholes_{0};
  uint64_t told_ = 0;        // nodes and wholes at the last look
  uint64_t calls_then_ = 0;  // when something was told last
  uint64_t unheard_ns_ = 0;  // the first look since then that found calls; 0: none yet
  GraphMark marks_[kMostMarks] = {};
  std::atomic<uint32_t> marks_made_{0};
  std::atomic<uint32_t> marks_taken_{0};
};

}  // namespace gpuprof::tracer::cupti
