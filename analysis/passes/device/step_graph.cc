// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_graph.h. Loops are pipelined: two steps show what one step cannot.

#include "analysis/passes/device/step_graph.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "analysis/passes/device/device_steps.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {
namespace {

// Returns the thread of the steps, or the one with most calls.
uint32_t MainThread(PassContext& context, size_t index) {
  const StepAnalysis& steps = context.steps(index);
  if (steps.found()) return static_cast<uint32_t>(steps.detected.track);
  const Process& process = context.process(index);
  uint32_t best = 0;
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    if (process.tracks[t].api.rows() > process.tracks[best].api.rows()) best = t;
  }
  return best;
}

using DeviceSteps = std::vector<const results::DeviceStep*>;

// Returns the places of the two neighbouring steps whose lengths are nearest that of the typical
// step: a rare slow step would make all savings too large. The same place twice: no step has a
// neighbour, and it is that of the typical step. Steps of the warm-up are taken last. The last step
// ends with its own work: steps with another one behind them say more.
std::pair<size_t, size_t> TypicalPair(const DeviceSteps& steps, uint64_t typical_number,
                                      int64_t* typical_ns) {
  size_t typical = 0;
  while (steps[typical]->number() != typical_number) ++typical;
  *typical_ns = steps[typical]->duration_ns();
  const auto distance = [&](size_t i) { return std::abs(steps[i]->duration_ns() - *typical_ns); };
  std::pair<size_t, size_t> best = {typical, typical};
  std::optional<std::tuple<bool, bool, int64_t>> least;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i + 1]->number() != steps[i]->number() + 1) continue;
    const std::tuple cost = {steps[i]->warmup() || steps[i + 1]->warmup(), i + 2 == steps.size(),
                             distance(i) + distance(i + 1)};
    if (least && *least <= cost) continue;
    least = cost;
    best = {i, i + 1};
  }
  return best;
}

}  // namespace

std::unique_ptr<StepGraph> StepGraph::Make(PassContext& context, size_t index) {
  const results::Steps& steps = DeviceStepsOf(context, index);
  if (steps.device_steps().empty()) return nullptr;  // no work, or too much
  std::unique_ptr<StepGraph> made(new StepGraph(context, index));
  made->FindWindow(context, index, steps);
  made->length_ns_ = made->LengthOf(made->graph_->Play({}));
  return made;
}

StepGraph::StepGraph(PassContext& context, size_t index)
    : process_(context.process(index)),
      calls_(context.calls(index)),
      graph_(std::make_unique<DependencyGraph>(process_, MainThread(context, index), calls_,
                                               &context.ops(index), &context.classes(index),
                                               &context.host(index))) {}

// Takes the whole graph: to the work that ended last.
void StepGraph::TakeWhole() {
  first_ = last_ = kNoNode;
  is_to_end_ = true;
  first_step_.reset();
  last_step_.reset();
  typical_ns_.reset();
  for (uint32_t n = 0; n < graph_->nodes().size(); ++n) {
    const DependencyNode& node = graph_->nodes()[n];
    if (node.kind != DependencyNode::Kind::kWork) continue;
    if (first_ == kNoNode) first_ = n;
    if (last_ == kNoNode || node.span.end > graph_->nodes()[last_].span.end) last_ = n;
  }
}

// Takes two neighbouring steps, on the device with most kernels.
void StepGraph::FindWindow(PassContext& context, size_t index, const results::Steps& steps) {
  const results::DeviceSeries* series = nullptr;
  for (const results::DeviceSeries& each : steps.device_series()) {
    const bool is_own = each.window() == results::STEP_WINDOW_DEVICE;
    if (is_own && (series == nullptr || each.busy_ns() > series->busy_ns())) series = &each;
  }
  if (series == nullptr) return TakeWhole();
  std::vector<const results::DeviceStep*> own;
  for (const results::DeviceStep& step : steps.device_steps()) {
    if (step.window() == results::STEP_WINDOW_DEVICE && step.device() == series->device())
      own.push_back(&step);
  }
  const auto [first, last] = TypicalPair(own, series->typical_number(), &typical_ns_.emplace());
  const auto main = static_cast<uint32_t>(MainStream(process_, series->device()));
  first_ = graph_->FindWork(main, own[first]->start_ns());
  first_step_ = own[first]->number();
  last_step_ = own[last]->number();
  if (last + 1 < own.size()) {
    last_ = graph_->FindWork(main, own[last + 1]->start_ns());
  } else {
    const int64_t end = own[last]->start_ns() + own[last]->duration_ns();
    is_to_end_ = true;
    for (uint32_t n = 0; n < graph_->nodes().size(); ++n) {
      const DependencyNode& node = graph_->nodes()[n];
      if (node.kind == DependencyNode::Kind::kWork && node.span.end == end) last_ = n;
    }
  }
  if (first_ == kNoNode || last_ == kNoNode) return TakeWhole();
  if (!is_to_end_) return;
  Interval whole{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const results::DeviceStep& step : steps.device_steps()) {
    const bool is_one = step.window() == results::STEP_WINDOW_PERIOD &&
                        step.device() == series->device() && step.number() >= *first_step_ &&
                        step.number() <= *last_step_;
    if (!is_one) continue;
    whole.start = std::min(whole.start, step.start_ns());
    whole.end = std::max(whole.end, step.start_ns() + step.duration_ns());
  }
  const auto devices = context.devices(index);
  const DeviceTimeline& timeline = devices->all().at(series->device());
  const Interval inside = {start_ns(), graph_->nodes()[last_].span.end};
  const DeviceTimes before = timeline.Split({whole.start, inside.start});
  const DeviceTimes behind = timeline.Split({inside.end, whole.end});
  for (size_t i = 0; i < outside_.size(); ++i) outside_[i] = before[i] + behind[i];
}

int64_t StepGraph::SavedOutside(const DependencyGraph::Free& free) const {
  int64_t saved = 0;
  for (size_t i = 0; i < outside_.size(); ++i)
    if (free[i]) saved += outside_[i];
  return saved;
}

int64_t StepGraph::LengthOf(const PlayedGraph& played) const {
  const Interval& last = played.spans[last_];
  return (is_to_end_ ? last.end : last.start) - played.spans[first_].start;
}

int64_t StepGraph::LengthWithout(const DependencyGraph::Free& free, const FreeNodes& nodes) const {
  return LengthOf(graph_->Play(free, nodes));
}

int64_t StepGraph::OfStep(int64_t length_ns, int64_t outside_ns) const {
  const int64_t saved = std::clamp<int64_t>(length_ns_ - length_ns, 0, length_ns_) + outside_ns;
  return first_step_ ? saved / static_cast<int64_t>(*last_step_ - *first_step_ + 1) : saved;
}

int64_t StepGraph::SavedPerStep(const FreeNodes& nodes) const {
  return OfStep(LengthWithout({}, nodes), 0);
}

int64_t StepGraph::SavedPerStep(const DependencyGraph::Free& free) const {
  return OfStep(LengthWithout(free), SavedOutside(free));
}

FreeNodes StepGraph::NoneFree() const {
  FreeNodes nodes;
  nodes.own.resize(graph_->nodes().size(), false);
  nodes.before.resize(graph_->nodes().size(), false);
  return nodes;
}

uint32_t StepGraph::CorrelationOf(const DependencyNode& work) const {
  const Track& track = process_.tracks[work.track];
  switch (work.work) {
    case DeviceWorkKind::kKernel:
      return track.kernel.correlation[work.row];
    case DeviceWorkKind::kCopy:
      return track.memcpy.correlation[work.row];
    case DeviceWorkKind::kSet:
      return track.memset.correlation[work.row];
    case DeviceWorkKind::kGraph:
      return track.graph_launch.correlation[work.row];
  }
  return 0;
}

void StepGraph::FreeWork(uint32_t node, FreeNodes* nodes) const {
  nodes->own[node] = true;
  // Before its work on the device, a call may copy to a buffer of its own.
  nodes->before[node] = true;
  const std::optional<Call> call = calls_.Find(CorrelationOf(graph_->nodes()[node]));
  if (call) FreeCall(call->track, call->row, nodes);
}

template <typename Visit>
void StepGraph::ForEachNodeOfCall(uint32_t track, uint32_t row, Visit&& visit) const {
  if (call_nodes_.empty()) {
    for (uint32_t n = 0; n < graph_->nodes().size(); ++n) {
      const DependencyNode& node = graph_->nodes()[n];
      if (node.kind != DependencyNode::Kind::kWork)
        call_nodes_.emplace_back(Key(node.track, node.row), n);
    }
    std::sort(call_nodes_.begin(), call_nodes_.end());
  }
  auto at = std::lower_bound(call_nodes_.begin(), call_nodes_.end(),
                             std::pair<uint64_t, uint32_t>(Key(track, row), 0));
  for (; at != call_nodes_.end() && at->first == Key(track, row); ++at) visit(at->second);
}

void StepGraph::FreeCall(uint32_t track, uint32_t row, FreeNodes* nodes) const {
  ForEachNodeOfCall(track, row, [&](uint32_t n) { nodes->own[n] = true; });
}

void StepGraph::FreeLaunch(uint32_t node, FreeNodes* nodes) const {
  nodes->before[node] = true;
  const std::optional<Call> call = calls_.Find(CorrelationOf(graph_->nodes()[node]));
  if (!call) return;
  ForEachNodeOfCall(call->track, call->row, [&](uint32_t n) {
    nodes->own[n] = true;
    nodes->before[n] = true;
  });
}

}  // namespace gpuprof::analysis
