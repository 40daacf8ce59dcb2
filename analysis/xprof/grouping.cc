// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See grouping.h.

#include "analysis/xprof/grouping.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/xprof/event_graph.h"
#include "analysis/xprof/thread_pool.h"

namespace gpuprof::analysis::xprof {
namespace {

bool IsDevice(const Plane& plane) {
  return plane.name.starts_with("/device:") || plane.name.starts_with("/virtualdevice:") ||
         plane.name.starts_with("#Chip");
}

bool IsHost(const Plane& plane) {
  return plane.name.starts_with(kHostPlane) || plane.name == "Host CPUs" ||
         plane.name == "Syscalls" || plane.name == "/host:tfstreamz" ||
         plane.name == kMetadataPlane;
}

bool HasGroups(const Space& space) {
  return std::all_of(space.planes.begin(), space.planes.end(), [](const Plane& plane) {
    return (!IsDevice(plane) && !IsHost(plane)) || plane.has_group_stat;
  });
}

bool HasLoopOps(const Space& space) {
  for (const Plane& plane : space.planes)
    for (const EventName& name : plane.names)
      if (name.type == EventType::kLoopOp) return true;
  return false;
}

class Grouping {
 public:
  explicit Grouping(EventGraph* graph) : graph_(*graph), nodes_(graph->nodes()) {}

  void Run() {
    FindStepsOfTfData();
    FindLoops();
    if (loop_roots_.empty()) {
      GroupRoots();
    } else {
      for (const uint32_t root : loop_roots_) MakeGroup(root);
    }
    MarkEager();
  }

 private:
  void FindStepsOfTfData();
  void FindLoops();
  void GroupRoots();
  bool NeedsGroup(uint32_t root);
  void MakeGroup(uint32_t root);
  bool IsImplicit(const EventGraph::Node& node) const;
  std::string NameOfGroup(uint32_t root, int64_t group);
  void MarkEager();

  EventGraph& graph_;
  std::vector<EventGraph::Node>& nodes_;
  std::set<int64_t> tf_data_steps_;
  std::vector<uint32_t> loop_roots_;
  int64_t next_group_ = 0;
};

// Steps in which tf.data runs a function are no steps of the program.
void Grouping::FindStepsOfTfData() {
  for (const EventGraph::Node& node : nodes_) {
    if (node.type != EventType::kCapturedFunction) continue;
    if (const Stat* step = graph_.Find(node, StatKey::kStepId))
      tf_data_steps_.insert(step->Signed());
  }
}

void Grouping::FindLoops() {
  struct Iteration {
    uint32_t first = 0;
    std::vector<uint32_t> events;
  };
  std::map<int64_t, std::map<int64_t, Iteration>> loops;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].type != EventType::kExecutorProcess) continue;
    const Stat* const step = graph_.Find(nodes_[i], StatKey::kStepId);
    const Stat* const number = graph_.Find(nodes_[i], StatKey::kIterNum);
    if (step == nullptr || number == nullptr || tf_data_steps_.contains(step->Signed())) continue;
    Iteration& iteration = loops[step->Signed()][number->Signed()];
    if (iteration.events.empty() || graph_.IsEarlier(i, iteration.first)) iteration.first = i;
    iteration.events.push_back(i);
  }
  std::vector<const Iteration*> iterations;
  for (const auto& [step, loop] : loops) {
    if (loop.size() == 1 && loop.contains(0)) continue;  // a function that runs once
    for (const auto& [number, iteration] : loop) iterations.push_back(&iteration);
  }
  std::stable_sort(
      iterations.begin(), iterations.end(),
      [&](const Iteration* x, const Iteration* y) { return graph_.IsEarlier(x->first, y->first); });
  for (const Iteration* iteration : iterations) {
    loop_roots_.push_back(iteration->first);
    for (const uint32_t event : iteration->events)
      if (event != iteration->first) graph_.Connect(iteration->first, event);
  }
}

bool Grouping::NeedsGroup(uint32_t root) {
  if (nodes_[root].has_group) return false;
  const auto level = nodes_[root].root_level;
  return !graph_.FindAbove(root, false,
                           [&](uint32_t above) { return nodes_[above].root_level == level; });
}

void Grouping::GroupRoots() {
  std::vector<uint32_t> roots;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].root_level) continue;
    const Stat* const step = graph_.Find(nodes_[i], StatKey::kStepId);
    if (step == nullptr || !tf_data_steps_.contains(step->Signed())) roots.push_back(i);
  }
  std::stable_sort(roots.begin(), roots.end(), [&](uint32_t x, uint32_t y) {
    const auto level_x = nodes_[x].root_level, level_y = nodes_[y].root_level;
    return level_x != level_y ? level_x > level_y : graph_.IsEarlier(x, y);
  });
  for (const uint32_t root : roots)
    if (NeedsGroup(root)) MakeGroup(root);
}

bool Grouping::IsImplicit(const EventGraph::Node& node) const {
  const std::string_view line = graph_.LineOf(node).name;
  return node.type == EventType::kFunctionRun || node.type == EventType::kSessionRun ||
         node.type == EventType::kRunGraph || node.type == EventType::kExecutorProcess ||
         line == "Steps" || line == "Sparse Core Steps" || line == "XLA Modules" ||
         line == "Sparse Core Modules";
}

void Grouping::MakeGroup(uint32_t root) {
  const int64_t group = next_group_++;
  graph_.Spread(root, group);
  if (IsImplicit(nodes_[root])) return;
  EventGraph::Node& node = nodes_[root];
  std::string name = NameOfGroup(root, node.has_group ? node.group : 0);
  Event& event = graph_.EventOf(node);
  event.step_name = static_cast<uint32_t>(node.plane->step_names.size());
  node.plane->step_names.push_back(std::move(name));
}

std::string Grouping::NameOfGroup(uint32_t root, int64_t group) {
  const auto find = [&](StatKey key) -> const Stat* {
    const Stat* found = nullptr;
    graph_.FindAbove(root, true, [&](uint32_t above) {
      found = graph_.Find(nodes_[above], key);
      return found != nullptr;
    });
    return found;
  };
  const Stat* const type = find(StatKey::kGraphType);
  std::string name(type != nullptr ? type->Text() : graph_.NameOf(nodes_[root]).name);
  const Stat* number = find(StatKey::kIterNum);
  if (number == nullptr) number = find(StatKey::kStepNum);
  return name + " " + std::to_string(number != nullptr ? number->Signed() : group);
}

// Work is eager if the nearest EagerExecute above it runs no function. The search goes down from
// all of them at once: a search up from each event would walk a deep stack again and again.
void Grouping::MarkEager() {
  constexpr uint32_t kFar = UINT32_MAX;
  std::vector<uint32_t> distance(nodes_.size(), kFar), nearest(nodes_.size(), kFar), queue;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].type != EventType::kEagerExecute) continue;
    distance[i] = 0;
    nearest[i] = i;
    queue.push_back(i);
  }
  for (size_t at = 0; at < queue.size(); ++at) {
    const uint32_t node = queue[at];
    if (distance[node] != 0) {
      for (const uint32_t parent : nodes_[node].parents) {
        if (distance[parent] != distance[node] - 1) continue;
        nearest[node] = nearest[parent];
        break;
      }
    }
    for (const uint32_t child : nodes_[node].children) {
      if (distance[child] != kFar) continue;
      distance[child] = distance[node] + 1;
      queue.push_back(child);
    }
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    EventGraph::Node& node = nodes_[i];
    if (node.type != EventType::kKernelExecute && node.type != EventType::kTfOpRun) continue;
    bool is_eager = false;
    if (nearest[i] != kFar) {
      const Stat* const function = graph_.Find(nodes_[nearest[i]], StatKey::kIsFunc);
      is_eager = function != nullptr && function->Signed() == 0;
    }
    graph_.EventOf(node).is_eager = is_eager;
  }
}

// XProf ties iterations of TensorFlow's executor to work of TPUs, and forgets what else they give
// work to.
void ForgetWorkOfIterations(Plane* plane) {
  for (const Line& line : plane->lines) {
    for (const Event& event : line.events) {
      if (plane->names[event.name].type != EventType::kExecutorProcess ||
          plane->Find(event, StatKey::kStepId) == nullptr ||
          plane->Find(event, StatKey::kIterNum) == nullptr)
        continue;
      for (uint32_t i = event.first_stat; i < event.first_stat + event.stats; ++i) {
        StatKey& key = plane->event_stats[i].key;
        if (key == StatKey::kProducerType || key == StatKey::kProducerId) key = StatKey::kOther;
      }
    }
  }
}

// Returns the events of the plane's own lines, in the order of time.
std::vector<std::pair<Span, Event*>> SortedEvents(Plane* plane) {
  std::vector<std::pair<Span, Event*>> events;
  for (Line& line : plane->lines) {
    if (IsDerivedLine(line.id)) continue;
    for (Event& event : line.events) events.emplace_back(line.SpanOf(event), &event);
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  return events;
}

// Work without a group is in the group of the work before it. Work of one group in a row is a step.
void AddStepsOfGpu(Plane* plane) {
  Line steps;
  steps.id = kStepsLine;
  steps.name = "Steps";
  // A line of that id in the file is taken over, and begins with the plane.
  const auto own = std::find_if(plane->lines.begin(), plane->lines.end(),
                                [](const Line& line) { return line.id == kStepsLine; });
  if (own != plane->lines.end()) steps.events = std::move(own->events);
  int64_t plane_begin_ns = plane->lines.empty() ? 0 : INT64_MAX;
  for (const Line& line : plane->lines)
    plane_begin_ns = std::min(plane_begin_ns, line.timestamp_ns);
  steps.timestamp_ns = plane_begin_ns;
  std::optional<int64_t> group;
  std::optional<Span> span;
  const auto name = static_cast<uint32_t>(plane->names.size());
  plane->names.push_back({});
  const auto end_step = [&] {
    if (!span) return;
    Event event;
    event.name = name;
    event.offset =
        static_cast<int64_t>(span->begin - static_cast<uint64_t>(steps.timestamp_ns) * 1000);
    event.duration = static_cast<int64_t>(span->duration);
    event.group = *group;
    event.has_group = true;
    steps.events.push_back(event);
    span.reset();
  };
  for (const auto& [event_span, event] : SortedEvents(plane)) {
    if (!event->has_group && !group) continue;
    if (!event->has_group) {
      event->has_group = true;
      event->group = *group;
    }
    if (group != event->group) end_step();
    group = event->group;
    if (span) {
      span->Extend(event_span);
    } else {
      span = event_span;
    }
  }
  end_step();
  if (own != plane->lines.end()) {
    *own = std::move(steps);
  } else if (!steps.events.empty()) {
    plane->lines.push_back(std::move(steps));
  }
}

}  // namespace

Error GroupEvents(Space* space) {
  if (HasGroups(*space)) return {};
  for (Plane& plane : space->planes) {
    AddThreadPoolRegions(&plane);
    ForgetWorkOfIterations(&plane);
  }
  if (!HasLoopOps(*space)) {
    EventGraph graph;
    if (Error error = graph.Build(space)) return error;
    Grouping(&graph).Run();
    if (graph.is_exhausted()) {
      return Unreadable(
          "the events of the file are tied to each other too much: XProf's pages cannot be made "
          "within a reasonable time");
    }
  }
  for (Plane* plane : space->PlanesWithPrefix(kGpuPrefix)) AddStepsOfGpu(plane);
  return {};
}

}  // namespace gpuprof::analysis::xprof
