// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See operation_rows.h. The rules of who waits for whom are those of the published analysis:
//
// - Forward and backward passes of a stage run one after the other, and so do all sends, or all
//   receives, of a direction.
// - A pass begins after its receive, and its send begins after the pass. A receive begins after the
//   pass before. The first backward transfers begin after the last but one pass before them.
// - Parameters are gathered before the first forward pass of their part of the model. Gradients are
//   exchanged after the last backward pass; then come clipping and the optimizer.
// - A send and its receive are peers. So are both ends of a pipeline for the embedding, all stages
//   for clipping, and all replicas for what data parallelism exchanges.

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/stragglers/operation_rows.h"
#include "analysis/stragglers/pipeline_types.h"

namespace gpuprof::analysis {
namespace {

// Clocks of machines differ by so much: what overlaps less does not overlap.
constexpr double kClockNoiseNs = 10e6;
constexpr double kOrderNoiseNs = 5e4;

Error TableError(std::string message) { return {ErrorKind::kUnreadable, std::move(message)}; }

struct TypeAndNumber {
  uint32_t stage;
  PipelineType type;
  uint32_t number;
  auto operator<=>(const TypeAndNumber&) const = default;
};

// An operation of the plan, with what the first replica and step tell of it.
struct PlanRow {
  TypeAndNumber key;
  double start = 0, end = 0;
  int32_t chunk = -1, model_chunk = -1;
};

class PipelinePlan {
 public:
  PipelinePlan(std::vector<PlanRow> rows, uint32_t stages) : rows_(std::move(rows)) {
    stages_ = stages;
    by_stage_.resize(stages);
    for (uint32_t i = 0; i < rows_.size(); ++i) by_stage_[rows_[i].key.stage].push_back(i);
    for (std::vector<uint32_t>& own : by_stage_) {
      std::stable_sort(own.begin(), own.end(), [this](uint32_t a, uint32_t b) {
        const PlanRow &x = rows_[a], &y = rows_[b];
        return std::tuple(x.start, x.key.number, x.key.type) <
               std::tuple(y.start, y.key.number, y.key.type);
      });
    }
    after_.resize(rows_.size());
    group_.assign(rows_.size(), kNoPeers);
    for (const PlanRow& row : rows_) chunks_ = std::max(chunks_, row.chunk + 1);
    has_separate_ = std::any_of(rows_.begin(), rows_.end(), [](const PlanRow& row) {
      return row.key.type == PipelineType::kSeparateGradients;
    });
  }

  Error Make() {
    for (uint32_t stage = 0; stage < stages_; ++stage) {
      Chain(Of(stage, {PipelineType::kForward, PipelineType::kBackward}));
      if (Error error = MakeTransfers(stage)) return error;
      MakeFirstBackward(stage);
      MakeParameters(stage);
      MakeEnd(stage);
    }
    return MakeGroups();
  }

  const std::vector<PlanRow>& rows() const { return rows_; }
  const std::vector<uint32_t>& after(uint32_t row) const { return after_[row]; }
  uint32_t group(uint32_t row) const { return group_[row]; }
  std::vector<PeerGroup> TakeGroups() { return std::move(groups_); }

 private:
  // Returns the operations of these types on a stage, by their begin.
  std::vector<uint32_t> Of(uint32_t stage, const std::set<PipelineType>& types) const {
    std::vector<uint32_t> found;
    for (const uint32_t row : by_stage_[stage])
      if (types.count(rows_[row].key.type) != 0) found.push_back(row);
    return found;
  }

  void Chain(const std::vector<uint32_t>& rows) {
    for (size_t i = 1; i < rows.size(); ++i) after_[rows[i]].push_back(rows[i - 1]);
  }

  Error MakeTransfers(uint32_t stage) {
    constexpr std::tuple<PipelineType, PipelineType, bool, int> kDirections[] = {
        {PipelineType::kForwardSend, PipelineType::kForward, true, 1},
        {PipelineType::kForwardReceive, PipelineType::kForward, false, -1},
        {PipelineType::kBackwardSend, PipelineType::kBackward, true, -1},
        {PipelineType::kBackwardReceive, PipelineType::kBackward, false, 1}};
    for (const auto& [type, pass, is_send, towards] : kDirections) {
      const std::vector<uint32_t> all = Of(stage, {type});
      Chain(all);
      if (Error error = MatchPasses(stage, all, Of(stage, {pass}), is_send, towards)) return error;
    }
    return {};
  }

  // Gives each send or receive its pass, and its peer.
  Error MatchPasses(uint32_t stage, const std::vector<uint32_t>& all,
                    const std::vector<uint32_t>& passes, bool is_send, int towards) {
    if (all.empty()) return {};
    double last_start = -1, first_end = -1;
    for (const uint32_t pass : passes) {
      last_start = std::max(last_start, rows_[pass].start);
      first_end = first_end < 0 ? rows_[pass].end : std::min(first_end, rows_[pass].end);
    }
    // Some are recorded although nothing was sent: before the first pass, or behind the last.
    std::vector<uint32_t> used;
    for (const uint32_t row : all) {
      const bool is_used = is_send ? rows_[row].end >= first_end - kOrderNoiseNs
                                   : rows_[row].start <= last_start + kOrderNoiseNs;
      if (is_used)
        used.push_back(row);
      else
        single_.push_back(row);
    }
    const bool lacks_first = !is_send && used.size() + 1 == passes.size();
    const size_t first = lacks_first ? 1 : 0;
    if (!used.empty() && used.size() + first != passes.size())
      return TableError("stage " + std::to_string(stage) + " has " + std::to_string(used.size()) +
                        " " + NameOf(all[0]) + " for " + std::to_string(passes.size()) + " passes");
    const int32_t model_chunks = chunks_ * static_cast<int32_t>(stages_);
    uint32_t number = 0;
    for (size_t i = 0; i < used.size(); ++i) {
      const uint32_t pass = passes[i + first];
      if (is_send) {
        after_[used[i]].push_back(pass);
      } else {
        after_[pass].push_back(used[i]);
        if (i + first != 0) after_[used[i]].push_back(passes[i + first - 1]);
      }
      const int32_t peer = rows_[pass].model_chunk + towards;
      if (peer < 0 || peer >= model_chunks) {
        single_.push_back(used[i]);
        continue;
      }
      const bool is_forward = (towards == 1) == is_send;
      const uint32_t other =
          (stage + stages_ + static_cast<uint32_t>(towards + static_cast<int>(stages_))) % stages_;
      peers_[{is_forward, is_send ? stage : other, number++}].push_back(used[i]);
    }
    return {};
  }

  void MakeFirstBackward(uint32_t stage) {
    const std::vector<uint32_t> passes =
        Of(stage, {PipelineType::kForward, PipelineType::kBackward});
    const auto first = std::find_if(passes.begin(), passes.end(), [this](uint32_t row) {
      return rows_[row].key.type == PipelineType::kBackward;
    });
    if (first == passes.end() || first - passes.begin() < 2) return;
    for (const uint32_t row :
         Of(stage, {PipelineType::kBackwardSend, PipelineType::kBackwardReceive}))
      if (rows_[row].key.number == 0) after_[row].push_back(*(first - 2));
  }

  void MakeParameters(uint32_t stage) {
    const std::vector<uint32_t> gathers = Of(stage, {PipelineType::kGatherParameters});
    Chain(Of(stage, {PipelineType::kGatherParameters, PipelineType::kScatterGradients}));
    std::set<int32_t> seen;
    for (auto gather = gathers.rbegin(); gather != gathers.rend(); ++gather) {
      const int32_t chunk = rows_[*gather].chunk;
      if (!seen.insert(chunk).second) continue;
      for (const uint32_t pass : Of(stage, {PipelineType::kForward})) {
        if (rows_[pass].chunk != chunk) continue;
        after_[pass].push_back(*gather);
        break;
      }
    }
  }

  // What follows the last backward pass.
  void MakeEnd(uint32_t stage) {
    const std::vector<uint32_t> passes =
        Of(stage, {PipelineType::kForward, PipelineType::kBackward});
    const std::vector<uint32_t> scatters = Of(stage, {PipelineType::kScatterGradients});
    std::vector<uint32_t> last;
    if (!passes.empty()) last = {LastToEnd(passes)};
    std::vector<uint32_t> chain = Of(stage, {PipelineType::kCollectGarbage});
    if (!chain.empty()) {
      after_[chain[0]].insert(after_[chain[0]].end(), last.begin(), last.end());
      last = {chain[0]};
    }
    if (has_separate_) {
      for (const uint32_t scatter : scatters) {
        std::vector<uint32_t> backward;
        for (const uint32_t pass : Of(stage, {PipelineType::kBackward}))
          if (rows_[pass].chunk == rows_[scatter].chunk) backward.push_back(pass);
        if (!backward.empty()) after_[scatter].push_back(LastToEnd(backward));
      }
      if (!scatters.empty()) last.push_back(scatters.back());
    }
    chain.clear();
    const auto add = [&](PipelineType type) {
      for (const uint32_t row : Of(stage, {type})) chain.push_back(row);
    };
    add(PipelineType::kNormGradients);
    add(PipelineType::kEmbeddingGradients);
    add(has_separate_ ? PipelineType::kSeparateGradients : PipelineType::kScatterGradients);
    add(PipelineType::kClipGradients);
    add(PipelineType::kOptimizer);
    for (const uint32_t row : chain) {
      after_[row].insert(after_[row].end(), last.begin(), last.end());
      last = {row};
    }
  }

  uint32_t LastToEnd(const std::vector<uint32_t>& rows) const {
    return *std::max_element(rows.begin(), rows.end(), [this](uint32_t a, uint32_t b) {
      return rows_[a].end < rows_[b].end;
    });
  }

  Error MakeGroups() {
    for (const auto& [key, members] : peers_) {
      if (members.size() != 2)
        return TableError("the " + NameOf(members[0]) + " number " +
                          std::to_string(std::get<2>(key)) + " of stage " +
                          std::to_string(rows_[members[0]].key.stage) + " has " +
                          (members.size() == 1 ? "no peer" : "several peers"));
      AddGroup(members, false);
    }
    for (const uint32_t row : single_) AddGroup({row}, false);
    std::map<uint32_t, std::vector<uint32_t>> embeddings, clips;
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      const TypeAndNumber& key = rows_[i].key;
      if (key.type == PipelineType::kGatherParameters ||
          key.type == PipelineType::kScatterGradients ||
          key.type == PipelineType::kSeparateGradients)
        AddGroup({i}, true);
      if (key.type == PipelineType::kEmbeddingGradients) embeddings[key.number].push_back(i);
      if (key.type == PipelineType::kClipGradients) clips[key.number].push_back(i);
    }
    for (const auto& [number, members] : embeddings) AddGroup(members, false);
    for (const auto& [number, members] : clips) AddGroup(members, true);
    return {};
  }

  void AddGroup(std::vector<uint32_t> members, bool spans_replicas) {
    for (const uint32_t member : members) group_[member] = static_cast<uint32_t>(groups_.size());
    groups_.push_back({std::move(members), spans_replicas});
  }

  std::string NameOf(uint32_t row) const {
    return std::string(kPipelineTypes[static_cast<size_t>(rows_[row].key.type)].name);
  }

  std::vector<PlanRow> rows_;
  uint32_t stages_ = 1;
  int32_t chunks_ = 1;
  bool has_separate_ = false;
  std::vector<std::vector<uint32_t>> by_stage_;  // by their begin
  std::vector<std::vector<uint32_t>> after_;
  std::vector<uint32_t> group_, single_;
  std::map<std::tuple<bool, uint32_t, uint32_t>, std::vector<uint32_t>> peers_;
  std::vector<PeerGroup> groups_;
};

class PipelineMaker {
 public:
  PipelineMaker(const OperationRows& rows, PipelineSchedule* out) : rows_(rows), out_(*out) {}

  Error Make() {
    if (rows_.rows() == 0) return TableError("the table has no operations");
    if (Error error = FindTypes()) return error;
    if (Error error = FindSizes()) return error;
    SortSteps();
    if (Error error = MakePlan()) return error;
    return FillTimes();
  }

 private:
  Error FindTypes() {
    for (const std::string& name : rows_.types) {
      const auto found = std::find_if(kPipelineTypes.begin(), kPipelineTypes.end(),
                                      [&](const PipelineTypeRow& row) { return row.name == name; });
      if (found == kPipelineTypes.end())
        return TableError("the table has operations of the unknown type '" + name +
                          "'; types are those of StragglerAnalysis, such as forward-compute");
      types_.push_back(found->type);
    }
    return {};
  }

  Error FindSizes() {
    const uint64_t replicas =
        uint64_t{*std::max_element(rows_.replica.begin(), rows_.replica.end())} + 1;
    const uint64_t stages = uint64_t{*std::max_element(rows_.stage.begin(), rows_.stage.end())} + 1;
    // Each worker has at least one row.
    if (replicas > rows_.rows() || stages > rows_.rows() || replicas * stages > rows_.rows())
      return TableError("dp_rank and stage go up to " + std::to_string(replicas - 1) + " and " +
                        std::to_string(stages - 1) + ", but the table has " +
                        std::to_string(rows_.rows()) + " rows: workers are missing");
    schedule().replicas = static_cast<size_t>(replicas);
    schedule().stages = static_cast<size_t>(stages);
    return {};
  }

  // Sorts rows by step, and keeps the steps that have as many rows as most have.
  void SortSteps() {
    order_.resize(rows_.rows());
    std::iota(order_.begin(), order_.end(), size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [this](size_t a, size_t b) { return rows_.step[a] < rows_.step[b]; });
    std::map<size_t, size_t> sizes;  // rows of a step, steps
    for (size_t from = 0, to = 0; from < order_.size(); from = to) {
      while (to < order_.size() && rows_.step[order_[to]] == rows_.step[order_[from]]) ++to;
      steps_.push_back({from, to});
      ++sizes[to - from];
    }
    const auto usual =
        std::max_element(sizes.begin(), sizes.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const size_t all = steps_.size();
    std::erase_if(steps_,
                  [&](const auto& step) { return step.second - step.first != usual->first; });
    out_.left_out_steps = all - steps_.size();
  }

  Error MakePlan() {
    std::vector<PlanRow> plan;
    std::set<TypeAndNumber> seen;
    for (size_t at = steps_[0].first; at < steps_[0].second; ++at) {
      const size_t i = order_[at];
      if (rows_.replica[i] != 0) continue;
      PlanRow row;
      row.key = KeyOf(i);
      if (!seen.insert(row.key).second)
        return TableError("step " + std::to_string(rows_.step[i]) + " has two operations " +
                          rows_.types[rows_.type[i]] + " with the seq_id " +
                          std::to_string(rows_.number[i]) + " on one worker");
      row.start = rows_.start_ns[i];
      row.end = row.start + rows_.took_ns[i];
      row.chunk = rows_.chunk[i];
      row.model_chunk = rows_.model_chunk[i];
      plan.push_back(row);
    }
    PipelinePlan pipeline(std::move(plan), static_cast<uint32_t>(schedule().stages));
    if (Error error = pipeline.Make()) return error;
    std::map<std::string_view, uint32_t> shown;
    for (uint32_t i = 0; i < pipeline.rows().size(); ++i) {
      const PlanRow& row = pipeline.rows()[i];
      const PipelineTypeRow& type = kPipelineTypes[static_cast<size_t>(row.key.type)];
      const auto [name, is_new] =
          shown.try_emplace(type.shown, static_cast<uint32_t>(schedule().types.size()));
      if (is_new) schedule().types.emplace_back(type.shown);
      PlannedOperation& operation = schedule().operations.emplace_back();
      operation.type = name->second;
      operation.like = static_cast<uint32_t>(row.key.type);
      operation.stage = row.key.stage;
      operation.group = pipeline.group(i);
      operation.is_transfer = type.is_transfer;
      operation.after = pipeline.after(i);
      place_[row.key] = i;
    }
    schedule().groups = pipeline.TakeGroups();
    return {};
  }

  Error FillTimes() {
    const size_t operations = schedule().operations.size(), replicas = schedule().replicas;
    out_.ranks.assign(schedule().workers(), -1);
    // Steps in which an operation of the plan is missing fall away.
    std::vector<size_t> rows(operations * replicas);
    std::vector<std::vector<double>> starts(operations), ends(operations);
    for (const auto& [from, to] : steps_) {
      std::fill(rows.begin(), rows.end(), SIZE_MAX);
      size_t found = 0;
      for (size_t at = from; at < to; ++at) {
        const auto place = place_.find(KeyOf(order_[at]));
        if (place == place_.end()) break;
        size_t& row = rows[place->second * replicas + rows_.replica[order_[at]]];
        found += row == SIZE_MAX ? 1 : 0;
        row = order_[at];
      }
      if (found != rows.size()) {
        ++out_.left_out_steps;
        continue;
      }
      schedule().steps.push_back(static_cast<uint64_t>(rows_.step[order_[from]]));
      double first = rows_.start_ns[rows[0]], last = first;
      for (size_t i = 0; i < rows.size(); ++i) {
        const size_t row = rows[i];
        first = std::min(first, rows_.start_ns[row]);
        last = std::max(last, rows_.start_ns[row] + rows_.took_ns[row]);
        starts[i / replicas].push_back(rows_.start_ns[row]);
        ends[i / replicas].push_back(rows_.start_ns[row] + rows_.took_ns[row]);
        out_.ranks[i % replicas * schedule().stages + rows_.stage[row]] = rows_.rank[row];
      }
      firsts_.push_back(first);
      schedule().observed_ns.push_back(last - first);
    }
    if (schedule().steps.empty())
      return TableError("no step has the operations of the first one in all workers");
    FillDurations(starts, ends);
    return {};
  }

  void FillDurations(const std::vector<std::vector<double>>& starts,
                     const std::vector<std::vector<double>>& ends) {
    const size_t lanes = schedule().lanes(), replicas = schedule().replicas;
    schedule().durations.assign(starts.size(), std::vector<double>(lanes));
    schedule().delays.assign(starts.size(), std::vector<double>(lanes));
    for (size_t i = 0; i < starts.size(); ++i) {
      const PlannedOperation& operation = schedule().operations[i];
      std::vector<double> begin = starts[i];
      if (operation.group != kNoPeers) begin = LastBegins(operation.group, starts);
      for (size_t lane = 0; lane < lanes; ++lane) {
        double took = ends[i][lane] - begin[lane];
        if (operation.group != kNoPeers && took <= -kClockNoiseNs) took = 0;
        schedule().durations[i][lane] = took;
        double ready = operation.after.empty() ? firsts_[lane / replicas] : -1e300;
        for (const uint32_t before : operation.after) ready = std::max(ready, ends[before][lane]);
        const double delay = starts[i][lane] - ready;
        schedule().delays[i][lane] = delay <= -kClockNoiseNs ? 0 : delay;
      }
    }
  }

  // Returns by lane when the last peer of a group began.
  std::vector<double> LastBegins(uint32_t index, const std::vector<std::vector<double>>& starts) {
    const PeerGroup& group = schedule().groups[index];
    std::vector<double> last = starts[group.members[0]];
    for (const uint32_t member : group.members)
      for (size_t lane = 0; lane < last.size(); ++lane)
        last[lane] = std::max(last[lane], starts[member][lane]);
    if (!group.spans_replicas) return last;
    for (size_t step = 0; step < schedule().steps.size(); ++step) {
      const auto from = last.begin() + static_cast<std::ptrdiff_t>(step * schedule().replicas);
      const auto to = from + static_cast<std::ptrdiff_t>(schedule().replicas);
      std::fill(from, to, *std::max_element(from, to));
    }
    return last;
  }

  TypeAndNumber KeyOf(size_t row) const {
    return {rows_.stage[row], types_[rows_.type[row]], rows_.number[row]};
  }
  Schedule& schedule() { return out_.schedule; }

  const OperationRows& rows_;
  PipelineSchedule& out_;
  std::vector<PipelineType> types_;  // by index of a type
  std::vector<size_t> order_;        // rows by step
  std::vector<std::pair<size_t, size_t>> steps_;
  std::map<TypeAndNumber, uint32_t> place_;  // in the plan
  std::vector<double> firsts_;               // by step: when its first operation began
};

}  // namespace

Error MakePipelineSchedule(const OperationRows& rows, PipelineSchedule* out) {
  return PipelineMaker(rows, out).Make();
}

}  // namespace gpuprof::analysis
