// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_groups.h.

#include "analysis/passes/kernels/op_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/derived/device_work.h"
#include "analysis/derived/op_names.h"
#include "analysis/steps/op_walk.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kNoGroup = 0xffffffffu;

// Returns what no other key has.
std::string BytesOf(const OpGroups::Key& group) {
  std::string key;
  key.reserve(group.name.size() + group.shapes.size() + group.types.size() + 64);
  const auto add_number = [&key](uint64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const auto add_text = [&](const std::string& text) {
    add_number(text.size());
    key += text;
  };
  key += static_cast<char>(group.scope);
  add_number(static_cast<uint32_t>(group.process.pid));
  add_number(group.process.owner);
  add_number(static_cast<uint32_t>(group.tid));
  add_text(group.shapes);
  add_text(group.types);
  return key += group.name;
}

void AddPlace(const OpGroups::Place& place, OpGroups::Place* sum) {
  sum->count += place.count;
  sum->total_ns += place.total_ns;
  sum->self_ns += place.self_ns;
}

// Adds a place. Those of a process mostly follow each other.
OpGroups::Place& PlaceIn(std::vector<std::pair<OpGroups::Id, OpGroups::Place>>* places,
                         OpGroups::Id id) {
  if (places->empty() || places->back().first != id) places->push_back({id, {}});
  return places->back().second;
}

// Images of a program before and behind an exec have one id, and others may lie between them.
void SortPlaces(std::vector<std::pair<OpGroups::Id, OpGroups::Place>>* places) {
  std::stable_sort(places->begin(), places->end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  size_t kept = 0;
  for (size_t i = 1; i < places->size(); ++i) {
    if ((*places)[i].first == (*places)[kept].first) {
      AddPlace((*places)[i].second, &(*places)[kept].second);
    } else {
      (*places)[++kept] = (*places)[i];
    }
  }
  if (!places->empty()) places->resize(kept + 1);
}

template <typename Row>
void Append(std::vector<Row> from, std::vector<Row>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

// Adds the sums over later processes to those of the same group.
void AddGroup(OpGroups::Group from, OpGroups::Group* group) {
  const bool first = group->all.count == 0;
  group->min_ns = first ? from.min_ns : std::min(group->min_ns, from.min_ns);
  group->max_ns = first ? from.max_ns : std::max(group->max_ns, from.max_ns);
  AddPlace(from.all, &group->all);
  group->sum_ns += from.sum_ns;
  group->incomplete += from.incomplete;
  group->step_count += from.step_count;
  group->step_self_ns += from.step_self_ns;
  group->device_ns += from.device_ns;
  group->device_self_ns += from.device_self_ns;
  group->device_count += from.device_count;
  const bool is_told = group->execution.found().execution != results::EXECUTION_NONE;
  group->execution.Add(is_told ? from.of_operations.found() : from.execution.found());
  group->of_operations.Add(from.of_operations.found());
  for (const auto& [family, ns] : from.families) group->families[family] += ns;
  Append(std::move(from.places), &group->places);
  Append(std::move(from.threads), &group->threads);
  Append(std::move(from.durations), &group->durations);
}

}  // namespace

void OpGroups::Add(OpGroups other) {
  step_ns_ += other.step_ns_;
  step_count_ += other.step_count_;
  has_device_work_ |= other.has_device_work_;
  device_ns_ += other.device_ns_;
  device_outside_ns_ += other.device_outside_ns_;
  for (auto at = other.group_of_key_.begin(); at != other.group_of_key_.end();) {
    auto node = other.group_of_key_.extract(at++);
    Group& from = other.groups_[node.mapped()];
    node.mapped() = static_cast<uint32_t>(groups_.size());
    const auto known = group_of_key_.insert(std::move(node));
    if (known.inserted) {
      groups_.push_back(std::move(from));
    } else {
      AddGroup(std::move(from), &groups_[known.position->second]);
    }
  }
}

std::vector<OpGroups::Group> OpGroups::Take() {
  for (Group& group : groups_) {
    SortPlaces(&group.places);
    std::sort(group.threads.begin(), group.threads.end());
    group.threads.erase(std::unique(group.threads.begin(), group.threads.end()),
                        group.threads.end());
  }
  group_of_key_.clear();
  return std::move(groups_);
}

void OpGroups::AddProcess(size_t index) {
  const Process& process = context_.process(index);
  id_ = {process.pid, context_.Owner(index)};
  const StepAnalysis& steps = context_.steps(index);
  if (steps.found()) step_ns_ += steps.summary.lengths.total_ns;
  step_count_ += steps.found() ? steps.summary.count : 0;
  const std::vector<Interval> counted = steps.found() ? steps.Counted() : std::vector<Interval>();
  ExecutionFinder executions(&context_.ops(index), MayBeEager(context_.trace()));
  details_ = &context_.details(index);
  executions_ = &executions;
  group_of_id_.clear();
  category_of_id_.clear();
  group_of_detail_.clear();
  group_of_work_.clear();
  group_of_row_.assign(process.tracks.size(), {});
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    if (process.tracks[i].op.rows() == 0) continue;
    // A step is worked on by its own thread and by autograd's.
    const bool in_steps =
        !counted.empty() && (i == steps.detected.track || !context_.ops(index).Backward(i).empty());
    AddTrack(index, i, in_steps ? counted : std::vector<Interval>());
  }
  AddDeviceWork(index);
  group_of_row_.clear();
}

uint32_t OpGroups::NumberOf(Key key) {
  const auto [at, added] =
      group_of_key_.try_emplace(BytesOf(key), static_cast<uint32_t>(groups_.size()));
  if (added) static_cast<Key&>(groups_.emplace_back()) = std::move(key);
  return at->second;
}

// `detail`: string id of the inputs' shapes, if they divide the groups; else 0.
uint32_t OpGroups::GroupOf(const Process& process, const Track& track, uint32_t id, uint8_t scope,
                           uint32_t detail) {
  // Within a thread an id and a scope mean one group.
  if (grouping_ == OpGrouping::kThread && track_ != &track) group_of_id_.clear();
  track_ = &track;
  const uint64_t key = static_cast<uint64_t>(id) << 8 | scope;
  auto& known = detail == 0 ? group_of_id_ : group_of_detail_[detail];
  uint32_t& number = known.try_emplace(key, kNoGroup).first->second;
  if (number != kNoGroup) return number;
  Key group;
  group.name = process.String(id);
  if (grouping_ == OpGrouping::kType && scope != static_cast<uint8_t>(proto::OpScope::kUser))
    group.name = OpTypeOf(group.name);
  group.shapes = details_->Of(detail).shapes;
  group.types = details_->Of(detail).types;
  group.scope = scope;
  if (grouping_ == OpGrouping::kThread || grouping_ == OpGrouping::kProcess) group.process = id_;
  if (grouping_ == OpGrouping::kThread) group.tid = track.tid;
  return number = NumberOf(std::move(group));
}

uint32_t OpGroups::GroupOfCategory(const Process& process, const OpTable& table, uint32_t row,
                                   OpCategory parent, OpCategory* category) {
  const proto::OpScope scope = proto::OpScopeOf(table.operation[row]);
  const uint64_t key = uint64_t{table.name[row]} << 8 | static_cast<uint8_t>(scope);
  const auto [own, is_new] = category_of_id_.try_emplace(key, OpCategory::kOperation);
  if (is_new) own->second = OpCategoryOf(process.String(table.name[row]), scope);
  *category = CategoryWithin(parent, own->second);
  const auto [number, is_first] = group_of_category_.try_emplace(*category, kNoGroup);
  if (is_first) {
    Key group;
    group.name = OpCategoryName(*category);
    number->second = NumberOf(std::move(group));
  }
  return number->second;
}

void OpGroups::AddTrack(size_t index, size_t track_index, const std::vector<Interval>& steps) {
  const Process& process = context_.process(index);
  const Track& track = process.tracks[track_index];
  const OpTree& tree = context_.ops(index).tree(track_index);
  const OpTable& table = track.op;
  std::vector<uint32_t>& group_of_row = group_of_row_[track_index];
  group_of_row.assign(table.rows(), kNoGroup);
  auto step = steps.rbegin();
  const bool by_shape = grouping_ == OpGrouping::kShape && !table.detail.empty();
  const bool by_category = grouping_ == OpGrouping::kCategory;
  std::vector<OpCategory> categories(by_category ? table.rows() : 0);
  const Column<uint32_t>::Reader names(table.name), operations(table.operation);
  const Column<int64_t>::Reader durations(table.duration_ns);
  const auto group_of = [&](uint32_t row) {
    if (by_category) {
      const uint32_t around = tree.parent(row);
      return GroupOfCategory(process, table, row,
                             around == OpTree::kNone ? OpCategory::kOperation : categories[around],
                             &categories[row]);
    }
    return GroupOf(process, track, names[row],
                   static_cast<uint8_t>(proto::OpScopeOf(operations[row])),
                   by_shape ? table.detail[row] : 0);
  };
  for (size_t i = 0; i < table.rows(); ++i) {
    const uint32_t row = tree.in_order(i);
    const uint32_t number = group_of(row);
    group_of_row[row] = number;
    places_.resize(groups_.size());
    open_.resize(groups_.size());
    Group& group = groups_[number];
    const int64_t duration = durations[row];
    const int64_t self = tree.self_ns(row);
    if (places_[number].count++ == 0) of_track_.push_back(number);
    places_[number].self_ns += self;
    const bool first = group.all.count++ == 0;
    group.sum_ns += duration;
    group.min_ns = first ? duration : std::min(group.min_ns, duration);
    group.max_ns = first ? duration : std::max(group.max_ns, duration);
    group.incomplete += (proto::FlagsOf(operations[row]) & proto::kFlagIncomplete) != 0;
    const ExecutionFound execution = executions_->OfOp({static_cast<uint32_t>(track_index), row});
    group.execution.Add(execution);
    group.of_operations.Add(execution);
    group.durations.push_back(duration);
    while (step != steps.rend() && tree.end(row) <= step->start) ++step;
    if (step != steps.rend() && tree.start(row) >= step->start && tree.end(row) <= step->end) {
      ++group.step_count;
      group.step_self_ns += self;
    }
  }
  // A row within another row of its group counts with that one.
  const auto enter = [&](uint32_t row) {
    const uint32_t number = group_of_row[row];
    if (open_[number]++ == 0) places_[number].total_ns += durations[row];
  };
  WalkOps(tree, enter, [&](uint32_t row) { --open_[group_of_row[row]]; });
  AddPlaces(track.tid);
}

void OpGroups::AddPlaces(int32_t tid) {
  for (const uint32_t number : of_track_) {
    const Place place = std::exchange(places_[number], Place());
    Group& group = groups_[number];
    AddPlace(place, &PlaceIn(&group.places, id_));
    group.all.total_ns += place.total_ns;
    group.all.self_ns += place.self_ns;
    group.threads.emplace_back(id_, tid);
  }
  of_track_.clear();
}

// Gives the run time of each row of device work to the operation that launched it, and to the
// operations around that one. Without such an operation, the work itself may name one.
void OpGroups::AddDeviceWork(size_t index) {
  const Process& process = context_.process(index);
  Origin& origin = context_.origin(index);
  std::vector<std::vector<int64_t>> launched_ns(process.tracks.size());  // by row
  KernelFamilies& families = context_.families(index);
  ForEachDeviceWork(process, [&](const Track& track, const DeviceWork& work) {
    const int64_t ns = work.span.length() * work.weight;
    has_device_work_ = true;
    device_ns_ += ns;
    const auto op = origin.Find(work.correlation, work.external);
    if (!op) {
      const uint32_t number = GroupOfDeviceWork(process, track, work);
      if (number == kNoGroup) {
        device_outside_ns_ += ns;
        return;
      }
      Group& group = groups_[number];
      group.all.count += work.weight;
      PlaceIn(&group.places, id_).count += work.weight;
      group.device_count += work.weight;
      group.device_self_ns += ns;
      group.device_ns += ns;
      const ExecutionFound execution = executions_->OfKernel(track.kernel, work.row, std::nullopt);
      group.execution.Add(execution);
      group.of_operations.Add(execution);
      families.Add(track, work, &group.families);
      return;
    }
    std::vector<int64_t>& launched = launched_ns[op->track];
    launched.resize(process.tracks[op->track].op.rows());
    launched[op->row] += ns;
    Group& group = groups_[group_of_row_[op->track][op->row]];
    group.device_self_ns += ns;
    group.device_count += work.weight;
    families.Add(track, work, &group.families);
    // What XLA's operations on the host do not tell, their kernels may.
    if (work.kind == DeviceWorkKind::kKernel &&
        group.execution.found().execution == results::EXECUTION_NONE &&
        !IsUserRange(process.tracks[op->track].op, op->row))
      group.execution.Add(executions_->OfKernel(track.kernel, work.row, std::nullopt));
  });
  for (size_t track = 0; track < launched_ns.size(); ++track) {
    if (!launched_ns[track].empty())
      AddLaunched(context_.ops(index).tree(track), group_of_row_[track], &launched_ns[track]);
  }
}

// Gives a group the time of work that was launched within its rows. A row within another row of its
// group counts with that one.
void OpGroups::AddLaunched(const OpTree& tree, const std::vector<uint32_t>& group_of_row,
                           std::vector<int64_t>* launched_ns) {
  const auto leave = [&](uint32_t row) {
    const int64_t ns = (*launched_ns)[row];
    const uint32_t number = group_of_row[row], around = tree.parent(row);
    if (--open_[number] == 0) groups_[number].device_ns += ns;
    if (around != OpTree::kNone) (*launched_ns)[around] += ns;
  };
  WalkOps(
      tree, [&](uint32_t row) { ++open_[group_of_row[row]]; }, leave);
}

// Returns the group of an operation that a kernel's own detail names, as XLA's kernels and the rows
// of TPUs have it.
uint32_t OpGroups::GroupOfDeviceWork(const Process& process, const Track& track,
                                     const DeviceWork& work) {
  if (work.kind != DeviceWorkKind::kKernel) return kNoGroup;
  const uint32_t detail = DetailOf(track.kernel, work.row);
  if (detail == 0) return kNoGroup;
  const uint32_t signature = track.kernel.signature[work.row];
  uint32_t& number =
      group_of_work_.try_emplace(uint64_t{signature} << 32 | detail, kNoGroup).first->second;
  if (number != kNoGroup) return number;
  const RowDetail& told = details_->Of(detail);
  const auto known = process.signatures.find(signature);
  const bool is_hlo = !told.hlo_op.empty() || !told.hlo_category.empty();
  Key group;
  if (!told.hlo_op.empty()) {
    group.name = told.hlo_op;
  } else if (is_hlo && known != process.signatures.end()) {
    group.name = process.String(known->second.name());
  } else {
    group.name = told.tf_op.substr(0, told.tf_op.find(':'));
  }
  if (group.name.empty()) return kNoGroup;
  if (grouping_ == OpGrouping::kType) {
    const bool has_type = !ScopesOf(told.tf_op).empty() || !is_hlo;
    group.name = has_type                     ? OpTypeOf(told.tf_op)
                 : !told.hlo_category.empty() ? told.hlo_category
                                              : HloTypeOf(group.name);
  }
  if (grouping_ == OpGrouping::kCategory) group.name = "operations of devices";
  group.scope = kDeviceScope;
  if (grouping_ == OpGrouping::kThread || grouping_ == OpGrouping::kProcess) group.process = id_;
  return number = NumberOf(std::move(group));
}

}  // namespace gpuprof::analysis
