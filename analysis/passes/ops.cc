// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `ops`: framework operations by name and scope, total and self time. See passes.h.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/derived/origin.h"
#include "analysis/model/names.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/unpaired_spans.h"
#include "analysis/steps/statistics.h"
#include "proto/results/ops.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kNoGroup = 0xffffffffu;

std::string ScopeName(uint8_t scope) {
  const std::string_view known = OpScopeName(scope);
  return known.empty() ? "scope_" + std::to_string(scope) : std::string(known);
}

// A process; pids of two hosts may be the same.
struct Id {
  int32_t pid;
  size_t owner;  // PassContext::Owner
  auto operator<=>(const Id&) const = default;
};

// Returns the shapes of the inputs in an operation's detail (OpTable::detail). Empty: the detail
// tells no shape.
std::string ShapesIn(const std::string& detail) {
  constexpr std::string_view kKey = "\"Input Dims\":[";
  const size_t key = detail.find(kKey);
  if (key == std::string::npos) return "";
  const size_t begin = key + kKey.size() - 1;
  size_t end = begin;
  for (int depth = 0; end < detail.size(); ++end) {
    depth += detail[end] == '[' ? 1 : detail[end] == ']' ? -1 : 0;
    if (depth == 0) break;
  }
  return detail.substr(begin, end + 1 - begin);
}

struct Place {
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
};

struct Group {
  std::string name;
  std::string shapes;
  uint8_t scope = 0;
  Id process = {};
  int32_t tid = 0;
  Place all;
  int64_t sum_ns = 0, min_ns = 0, max_ns = 0;
  uint64_t incomplete = 0;
  uint64_t step_count = 0;
  int64_t step_self_ns = 0;
  std::map<Id, Place> places;
  std::set<std::pair<Id, int32_t>> threads;
  std::vector<int64_t> durations;
  int64_t device_ns = 0;       // of work launched within
  int64_t device_self_ns = 0;  // of work launched by the spans themselves
};

class Collector {
 public:
  Collector(PassContext& context, OpGrouping grouping, bool medians)
      : context_(context), grouping_(grouping), medians_(medians) {}

  void AddProcess(size_t index) {
    const Process& process = context_.process(index);
    id_ = {process.pid, context_.Owner(index)};
    const StepAnalysis& steps = context_.steps(index);
    if (steps.found()) step_ns_ += steps.series.total_ns();
    step_count_ += steps.found() ? steps.series.count() : 0;
    const std::vector<Interval> counted = steps.found() ? steps.Counted() : std::vector<Interval>();
    group_of_id_.clear();
    group_of_detail_.clear();
    group_of_row_.assign(process.tracks.size(), {});
    for (size_t i = 0; i < process.tracks.size(); ++i) {
      if (process.tracks[i].op.rows() == 0) continue;
      // A step is worked on by its own thread and by autograd's.
      const bool in_steps = !counted.empty() &&
                            (i == steps.detected.track || !context_.ops(index).Backward(i).empty());
      AddTrack(index, i, in_steps ? counted : std::vector<Interval>());
    }
    AddDeviceWork(index);
  }

  std::vector<Group>& groups() { return groups_; }
  int64_t step_ns() const { return step_ns_; }
  uint64_t step_count() const { return step_count_; }
  bool has_device_work() const { return has_device_work_; }
  int64_t device_ns() const { return device_ns_; }
  int64_t device_outside_ns() const { return device_outside_ns_; }
  const std::string& HostOf(Id id) const { return context_.process(id.owner).host; }

 private:
  // `detail`: string id of the inputs' shapes, if they divide the groups; else 0.
  uint32_t GroupOf(const Process& process, const Track& track, uint32_t id, uint8_t scope,
                   uint32_t detail) {
    // Within a thread an id and a scope mean one group.
    if (grouping_ == OpGrouping::kThread && track_ != &track) group_of_id_.clear();
    track_ = &track;
    const uint64_t key = static_cast<uint64_t>(id) << 8 | scope;
    auto& known = detail == 0 ? group_of_id_ : group_of_detail_[detail];
    uint32_t& number = known.try_emplace(key, kNoGroup).first->second;
    if (number != kNoGroup) return number;
    const bool is_of_all = grouping_ == OpGrouping::kName || grouping_ == OpGrouping::kShape;
    const Id of = is_of_all ? Id{} : id_;
    const int32_t tid = grouping_ == OpGrouping::kThread ? track.tid : 0;
    const std::string shapes = ShapesIn(process.String(detail));
    const auto [at, added] = group_of_name_.try_emplace(
        {process.String(id), scope, of, tid, shapes}, static_cast<uint32_t>(groups_.size()));
    if (added) {
      Group& group = groups_.emplace_back();
      group.name = process.String(id);
      group.shapes = shapes;
      group.scope = scope;
      group.process = of;
      group.tid = tid;
    }
    return number = at->second;
  }

  void AddTrack(size_t index, size_t track_index, const std::vector<Interval>& steps) {
    const Process& process = context_.process(index);
    const Track& track = process.tracks[track_index];
    const OpTree& tree = context_.ops(index).tree(track_index);
    const OpTable& table = track.op;
    std::vector<uint32_t>& group_of_row = group_of_row_[track_index];
    group_of_row.assign(table.rows(), kNoGroup);
    std::vector<Place> places;  // by group, of this track
    auto step = steps.rbegin();
    const bool by_shape = grouping_ == OpGrouping::kShape && !table.detail.empty();
    for (size_t i = 0; i < table.rows(); ++i) {
      const uint32_t row = tree.in_order(i);
      const uint32_t number = GroupOf(process, track, table.name[row],
                                      static_cast<uint32_t>(proto::OpScopeOf(table.operation[row])),
                                      by_shape ? table.detail[row] : 0);
      group_of_row[row] = number;
      if (number >= places.size()) places.resize(groups_.size());
      Group& group = groups_[number];
      const int64_t duration = table.duration_ns[row];
      const int64_t self = tree.self_ns(row);
      ++places[number].count;
      places[number].self_ns += self;
      if (!HasAncestor(tree, group_of_row, row)) places[number].total_ns += duration;
      const bool first = group.all.count++ == 0;
      group.sum_ns += duration;
      group.min_ns = first ? duration : std::min(group.min_ns, duration);
      group.max_ns = first ? duration : std::max(group.max_ns, duration);
      group.incomplete += (proto::FlagsOf(table.operation[row]) & proto::kFlagIncomplete) != 0;
      if (medians_) group.durations.push_back(duration);
      while (step != steps.rend() && tree.end(row) <= step->start) ++step;
      if (step != steps.rend() && tree.start(row) >= step->start && tree.end(row) <= step->end) {
        ++group.step_count;
        group.step_self_ns += self;
      }
    }
    for (uint32_t number = 0; number < places.size(); ++number) {
      const Place& place = places[number];
      if (place.count == 0) continue;
      Group& group = groups_[number];
      Place& there = group.places[id_];
      there.count += place.count;
      for (Place* sum : {&there, &group.all}) {
        sum->total_ns += place.total_ns;
        sum->self_ns += place.self_ns;
      }
      group.threads.emplace(id_, track.tid);
    }
  }

  // Gives the run time of each row of device work to the operation that launched it, and to the
  // operations around that one.
  void AddDeviceWork(size_t index) {
    const Process& process = context_.process(index);
    Origin origin(&context_.ops(index), context_.calls(index));
    ForEachDeviceWork(process, [&](const Track&, const DeviceWork& work) {
      const int64_t ns = work.span.length() * work.weight;
      has_device_work_ = true;
      device_ns_ += ns;
      const auto op = origin.Find(work.correlation, work.external);
      if (!op) {
        device_outside_ns_ += ns;
        return;
      }
      const OpTree& tree = context_.ops(index).tree(op->track);
      const std::vector<uint32_t>& groups = group_of_row_[op->track];
      groups_[groups[op->row]].device_self_ns += ns;
      for (uint32_t up = op->row; up != OpTree::kNone; up = tree.parent(up)) {
        if (!HasAncestor(tree, groups, up)) groups_[groups[up]].device_ns += ns;
      }
    });
  }

  static bool HasAncestor(const OpTree& tree, const std::vector<uint32_t>& group_of_row,
                          uint32_t row) {
    for (uint32_t up = tree.parent(row); up != OpTree::kNone; up = tree.parent(up)) {
      if (group_of_row[up] == group_of_row[row]) return true;
    }
    return false;
  }

  PassContext& context_;
  OpGrouping grouping_;
  bool medians_;
  Id id_ = {};  // of the process that is being added
  const Track* track_ = nullptr;
  std::vector<Group> groups_;
  std::map<std::tuple<std::string, uint8_t, Id, int32_t, std::string>, uint32_t> group_of_name_;
  std::unordered_map<uint32_t, std::unordered_map<uint64_t, uint32_t>> group_of_detail_;
  std::unordered_map<uint64_t, uint32_t> group_of_id_;  // without a detail
  std::vector<std::vector<uint32_t>> group_of_row_;  // by track, of the process that is being added
  int64_t step_ns_ = 0;
  uint64_t step_count_ = 0;
  bool has_device_work_ = false;
  int64_t device_ns_ = 0, device_outside_ns_ = 0;
};

void FillRow(Group& group, OpGrouping grouping, const Collector& all, int64_t self_ns, bool medians,
             results::Op* row) {
  row->set_name(group.name);
  row->set_scope(ScopeName(group.scope));
  row->set_count(group.all.count);
  row->set_total_ns(group.all.total_ns);
  row->set_self_ns(group.all.self_ns);
  if (medians) row->set_median_ns(Samples(std::move(group.durations)).median());
  row->set_mean_ns(group.sum_ns / static_cast<int64_t>(group.all.count));
  row->set_min_ns(group.min_ns);
  row->set_max_ns(group.max_ns);
  row->set_self_ratio(Ratio(group.all.self_ns, self_ns));
  if (all.step_count() > 0) {
    row->set_step_self_ns(group.step_self_ns);
    row->set_step_ratio(Ratio(group.step_self_ns, all.step_ns()));
    row->set_count_per_step(Ratio(group.step_count, all.step_count()));
  }
  if (all.has_device_work()) {
    row->set_device_ns(group.device_ns);
    row->set_device_self_ns(group.device_self_ns);
  }
  row->set_incomplete_count(group.incomplete);
  row->set_thread_count(static_cast<uint32_t>(group.threads.size()));
  row->set_process_count(static_cast<uint32_t>(group.places.size()));
  for (const auto& [id, place] : group.places) {
    results::OpPlace* out = row->add_places();
    out->set_pid(id.pid);
    out->set_host(all.HostOf(id));
    out->set_count(place.count);
    out->set_total_ns(place.total_ns);
    out->set_self_ns(place.self_ns);
  }
  if (grouping == OpGrouping::kShape) {
    if (!group.shapes.empty()) row->set_shapes(group.shapes);
  } else if (grouping != OpGrouping::kName) {
    row->set_pid(group.process.pid);
    row->set_host(all.HostOf(group.process));
  }
  if (grouping == OpGrouping::kThread) row->set_tid(group.tid);
}

}  // namespace

void ComputeOps(PassContext& context, OpGrouping grouping, bool medians, results::Ops* out) {
  Collector collector(context, grouping, medians);
  for (const size_t index : context.selected()) collector.AddProcess(index);
  std::vector<Group>& groups = collector.groups();
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::tie(b.all.self_ns, a.name, a.scope, a.process, a.tid) <
           std::tie(a.all.self_ns, b.name, b.scope, b.process, b.tid);
  });
  int64_t self_ns = 0;
  for (const Group& group : groups) {
    out->set_count(out->count() + group.all.count);
    self_ns += group.all.self_ns;
  }
  out->set_self_ns(self_ns);
  if (collector.step_count() > 0) {
    out->set_step_ns(collector.step_ns());
    out->set_step_count(collector.step_count());
  }
  if (collector.has_device_work()) {
    out->set_device_ns(collector.device_ns());
    out->set_device_outside_ns(collector.device_outside_ns());
  }
  for (Group& group : groups) FillRow(group, grouping, collector, self_ns, medians, out->add_ops());
}

Error RunOps(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string& by = context.options().by;
  OpGrouping grouping = OpGrouping::kName;
  if (by == "process") {
    grouping = OpGrouping::kProcess;
  } else if (by == "thread") {
    grouping = OpGrouping::kThread;
  } else if (by == "shape") {
    grouping = OpGrouping::kShape;
  }
  auto out = std::make_unique<results::Ops>();
  out->set_by(by.empty() ? "name" : by);
  ComputeOps(context, grouping, true, out.get());
  context.FillCountMeta("ops", out->mutable_meta());
  AddUnpairedNotes(context, SpanSubject::kOperations, out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
