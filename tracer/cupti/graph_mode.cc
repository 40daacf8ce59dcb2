// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/graph_mode.h"

namespace gpuprof::tracer::cupti {

using proto::GraphMode;

void GraphModes::Begin(GraphMode mode, uint64_t most_nodes, uint64_t ticks) {
  mode_ = mode;
  most_nodes_ = most_nodes;
  is_whole_ = false;
  if (mode == GraphMode::kWhole) is_refused_ = false;
  nodes_.store(0, std::memory_order_relaxed);
  calls_.store(0, std::memory_order_relaxed);
  wholes_.store(0, std::memory_order_relaxed);
  told_ = calls_then_ = unheard_ns_ = 0;
  Mark({ticks, GraphMode::kNode, 0});
}

bool GraphModes::IsDue() const {
  if (is_whole_ || is_refused_ || mode_ == GraphMode::kNode) return false;
  return mode_ == GraphMode::kWhole || nodes_.load(std::memory_order_relaxed) >= most_nodes_;
}

void GraphModes::Turned(bool is_whole, uint64_t ticks) {
  is_whole_ = is_whole;
  is_refused_ = !is_whole;
  if (!is_whole) return;
  const uint64_t nodes =
      mode_ == GraphMode::kAuto ? nodes_.load(std::memory_order_relaxed) : uint64_t{0};
  Mark({ticks, GraphMode::kWhole, nodes});
}

bool GraphModes::IsDark(uint64_t now_ns) {
  if (!is_whole_) return false;
  const uint64_t told =
      nodes_.load(std::memory_order_relaxed) + wholes_.load(std::memory_order_relaxed);
  const uint64_t calls = calls_.load(std::memory_order_relaxed);
  if (told != told_) {
    told_ = told;
    calls_then_ = calls;
    unheard_ns_ = 0;
    return false;
  }
  if (unheard_ns_ == 0) {
    if (calls != calls_then_) unheard_ns_ = now_ns;
    return false;
  }
  return now_ns - unheard_ns_ >= kDarkNs && calls - calls_then_ >= kDarkCalls;
}

void GraphModes::TurnedBack(uint64_t ticks) {
  is_whole_ = false;
  is_refused_ = true;
  Mark({ticks, GraphMode::kNode, 0});
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
      return "this libcupti does not record launches of CUDA graphs as wholes: every node of a "
             "graph is recorded";
    case GraphsBy::kLateRefused:
      return "this libcupti does not record launches of CUDA graphs as wholes once recording has "
             "begun: every node of a graph is recorded. --graphs=whole asks for whole launches "
             "when "
             "recording begins";
    case GraphsBy::kUntold:
      return "this libcupti does not report graphs that were instantiated before gpuprof asked "
             "for whole launches: these graphs are missing for about two seconds. Then every node "
             "of a graph is recorded again";
    default:
      return "";
  }
}

}  // namespace gpuprof::tracer::cupti
