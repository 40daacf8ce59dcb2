// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_events.h.

#include "analysis/xprof/step_events.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <utility>

namespace gpuprof::analysis::xprof {
namespace {

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// XProf takes each event whose name begins with these words for the mark of a step.
bool IsMarkName(std::string_view name) {
  return (name.starts_with("train") || name.starts_with("test") ||
          name.starts_with("TraceContext")) &&
         !Has(name, "/");
}

bool IsWork(std::string_view name) {
  return !name.starts_with("EagerExecute") && !name.starts_with("EagerLocalExecute") &&
         !name.starts_with("EagerKernelExecute") && !name.starts_with("FunctionRun") &&
         !IsMarkName(name);
}

StepTime TypeOnHost(const EventName& event, bool is_root_stage) {
  const bool is_infeed =
      event.op.category == OpCategory::kTensorFlow && IsInfeedEnqueue(event.op.type);
  if (is_infeed || event.op.category == OpCategory::kMemcpyHToD) return StepTime::kHostToDevice;
  if (event.op.category == OpCategory::kMemcpyHToH) return StepTime::kHostToHost;
  if (is_root_stage || StartsWithIgnoringCase(event.name, "IteratorGetNext"))
    return StepTime::kHostWaitInput;
  return StepTime::kHostCompute;
}

// The names of XLA's own copies, as MemcpyH2D, are none of these: they count as 32-bit work.
StepTime TypeOnDevice(const EventName& event, std::string_view shapes) {
  switch (event.op.category) {
    case OpCategory::kMemcpyHToD:
      return StepTime::kHostToDevice;
    case OpCategory::kMemcpyDToH:
      return StepTime::kDeviceToHost;
    case OpCategory::kMemcpyDToD:
      return StepTime::kDeviceToDevice;
    default:
      break;
  }
  if (StartsWithIgnoringCase(event.name, "nccl")) return StepTime::kDeviceCollectives;
  const bool is_half =
      shapes.empty() ? Has(event.name, "half") || Has(event.name, "fp16") : Has(shapes, "half");
  return is_half ? StepTime::kDeviceCompute16 : StepTime::kDeviceCompute32;
}

void AddLineOfDevice(const Plane& plane, const Line& line, StepEvents* steps) {
  for (const Event& event : line.events) {
    int64_t correlation = -1;
    std::string_view shapes;
    for (const Stat& stat : plane.StatsOf(event)) {
      if (stat.key == StatKey::kCorrelationId) correlation = stat.Signed();
      if (stat.key == StatKey::kShape) shapes = stat.Text();
    }
    if (correlation < 0 || !event.has_group || event.group < 0) continue;
    (*steps)[event.group].spans.push_back(
        {TypeOnDevice(plane.names[event.name], shapes), line.SpanOf(event)});
  }
}

Span SpanOfStep(const Plane& plane, const Line& line, const Event& event) {
  const Stat* const offset = plane.Find(event, StatKey::kDeviceOffset);
  const Stat* const duration = plane.Find(event, StatKey::kDeviceDuration);
  if (offset != nullptr && duration != nullptr) return {offset->Whole(), duration->Whole()};
  return line.SpanOf(event);
}

// Steps that have both work and a mark.
StepEvents StepsOfGpu(const Plane& plane) {
  StepEvents marks, steps;
  for (const Line& line : plane.lines) {
    if (line.id == kStepsLine) {
      marks.clear();
      for (const Event& event : line.events) {
        if (event.has_group)
          marks[event.group].marks.push_back({true, SpanOfStep(plane, line, event)});
      }
    } else if (!IsDerivedLine(line.id)) {
      AddLineOfDevice(plane, line, &steps);
    }
  }
  std::erase_if(steps, [&](const auto& step) { return !marks.contains(step.first); });
  for (auto& [group, details] : steps) details.marks = std::move(marks[group].marks);
  return steps;
}

void Append(StepDetails&& from, StepDetails* to) {
  to->marks.insert(to->marks.end(), from.marks.begin(), from.marks.end());
  to->spans.insert(to->spans.end(), from.spans.begin(), from.spans.end());
  if (to->name.empty()) to->name = std::move(from.name);
}

using Contexts = std::set<std::pair<uint64_t, uint64_t>>;

Contexts ProducersOf(const Plane& host) {
  Contexts found;
  for (const Line& line : host.lines) {
    for (const Event& event : line.events) {
      const Stat* const type = host.Find(event, StatKey::kProducerType);
      const Stat* const id = host.Find(event, StatKey::kProducerId);
      if (type != nullptr && id != nullptr) found.emplace(type->Whole(), id->Whole());
    }
  }
  return found;
}

// Which stages of the input pipeline lie in no other one.
class StageStack {
 public:
  // Adds the next event of a line. Returns whether it is an outermost stage.
  bool Push(bool is_stage, bool is_below_stage, const Span& span) {
    while (!stack_.empty() && !stack_.back().span.Includes(span)) stack_.pop_back();
    if (!stack_.empty())
      is_below_stage = is_below_stage || stack_.back().is_stage || stack_.back().is_below_stage;
    stack_.push_back({is_stage, is_below_stage, span});
    return is_stage && !is_below_stage;
  }

 private:
  struct Entry {
    bool is_stage = false, is_below_stage = false;
    Span span;
  };
  std::vector<Entry> stack_;
};

void AddLineOfHost(const Plane& host, const Line& line, const Contexts& producers,
                   StepEvents* steps) {
  StageStack stages;
  for (const Event& event : line.events) {
    std::string_view stage;
    const Stat *type = nullptr, *id = nullptr;
    for (const Stat& stat : host.StatsOf(event)) {
      if (stat.key == StatKey::kStageName) stage = stat.Text();
      if (stat.key == StatKey::kConsumerType) type = &stat;
      if (stat.key == StatKey::kConsumerId) id = &stat;
    }
    const bool is_given =
        type != nullptr && id != nullptr && producers.contains({type->Whole(), id->Whole()});
    const Span span = line.SpanOf(event);
    const bool is_root_stage = stages.Push(!stage.empty(), is_given, span);
    if (!event.has_group || event.group < 0) continue;
    const EventName& name = host.names[event.name];
    const std::string_view step = event.step_name == Event::kNoStep
                                      ? std::string_view()
                                      : std::string_view(host.step_names[event.step_name]);
    // The last name of a line counts, and the first line with a name.
    if (IsMarkName(name.name) || !step.empty()) {
      (*steps)[event.group].marks.push_back({false, span});
    } else if (IsWork(name.name)) {
      (*steps)[event.group].spans.push_back({TypeOnHost(name, is_root_stage), span});
    }
    if (!step.empty()) (*steps)[event.group].name = step;
  }
}

struct Edge {
  uint64_t time = 0;
  StepTime type = StepTime::kUnknown;
  bool is_begin = false;

  // Ends come before begins.
  bool operator<(const Edge& other) const {
    if (time != other.time) return time < other.time;
    if (is_begin != other.is_begin) return !is_begin;
    return type > other.type;
  }
};

std::vector<StepSpan> WithoutOverlap(const std::vector<StepSpan>& spans) {
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size());
  for (const StepSpan& span : spans) {
    edges.push_back({span.span.begin, span.type, true});
    edges.push_back({span.span.end(), span.type, false});
  }
  std::sort(edges.begin(), edges.end());
  std::vector<StepSpan> parts;
  std::array<int64_t, 256> open = {};
  auto highest = static_cast<int>(StepTime::kUnknown);
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    const auto type = static_cast<int>(edges[i].type);
    open[static_cast<size_t>(type)] += edges[i].is_begin ? 1 : -1;
    if (edges[i].is_begin) {
      highest = std::max(highest, type);
    } else if (type == highest && open[static_cast<size_t>(type)] == 0) {
      while (highest > 0 && open[static_cast<size_t>(highest)] <= 0) --highest;
    }
    parts.push_back(
        {static_cast<StepTime>(highest), Span::Between(edges[i].time, edges[i + 1].time)});
  }
  return parts;
}

}  // namespace

Span StepDetails::Time() const {
  Span host, device;
  for (const StepMark& mark : marks) {
    Span& longest = mark.is_device ? device : host;
    if (mark.span.duration > longest.duration) longest = mark.span;
  }
  return device.empty() || host.Includes(device) ? host : device;
}

StepEvents StepsOfGpus(Space* space) {
  StepEvents all;
  for (const Plane* plane : space->PlanesWithPrefix(kGpuPrefix))
    for (auto& [group, details] : StepsOfGpu(*plane)) Append(std::move(details), &all[group]);
  return all;
}

StepEvents StepsOfHost(const Plane& host) {
  const Contexts producers = ProducersOf(host);
  StepEvents all;
  for (const Line& line : host.lines) {
    StepEvents of_line;
    AddLineOfHost(host, line, producers, &of_line);
    for (auto& [group, details] : of_line) Append(std::move(details), &all[group]);
  }
  return all;
}

void Sweep(StepEvents* steps) {
  for (auto& [group, details] : *steps) details.spans = WithoutOverlap(details.spans);
}

}  // namespace gpuprof::analysis::xprof
