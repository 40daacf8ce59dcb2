// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// OpsOfHost: which operations the threads of a host run, and for how long without those within
// them.

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/xprof/op_metrics.h"

namespace gpuprof::analysis::xprof {
namespace {

struct HostOp {
  std::string_view name, type;
  uint64_t id = 0;  // of the stage, if the event tells one
};

using HostOps = std::unordered_map<int64_t, HostOp>;

// XProf looks operations up by the number of their name, or by the number of their stage: the two
// may be mixed up.
HostOps CollectOps(const Plane& host) {
  HostOps ops;
  for (const Line& line : host.lines) {
    for (const Event& event : line.events) {
      const EventName& name = host.names[event.name];
      if (name.name.empty()) continue;
      if (const Stat* stage = host.Find(event, StatKey::kStageId)) {
        const Stat* const category = host.Find(event, StatKey::kStageCategory);
        if (category == nullptr) continue;
        HostOp op = {name.name, category->Text(), static_cast<uint64_t>(stage->Signed())};
        if (op.type.empty()) {
          const OpName parsed = ParseOpName(name.name);
          const bool is_copy = name.name.find(':') == std::string_view::npos &&
                               parsed.category != OpCategory::kUnknown;
          op = {parsed.name, parsed.type, is_copy ? 0 : op.id};
        }
        ops.try_emplace(stage->Signed(), op);
      } else if (name.op.category != OpCategory::kUnknown) {
        ops.try_emplace(name.id, HostOp{name.op.name, name.op.type, 0});
      }
    }
  }
  return ops;
}

// The begin or the end of an operation on a thread.
struct Activity {
  uint64_t time = 0;
  uint32_t number = 0;  // of the occurrence
  bool is_begin = false;
  bool is_eager = false;
  HostOp op;
};

std::vector<Activity> ActivitiesOf(const Plane& host, const Line& line, const HostOps& ops) {
  std::vector<Activity> activities;
  if (IsDerivedLine(line.id)) return activities;
  uint32_t number = 0;
  for (const Event& event : line.events) {
    const Span span = line.SpanOf(event);
    const auto add = [&](const HostOp& op, bool is_eager) {
      ++number;
      activities.push_back({span.begin, number, true, is_eager, op});
      activities.push_back({span.end(), number, false, is_eager, op});
    };
    const Stat* const stage = host.Find(event, StatKey::kStageId);
    const auto found = ops.find(stage != nullptr ? stage->Signed() : host.names[event.name].id);
    if (found != ops.end()) add(found->second, event.is_eager);
    const Stat* const annotation = host.Find(event, StatKey::kTfOp);
    if (annotation == nullptr || annotation->Text().empty()) continue;
    const OpName op = ParseOpName(annotation->Text());
    add({op.name, op.type, 0}, false);
  }
  // An operation that ends with the one around it ends after it: it is then lost.
  std::stable_sort(activities.begin(), activities.end(),
                   [](const Activity& x, const Activity& y) { return x.time < y.time; });
  return activities;
}

OpMetricsDb OpsOfThread(const std::vector<Activity>& activities) {
  struct Open {
    uint32_t number = 0;
    uint64_t begin = 0, children_ps = 0;
  };
  OpMetricsDb db;
  std::vector<Open> stack;
  std::optional<Span> enqueue;
  for (const Activity& activity : activities) {
    if (activity.is_begin) {
      stack.push_back({activity.number, activity.time, 0});
      continue;
    }
    std::optional<Open> open;
    while (!stack.empty() && !open) {
      if (stack.back().number == activity.number) open = stack.back();
      stack.pop_back();
    }
    if (!open) continue;
    const Span span = Span::Between(open->begin, activity.time);
    OpMetrics& op = db.Find(activity.op.id, activity.op.name);
    if (op.category.empty()) op.category = activity.op.type;
    op.is_eager = op.is_eager || activity.is_eager;
    ++op.occurrences;
    op.time_ps += span.duration;
    op.self_time_ps += span.duration - open->children_ps;
    db.op_time_ps += span.duration - open->children_ps;
    if (!stack.empty()) stack.back().children_ps += span.duration;
    if (!IsInfeedEnqueue(activity.op.type)) continue;
    if (enqueue && !enqueue->empty()) {
      db.enqueue_ps += enqueue->duration;
      db.enqueue_begins_ps += span.begin - enqueue->begin;
    }
    enqueue = span;
  }
  db.Close(activities.empty() ? 0 : activities.back().time - activities.front().time);
  return db;
}

}  // namespace

OpMetricsDb OpsOfHost(const Plane& host) {
  const HostOps ops = CollectOps(host);
  OpMetricsDb all;
  for (const Line& line : host.lines) all.Combine(OpsOfThread(ActivitiesOf(host, line, ops)));
  return all;
}

}  // namespace gpuprof::analysis::xprof
