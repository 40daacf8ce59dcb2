// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `critical_path`: the path through analysis/derived/dependency_graph.h over two
// neighbouring steps of typical length.

#include "analysis/passes/critical_path.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/leaf_spans.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/step_graph.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/critical_path.pb.h"

namespace gpuprof::analysis {
namespace {

using results::TimeCategory;

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
    if (piece.to == kNoNode) return Add(results::PATH_SHARE_NONE, "", piece.span.length());
    AddHost(graph_.nodes()[piece.to].track, piece.span);
  }

  // Adds the time of a step before its first work and behind its last.
  void AddOutside(const DeviceTimes& times) {
    for (size_t i = 0; i < times.size(); ++i) {
      const auto category = static_cast<TimeCategory>(i);
      if (times[i] == 0) continue;
      const bool is_host =
          category >= results::TIME_CATEGORY_INPUT && category <= results::TIME_CATEGORY_HOST;
      Add(is_host                                     ? results::PATH_SHARE_HOST
          : category == results::TIME_CATEGORY_LAUNCH ? results::PATH_SHARE_LAUNCH
                                                      : results::PATH_SHARE_NONE,
          "", times[i]);
    }
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

void FillCriticalPath(PassContext& context, size_t index, const StepGraph& steps,
                      results::CriticalPath* path) {
  const DependencyGraph& graph = steps.graph();
  SetProcess(context.process(index), path);
  if (steps.first_step()) path->set_first_step(*steps.first_step());
  if (steps.last_step()) path->set_last_step(*steps.last_step());
  if (steps.typical_ns()) path->set_typical_step_ns(*steps.typical_ns());
  path->set_start_ns(steps.start_ns());
  const int64_t outside_ns =
      std::accumulate(steps.outside().begin(), steps.outside().end(), int64_t{0});
  path->set_duration_ns(steps.length_ns() + outside_ns);
  path->set_node_count(graph.nodes().size());
  path->set_edge_count(graph.edges().size());
  DeviceTimes times = steps.outside();
  PathShares shares(context.ops(index), graph);
  shares.AddOutside(times);
  for (const PathPiece& piece :
       CriticalPath(graph, steps.last_node(), steps.is_to_end(), steps.start_ns())) {
    times[piece.category] += piece.span.length();
    shares.Add(piece);
  }
  AddTimes(times, path->duration_ns(), path->mutable_categories());
  shares.Fill(path->duration_ns(), path);
  const DependencyGraph::Free present = graph.Present();
  for (const Subject& subject : Subjects()) {
    const bool is_present = std::any_of(
        subject.categories.begin(), subject.categories.end(), [&](results::TimeCategory category) {
          return present[category] || steps.outside()[category] != 0;
        });
    if (!is_present) continue;
    results::WhatIf what_if;
    what_if.set_subject(subject.subject);
    const DependencyGraph::Free free = FreeOf(subject);
    what_if.set_duration_ns(outside_ns - steps.SavedOutside(free) + steps.LengthWithout(free));
    what_if.set_saved_ns(path->duration_ns() - what_if.duration_ns());
    what_if.set_saved_ratio(Ratio(what_if.saved_ns(), path->duration_ns()));
    if (what_if.saved_ns() > 0) *path->add_what_ifs() = what_if;
  }
  SortFalling(path->mutable_what_ifs(), [](const auto& row) { return row.saved_ns(); });
}

}  // namespace

const ProcessPath& CriticalPathOf(PassContext& context, size_t index, const StepGraph* graph) {
  return context.kept_of_steps(index).Get<ProcessPath>([&] {
    ProcessPath made;
    std::unique_ptr<StepGraph> own;
    if (graph == nullptr) own = StepGraph::Make(context, index);
    if (graph == nullptr) graph = own.get();
    made.has_graph = graph != nullptr;
    if (made.has_graph) FillCriticalPath(context, index, *graph, &made.path);
    return made;
  });
}

Error RunCriticalPath(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::CriticalPaths>();
  for (const size_t index : context.selected()) {
    const ProcessPath& known = CriticalPathOf(context, index, nullptr);
    if (known.has_graph) *out->add_paths() = known.path;
  }
  context.FillCountMeta("critical_path", out->mutable_meta());
  AddSampledNote(context, "the path", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
