// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `critical_path`: the path through analysis/derived/dependency_graph.h over the typical
// step and the step behind it. Loops are pipelined: two steps show what one step cannot.

#include "analysis/passes/critical_path.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/dependency_graph.h"
#include "analysis/derived/leaf_spans.h"
#include "analysis/passes/device_steps.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/passes/sampled_activity.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/module_symbols.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {
namespace {

using results::TimeCategory;

// The window of a path: from the begin of one node to the begin or the end of another.
struct PathWindow {
  uint32_t first = kNoNode;
  uint32_t last = kNoNode;
  bool to_end = false;
  std::optional<uint64_t> first_step = std::nullopt, last_step = std::nullopt;
};

// Returns the window of the whole graph: to the work that ended last.
PathWindow WholeWindow(const DependencyGraph& graph) {
  PathWindow window;
  window.to_end = true;
  for (uint32_t n = 0; n < graph.nodes().size(); ++n) {
    const DependencyNode& node = graph.nodes()[n];
    if (node.kind != DependencyNode::Kind::kWork) continue;
    if (window.first == kNoNode) window.first = n;
    if (window.last == kNoNode || node.span.end > graph.nodes()[window.last].span.end)
      window.last = n;
  }
  return window;
}

// Returns the window of the typical step and its neighbour, on the device with most kernels.
PathWindow WindowOf(const DependencyGraph& graph, const Process& process,
                    const results::Steps& steps) {
  const results::DeviceSeries* series = nullptr;
  for (const results::DeviceSeries& each : steps.device_series()) {
    const bool is_own = each.window() == results::STEP_WINDOW_DEVICE;
    if (is_own && (series == nullptr || each.busy_ns() > series->busy_ns())) series = &each;
  }
  if (series == nullptr) return WholeWindow(graph);
  std::vector<const results::DeviceStep*> own;
  for (const results::DeviceStep& step : steps.device_steps()) {
    if (step.window() == results::STEP_WINDOW_DEVICE && step.device() == series->device())
      own.push_back(&step);
  }
  size_t typical = 0;
  while (own[typical]->number() != series->typical_number()) ++typical;
  // The last step ends with its own work: a step with another one behind it says more.
  const size_t first = typical + 2 < own.size() ? typical : own.size() >= 3 ? own.size() - 3 : 0;
  const size_t last = std::min(first + 1, own.size() - 1);
  const size_t main = MainStream(process, series->device());
  PathWindow window;
  window.first = graph.FindWork(static_cast<uint32_t>(main), own[first]->start_ns());
  window.first_step = own[first]->number();
  window.last_step = own[last]->number();
  if (last + 1 < own.size()) {
    window.last = graph.FindWork(static_cast<uint32_t>(main), own[last + 1]->start_ns());
  } else {
    const int64_t end = own[last]->start_ns() + own[last]->duration_ns();
    window.to_end = true;
    for (uint32_t n = 0; n < graph.nodes().size(); ++n) {
      const DependencyNode& node = graph.nodes()[n];
      if (node.kind == DependencyNode::Kind::kWork && node.span.end == end) window.last = n;
    }
  }
  return window.first == kNoNode || window.last == kNoNode ? WholeWindow(graph) : window;
}

int64_t LengthOf(const PlayedGraph& played, const PathWindow& window) {
  const Interval& last = played.spans[window.last];
  return (window.to_end ? last.end : last.start) - played.spans[window.first].start;
}

struct Subject {
  results::WhatIfSubject subject;
  std::vector<TimeCategory> categories;
};

const std::vector<Subject>& Subjects() {
  static const std::vector<Subject> kSubjects = {
      {results::WHAT_IF_COMPUTE,
       {results::TIME_CATEGORY_COMPUTE_FP64, results::TIME_CATEGORY_COMPUTE_FP32,
        results::TIME_CATEGORY_COMPUTE_TF32, results::TIME_CATEGORY_COMPUTE_BF16,
        results::TIME_CATEGORY_COMPUTE_FP16, results::TIME_CATEGORY_COMPUTE_FP8,
        results::TIME_CATEGORY_COMPUTE_INT8, results::TIME_CATEGORY_COMPUTE_FP4,
        results::TIME_CATEGORY_COMPUTE_UNKNOWN, results::TIME_CATEGORY_GRAPH}},
      {results::WHAT_IF_COLLECTIVES, {results::TIME_CATEGORY_COLLECTIVE}},
      {results::WHAT_IF_COPIES,
       {results::TIME_CATEGORY_COPY_HTOD, results::TIME_CATEGORY_COPY_DTOH,
        results::TIME_CATEGORY_COPY_DTOD}},
      {results::WHAT_IF_HOST,
       {results::TIME_CATEGORY_INPUT, results::TIME_CATEGORY_OUTPUT, results::TIME_CATEGORY_COMPILE,
        results::TIME_CATEGORY_PROFILER, results::TIME_CATEGORY_HOST}},
      {results::WHAT_IF_INPUT, {results::TIME_CATEGORY_INPUT}},
      {results::WHAT_IF_COMPILE, {results::TIME_CATEGORY_COMPILE}},
      {results::WHAT_IF_LAUNCHES, {results::TIME_CATEGORY_LAUNCH}},
      {results::WHAT_IF_SYNC, {results::TIME_CATEGORY_SYNC}},
      {results::WHAT_IF_PROFILER, {results::TIME_CATEGORY_PROFILER}}};
  return kSubjects;
}

// A wait for the device that is left out does not hold up the host.
DependencyGraph::Free FreeOf(const Subject& subject) {
  DependencyGraph::Free free{};
  for (const TimeCategory category : subject.categories) free[category] = true;
  return free;
}

// Sums up what the pieces of a path are.
class PathShares {
 public:
  PathShares(const ProcessOps& ops, const DependencyGraph& graph)
      : ops_(ops), process_(ops.process()), graph_(graph) {}

  void Add(const PathPiece& piece) {
    if (piece.node != kNoNode) return AddNode(piece);
    if (piece.category == results::TIME_CATEGORY_LAUNCH)
      return Add(results::PATH_SHARE_LAUNCH, "", piece.span.length());
    if (piece.category == results::TIME_CATEGORY_DEPENDENCY)
      return Add(results::PATH_SHARE_DEPENDENCY, "", piece.span.length());
    AddHost(graph_.nodes()[piece.to].track, piece.span);
  }

  void Fill(int64_t all_ns, results::CriticalPath* out) const {
    for (const auto& [key, share] : shares_) {
      results::PathShare* row = out->add_shares();
      row->set_kind(key.first);
      row->set_name(key.second);
      row->set_total_ns(share.first);
      row->set_total_ratio(Ratio(share.first, all_ns));
      row->set_count(share.second);
    }
    SortFalling(out->mutable_shares(), [](const auto& row) { return row.total_ns(); });
    SetShortNames(out);
  }

 private:
  static void SetShortNames(results::CriticalPath* out) {
    std::set<std::string> kernels;
    for (const results::PathShare& share : out->shares())
      if (share.kind() == results::PATH_SHARE_KERNEL) kernels.insert(share.name());
    const std::map<std::string, std::string> names = ShortKernelNames(kernels);
    for (results::PathShare& share : *out->mutable_shares()) {
      share.set_short_name(share.kind() == results::PATH_SHARE_KERNEL ? names.at(share.name())
                                                                      : share.name());
    }
  }

  void Add(results::PathShareKind kind, const std::string& name, int64_t ns) {
    auto& [sum, count] = shares_[{kind, name}];
    sum += ns;
    ++count;
  }

  void AddNode(const PathPiece& piece) {
    const DependencyNode& node = graph_.nodes()[piece.node];
    const Track& track = process_.tracks[node.track];
    if (node.kind != DependencyNode::Kind::kWork)
      return Add(results::PATH_SHARE_CALL, ApiFunctionName(process_, track.api.function[node.row]),
                 piece.span.length());
    switch (node.work) {
      case DeviceWorkKind::kKernel: {
        const auto found = process_.signatures.find(track.kernel.signature[node.row]);
        const uint32_t name = found == process_.signatures.end() ? 0 : found->second.name();
        return Add(results::PATH_SHARE_KERNEL, Demangle(process_.String(name).c_str()),
                   piece.span.length());
      }
      case DeviceWorkKind::kGraph:
        return Add(results::PATH_SHARE_GRAPH, "", piece.span.length());
      case DeviceWorkKind::kCopy:
      case DeviceWorkKind::kSet:
        break;
    }
    Add(results::PATH_SHARE_COPY, "", piece.span.length());
  }

  void AddHost(uint32_t thread, Interval span) {
    const auto [at, is_new] = leaves_.try_emplace(thread);
    const OpTable& ops = process_.tracks[thread].op;
    if (is_new) at->second = LeafSpans(ops.end_ns, ops.duration_ns);
    std::map<std::string, int64_t> here;
    int64_t named = 0;
    ForEachLeafIn(at->second, span, [&](uint32_t row, int64_t ns) {
      // The range of a step is not an operation.
      if (ops_.name_kind(ops.name[row]) == NameKind::kAnnotation) return;
      here[process_.String(ops.name[row])] += ns;
      named += ns;
    });
    for (const auto& [name, ns] : here) Add(results::PATH_SHARE_OPERATION, name, ns);
    if (named < span.length()) Add(results::PATH_SHARE_HOST, "", span.length() - named);
  }

  const ProcessOps& ops_;
  const Process& process_;
  const DependencyGraph& graph_;
  std::unordered_map<uint32_t, std::vector<LeafSpan>> leaves_;
  std::map<std::pair<results::PathShareKind, std::string>, std::pair<int64_t, uint64_t>> shares_;
};

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

}  // namespace

void ComputeCriticalPath(PassContext& context, size_t index, results::CriticalPaths* out) {
  const Process& process = context.process(index);
  results::Steps steps;
  AddDeviceSteps(context, index, &steps);
  if (steps.device_steps().empty()) return;  // no work, or too much
  KernelClasses classes(process);
  HostActivity host(&context.ops(index));
  const DependencyGraph graph(process, MainThread(context, index), context.calls(index),
                              &context.ops(index), &classes, &host);
  const PathWindow window = WindowOf(graph, process, steps);
  const PlayedGraph played = graph.Play({});
  results::CriticalPath* path = out->add_paths();
  SetProcess(process, path);
  if (window.first_step) path->set_first_step(*window.first_step);
  if (window.last_step) path->set_last_step(*window.last_step);
  path->set_start_ns(graph.nodes()[window.first].span.start);
  path->set_duration_ns(LengthOf(played, window));
  path->set_node_count(graph.nodes().size());
  path->set_edge_count(graph.edges().size());
  DeviceTimes times{};
  PathShares shares(context.ops(index), graph);
  for (const PathPiece& piece : CriticalPath(graph, window.last, window.to_end, path->start_ns())) {
    times[piece.category] += piece.span.length();
    shares.Add(piece);
  }
  AddTimes(times, path->duration_ns(), path->mutable_categories());
  shares.Fill(path->duration_ns(), path);
  for (const Subject& subject : Subjects()) {
    results::WhatIf what_if;
    what_if.set_subject(subject.subject);
    what_if.set_duration_ns(LengthOf(graph.Play(FreeOf(subject)), window));
    what_if.set_saved_ns(path->duration_ns() - what_if.duration_ns());
    what_if.set_saved_ratio(Ratio(what_if.saved_ns(), path->duration_ns()));
    if (what_if.saved_ns() > 0) *path->add_what_ifs() = what_if;
  }
  SortFalling(path->mutable_what_ifs(), [](const auto& row) { return row.saved_ns(); });
}

Error RunCriticalPath(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::CriticalPaths>();
  for (const size_t index : context.selected()) ComputeCriticalPath(context, index, out.get());
  context.FillCountMeta("critical_path", out->mutable_meta());
  AddSampledNote(context, "the path", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
