// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `ops`: framework operations by name and scope, total and self time. See passes.h.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

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

struct Place {
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t self_ns = 0;
};

struct Group {
  std::string name;
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
    for (size_t i = 0; i < process.tracks.size(); ++i) {
      if (process.tracks[i].op.rows() == 0) continue;
      // A step is worked on by its own thread and by autograd's.
      const bool in_steps = !counted.empty() &&
                            (i == steps.detected.track || !context_.ops(index).Backward(i).empty());
      AddTrack(index, i, in_steps ? counted : std::vector<Interval>());
    }
  }

  std::vector<Group>& groups() { return groups_; }
  int64_t step_ns() const { return step_ns_; }
  uint64_t step_count() const { return step_count_; }
  const std::string& HostOf(Id id) const { return context_.process(id.owner).host; }

 private:
  uint32_t GroupOf(const Process& process, const Track& track, uint32_t id, uint8_t scope) {
    // Within a thread an id and a scope mean one group.
    if (grouping_ == OpGrouping::kThread && track_ != &track) group_of_id_.clear();
    track_ = &track;
    const uint64_t key = static_cast<uint64_t>(id) << 8 | scope;
    const auto known = group_of_id_.find(key);
    if (known != group_of_id_.end()) return known->second;
    const Id of = grouping_ == OpGrouping::kName ? Id{} : id_;
    const int32_t tid = grouping_ == OpGrouping::kThread ? track.tid : 0;
    const auto [at, added] = group_of_name_.try_emplace({process.String(id), scope, of, tid},
                                                        static_cast<uint32_t>(groups_.size()));
    if (added) {
      Group& group = groups_.emplace_back();
      group.name = process.String(id);
      group.scope = scope;
      group.process = of;
      group.tid = tid;
    }
    group_of_id_[key] = at->second;
    return at->second;
  }

  void AddTrack(size_t index, size_t track_index, const std::vector<Interval>& steps) {
    const Process& process = context_.process(index);
    const Track& track = process.tracks[track_index];
    const OpTree& tree = context_.ops(index).tree(track_index);
    const OpTable& table = track.op;
    std::vector<uint32_t> group_of_row(table.rows(), kNoGroup);
    std::vector<Place> places;  // by group, of this track
    auto step = steps.rbegin();
    for (size_t i = 0; i < table.rows(); ++i) {
      const uint32_t row = tree.in_order(i);
      const uint32_t number =
          GroupOf(process, track, table.name[row], proto::LowByteOf(table.operation[row]));
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
  std::map<std::tuple<std::string, uint8_t, Id, int32_t>, uint32_t> group_of_name_;
  std::unordered_map<uint64_t, uint32_t> group_of_id_;
  int64_t step_ns_ = 0;
  uint64_t step_count_ = 0;
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
  if (grouping != OpGrouping::kName) {
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
  for (Group& group : groups) FillRow(group, grouping, collector, self_ns, medians, out->add_ops());
}

Error RunOps(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string& by = context.options().by;
  OpGrouping grouping = OpGrouping::kName;
  if (by == "process") {
    grouping = OpGrouping::kProcess;
  } else if (by == "thread") {
    grouping = OpGrouping::kThread;
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
