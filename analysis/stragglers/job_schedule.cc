// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See job_lanes.h. Between two arrivals at collectives a lane works, phase by phase, and may wait
// for earlier collectives. In which of these parts lanes wait for a collective, the longest waits
// decide for all lanes and steps: else a rank that is late, and never waits, would have another
// schedule than the others.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/stragglers/job_lanes.h"

namespace gpuprof::analysis {
namespace {

// Values that fit into a gigabyte.
constexpr uint64_t kMostValues = uint64_t{1} << 27;
constexpr double kTransferNoiseNs = 10e6;
// The part of the collectives whose ends may be unknown.
constexpr double kMostUnknown = 0.1;

// Finds the step of a lane that overlaps a span most. `from`: the first that may.
std::optional<size_t> StepAround(const JobLane& lane, Interval span, size_t from) {
  std::optional<size_t> best;
  int64_t most = 0;
  for (size_t i = from; i < lane.steps.size() && lane.steps[i].span.start < span.end; ++i) {
    const Interval& other = lane.steps[i].span;
    const int64_t shared = std::min(other.end, span.end) - std::max(other.start, span.start);
    if (shared <= most) continue;
    most = shared;
    best = i;
  }
  return best;
}

// Steps that all lanes have: for each the index in each lane.
std::vector<std::vector<size_t>> SharedSteps(const JobLanes& job) {
  const bool by_number = std::all_of(job.lanes.begin(), job.lanes.end(),
                                     [](const JobLane& lane) { return lane.has_numbers; });
  std::vector<std::map<uint64_t, size_t>> numbers(by_number ? job.lanes.size() : 0);
  for (size_t lane = 0; lane < numbers.size(); ++lane)
    for (size_t i = 0; i < job.lanes[lane].steps.size(); ++i)
      numbers[lane].emplace(job.lanes[lane].steps[i].number, i);
  std::vector<std::vector<size_t>> shared;
  std::vector<size_t> from(job.lanes.size(), 0);
  for (const LaneStep& step : job.lanes[0].steps) {
    std::vector<size_t> rows;
    for (size_t lane = 0; lane < job.lanes.size(); ++lane) {
      if (by_number) {
        const auto found = numbers[lane].find(step.number);
        if (found == numbers[lane].end()) break;
        rows.push_back(found->second);
      } else {
        const auto found = StepAround(job.lanes[lane], step.span, from[lane]);
        if (!found) break;
        from[lane] = *found + 1;
        rows.push_back(*found);
      }
    }
    if (rows.size() == job.lanes.size()) shared.push_back(std::move(rows));
  }
  return shared;
}

class JobMaker {
 public:
  JobMaker(const JobLanes& job, const std::optional<std::pair<uint64_t, uint64_t>>& asked)
      : job_(job), asked_(asked) {}

  JobSchedule Make() {
    ChooseSteps();
    if (out_.fault != JobFault::kNone) return std::move(out_);
    FindWaits();
    PlanWork();
    if (uint64_t{places_.size()} * rows_.size() * job_.lanes.size() > kMostValues) {
      out_.fault = JobFault::kTooLarge;
      return std::move(out_);
    }
    Plan();
    FillTimes();
    if (unknown_ > kMostUnknown * static_cast<double>(rows_.size() * names_.size()))
      out_.fault = JobFault::kNoEnds;
    out_.rows.assign(job_.lanes.size(), {});
    for (const std::vector<size_t>& rows : rows_)
      for (size_t lane = 0; lane < rows.size(); ++lane) out_.rows[lane].push_back(rows[lane]);
    return std::move(out_);
  }

 private:
  // A part of the work of a step: in front of a collective, before or behind waits, of a phase.
  struct Part {
    uint32_t before = 0;  // so many collectives were entered
    bool is_behind = false;
    LanePhase phase = LanePhase::kOther;
    auto operator<=>(const Part&) const = default;
  };

  const LaneStep& StepOf(size_t row, size_t lane) const {
    return job_.lanes[lane].steps[rows_[row][lane]];
  }
  Schedule& schedule() { return out_.schedule; }

  // Keeps the steps whose collectives are the most frequent ones, by their time.
  void ChooseSteps() {
    std::vector<std::vector<size_t>> shared = SharedSteps(job_);
    if (shared.empty()) return Fail(JobFault::kNoSteps);
    if (asked_) {
      std::erase_if(shared, [this](const std::vector<size_t>& rows) {
        const uint64_t number = job_.lanes[0].steps[rows[0]].number;
        return number < asked_->first || number > asked_->second;
      });
      if (shared.empty()) return Fail(JobFault::kNoSuchSteps);
    }
    std::map<std::vector<uint32_t>, int64_t> times;
    std::vector<std::vector<uint32_t>> names(shared.size());
    bool has_collectives = false;
    for (size_t row = 0; row < shared.size(); ++row) {
      rows_ = {shared[row]};
      size_t warm = 0;
      bool is_same = true;
      for (size_t lane = 0; lane < job_.lanes.size(); ++lane) {
        const LaneStep& step = StepOf(0, lane);
        warm += step.is_warmup ? 1 : 0;
        std::vector<uint32_t> found;
        for (const LaneCollective& each : step.collectives) found.push_back(each.name);
        has_collectives |= !found.empty();
        if (lane == 0)
          names[row] = std::move(found);
        else
          is_same &= found == names[row];
      }
      if (!is_same || warm * 2 > job_.lanes.size()) names[row].clear();
      if (!names[row].empty()) times[names[row]] += StepOf(0, 0).span.length();
    }
    rows_.clear();
    if (!has_collectives) return Fail(JobFault::kNoCollectives);
    if (times.empty()) return Fail(JobFault::kDifferentOrder);
    const auto usual =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    names_ = usual->first;
    for (size_t row = 0; row < shared.size(); ++row)
      if (names[row] == names_) rows_.push_back(std::move(shared[row]));
    out_.left_out_steps = shared.size() - rows_.size();
  }

  void Fail(JobFault fault) { out_.fault = fault; }

  template <typename Visit>
  void ForEachLaneStep(const Visit& visit) const {
    for (size_t row = 0; row < rows_.size(); ++row)
      for (size_t lane = 0; lane < job_.lanes.size(); ++lane) visit(row, lane, StepOf(row, lane));
  }

  // Returns how many collectives were entered before a moment.
  static uint32_t EnteredBefore(const LaneStep& step, int64_t time) {
    uint32_t count = 0;
    for (const LaneCollective& each : step.collectives) count += each.arrival_ns < time ? 1 : 0;
    return count;
  }

  static std::optional<LanePhase> PhaseAfter(const LaneStep& step, int64_t time) {
    const auto after =
        std::partition_point(step.pieces.begin(), step.pieces.end(),
                             [time](const LanePiece& piece) { return piece.span.end <= time; });
    return after == step.pieces.end() ? std::nullopt : std::optional(after->phase);
  }

  // Decides in which part of the step lanes wait for each collective.
  void FindWaits() {
    const size_t count = names_.size();
    std::vector<std::vector<double>> waited(count, std::vector<double>(count + 1, 0));
    ForEachLaneStep([&](size_t, size_t, const LaneStep& step) {
      for (size_t i = 0; i < count; ++i) {
        const Interval& wait = step.collectives[i].wait;
        if (wait.length() <= 0) continue;
        waited[i][EnteredBefore(step, wait.start + 1)] += static_cast<double>(wait.length());
      }
    });
    waits_.assign(count + 1, {});
    for (uint32_t i = 0; i < count; ++i) {
      const auto most = std::max_element(waited[i].begin(), waited[i].end());
      if (*most > 0) waits_[static_cast<size_t>(most - waited[i].begin())].push_back(i);
    }
    // What lanes do in these parts before they wait, and which phase follows.
    next_phase_.assign(count + 1, std::nullopt);
    std::vector<std::array<double, kLanePhases>> phases(count + 1);
    for (auto& each : phases) each.fill(0);
    ForEachLaneStep([&](size_t, size_t, const LaneStep& step) {
      for (size_t part = 0; part <= count; ++part) {
        for (const uint32_t i : waits_[part]) {
          const Interval& wait = step.collectives[i].wait;
          if (wait.length() <= 0 || EnteredBefore(step, wait.start + 1) != part) continue;
          if (const auto phase = PhaseAfter(step, wait.end - 1))
            phases[part][static_cast<size_t>(*phase)] += static_cast<double>(wait.length());
        }
      }
    });
    for (size_t part = 0; part <= count; ++part) {
      const auto most = std::max_element(phases[part].begin(), phases[part].end());
      if (*most > 0) next_phase_[part] = static_cast<LanePhase>(most - phases[part].begin());
    }
  }

  // Returns from when on work of a step's part lies behind its waits.
  int64_t BehindFrom(const LaneStep& step, uint32_t part) const {
    if (waits_[part].empty()) return INT64_MAX;
    int64_t first = INT64_MAX;
    for (const uint32_t i : waits_[part]) {
      const Interval& wait = step.collectives[i].wait;
      if (wait.length() > 0 && EnteredBefore(step, wait.start + 1) == part)
        first = std::min(first, wait.start);
    }
    if (first != INT64_MAX || !next_phase_[part]) return first;
    // This lane did not wait here. The phase that follows the waits of others tells.
    const int64_t from = part == 0 ? step.span.start : step.collectives[part - 1].arrival_ns;
    const int64_t to = part == names_.size() ? step.span.end : step.collectives[part].arrival_ns;
    for (const LanePiece& piece : step.pieces) {
      if (piece.span.end <= from || piece.span.start >= to) continue;
      if (piece.phase == *next_phase_[part]) return std::max(piece.span.start, from);
    }
    return INT64_MAX;
  }

  // Calls visit(part, ns) for the work of a step.
  template <typename Visit>
  void ForEachPart(const LaneStep& step, const Visit& visit) const {
    size_t at = 0;
    int64_t from = step.span.start;
    for (uint32_t part = 0; part <= names_.size(); ++part) {
      const bool is_last = part == names_.size();
      const int64_t to = is_last
                             ? step.span.end
                             : std::clamp(step.collectives[part].arrival_ns, from, step.span.end);
      const int64_t behind = BehindFrom(step, part);
      while (at < step.pieces.size() && step.pieces[at].span.end <= from) ++at;
      for (size_t i = at; i < step.pieces.size() && step.pieces[i].span.start < to; ++i) {
        const LanePiece& piece = step.pieces[i];
        const int64_t start = std::max(piece.span.start, from);
        const int64_t end = std::min(piece.span.end, to);
        const int64_t cut = std::clamp(behind, start, end);
        if (cut > start) visit(Part{part, false, piece.phase}, cut - start);
        if (end > cut) visit(Part{part, true, piece.phase}, end - cut);
      }
      from = to;
    }
  }

  void PlanWork() {
    ForEachLaneStep([&](size_t, size_t, const LaneStep& step) {
      ForEachPart(step, [&](const Part& part, int64_t) { places_.try_emplace(part, 0); });
    });
  }

  void Plan() {
    schedule().replicas = job_.lanes.size();
    schedule().is_chained = true;
    std::array<std::optional<uint32_t>, kLanePhases> phase_types;
    std::map<uint32_t, uint32_t> collective_types;
    std::vector<uint32_t> frontier;
    std::map<uint32_t, uint32_t> last_of_stream;
    collectives_.assign(names_.size(), 0);
    auto place = places_.begin();
    const auto add = [&](uint32_t type) {
      PlannedOperation& operation = schedule().operations.emplace_back();
      operation.type = type;
      operation.like = static_cast<uint32_t>(schedule().operations.size() - 1);
      operation.after = frontier;
      return operation.like;
    };
    for (uint32_t part = 0; part <= names_.size(); ++part) {
      for (const bool is_behind : {false, true}) {
        if (is_behind)
          for (const uint32_t i : waits_[part]) frontier.push_back(collectives_[i]);
        for (; place != places_.end() && place->first.before == part &&
               place->first.is_behind == is_behind;
             ++place) {
          const auto phase = static_cast<size_t>(place->first.phase);
          if (!phase_types[phase]) {
            phase_types[phase] = static_cast<uint32_t>(schedule().types.size());
            schedule().types.emplace_back(PhaseName(place->first.phase));
          }
          place->second = add(*phase_types[phase]);
          frontier = {place->second};
        }
      }
      if (part == names_.size()) break;
      const auto [type, is_new] = collective_types.try_emplace(
          names_[part], static_cast<uint32_t>(schedule().types.size()));
      if (is_new) schedule().types.push_back(job_.names[names_[part]]);
      const uint32_t index = add(type->second);
      PlannedOperation& operation = schedule().operations[index];
      const uint32_t stream = StepOf(0, 0).collectives[part].stream;
      if (const auto last = last_of_stream.find(stream); last != last_of_stream.end())
        operation.after.push_back(last->second);
      last_of_stream[stream] = index;
      operation.group = static_cast<uint32_t>(schedule().groups.size());
      operation.is_transfer = true;
      schedule().groups.push_back({{index}, true});
      collectives_[part] = index;
    }
  }

  void FillTimes() {
    const size_t lanes = job_.lanes.size();
    schedule().durations.assign(schedule().operations.size(),
                                std::vector<double>(rows_.size() * lanes, 0));
    ForEachLaneStep([&](size_t row, size_t lane, const LaneStep& step) {
      ForEachPart(step, [&](const Part& part, int64_t ns) {
        schedule().durations[places_.at(part)][row * lanes + lane] += static_cast<double>(ns);
      });
    });
    int64_t before = 0;
    for (size_t row = 0; row < rows_.size(); ++row) {
      FillTransfers(row);
      int64_t first = INT64_MAX, last = INT64_MIN;
      bool follows = row != 0;
      for (size_t lane = 0; lane < lanes; ++lane) {
        const LaneStep& step = StepOf(row, lane);
        first = std::min(first, step.span.start);
        last = std::max(last, step.span.end);
        follows = follows && step.follows && rows_[row][lane] == rows_[row - 1][lane] + 1;
      }
      schedule().steps.push_back(StepOf(row, 0).number);
      schedule().observed_ns.push_back(static_cast<double>(last - (follows ? before : first)));
      before = last;
    }
  }

  // Returns when a collective ended in a lane. Without a recorded end the lane has the result as
  // soon as the first of the others. None: no lane has an end.
  std::optional<int64_t> DoneIn(size_t row, size_t lane, size_t index) const {
    const LaneCollective& own = StepOf(row, lane).collectives[index];
    if (own.has_end) return own.done_ns;
    std::optional<int64_t> first;
    for (size_t other = 0; other < job_.lanes.size(); ++other) {
      const LaneCollective& each = StepOf(row, other).collectives[index];
      if (each.has_end) first = std::min(first.value_or(each.done_ns), each.done_ns);
    }
    if (first) first = std::max(*first, own.arrival_ns);
    return first;
  }

  void FillTransfers(size_t row) {
    const size_t lanes = job_.lanes.size();
    std::vector<std::vector<int64_t>> done(names_.size(), std::vector<int64_t>(lanes));
    for (size_t i = 0; i < names_.size(); ++i) {
      int64_t begin = INT64_MIN;
      bool is_known = true;
      for (size_t lane = 0; lane < lanes; ++lane) {
        const std::vector<LaneCollective>& all = StepOf(row, lane).collectives;
        int64_t start = all[i].arrival_ns;
        for (size_t other = 0; other < i; ++other)
          if (all[other].stream == all[i].stream) start = std::max(start, done[other][lane]);
        begin = std::max(begin, start);
        const std::optional<int64_t> end = DoneIn(row, lane, i);
        is_known &= end.has_value();
        done[i][lane] = end.value_or(start);
      }
      if (!is_known) ++unknown_;
      for (size_t lane = 0; lane < lanes; ++lane) {
        const auto took = static_cast<double>(done[i][lane] - begin);
        schedule().durations[collectives_[i]][row * lanes + lane] =
            took <= -kTransferNoiseNs || !is_known ? 0 : took;
      }
    }
  }

  const JobLanes& job_;
  const std::optional<std::pair<uint64_t, uint64_t>>& asked_;  // numbers of steps
  JobSchedule out_;
  std::vector<std::vector<size_t>> rows_;     // by step and lane
  std::vector<uint32_t> names_;               // of a step's collectives
  std::vector<std::vector<uint32_t>> waits_;  // by part: collectives that lanes wait for in it
  std::vector<std::optional<LanePhase>> next_phase_;  // by part
  std::map<Part, uint32_t> places_;                   // operations of the plan
  std::vector<uint32_t> collectives_;                 // the same, of collectives
  double unknown_ = 0;                                // collectives without any end
};

}  // namespace

std::string_view PhaseName(LanePhase phase) {
  static constexpr std::array<std::string_view, kLanePhases> kNames = {
      "input",     "forward", "backward", "optimizer", "compute",
      "lock wait", "blocked", "host",     "other"};
  return kNames[static_cast<size_t>(phase)];
}

JobSchedule MakeJobSchedule(const JobLanes& job,
                            const std::optional<std::pair<uint64_t, uint64_t>>& steps) {
  if (job.lanes.empty() || job.lanes[0].steps.empty()) {
    JobSchedule out;
    out.fault = JobFault::kNoSteps;
    return out;
  }
  return JobMaker(job, steps).Make();
}

}  // namespace gpuprof::analysis
