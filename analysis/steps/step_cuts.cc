// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_cuts.h.

#include "analysis/steps/step_cuts.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "proto/step_names.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

bool AnyStartIn(const std::vector<Interval>& sorted, int64_t from, int64_t to) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), from,
                                   [](const Interval& i, int64_t t) { return i.start < t; });
  return at != sorted.end() && at->start < to;
}

int64_t MedianOf(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<Interval> SpansOf(const Marks& marks) {
  std::vector<Interval> spans;
  for (const Mark& mark : marks) spans.push_back(mark.span);
  return spans;
}

// What followed an asking of the loader, before the next one.
enum class AskedFor : uint8_t {
  kNothing,   // next to no operation: the batch was kept, or there was none
  kUse,       // operations, but no backward pass: an evaluation
  kTraining,  // a backward pass
  kUpdate     // an optimizer step
};

// Time of `busy` (sorted) below which a batch was kept and not used; it may have been moved to a
// device.
int64_t MostForKept(const Mark& asking) {
  constexpr int64_t kLeast = 1'000'000;
  return std::max(kLeast, asking.span.length() / 4);
}

std::vector<AskedFor> ReadAskings(const Marks& loader, const std::vector<Interval>& updates,
                                  const std::vector<Interval>& backward,
                                  const std::vector<Interval>& busy) {
  std::vector<AskedFor> askings;
  for (size_t i = 0; i < loader.size(); ++i) {
    const Interval& asking = loader[i].span;
    const int64_t to = i + 1 == loader.size() ? kForever : loader[i + 1].span.start;
    const bool used = CoveredLength(busy, {asking.end, to}) > MostForKept(loader[i]);
    askings.push_back(AnyStartIn(updates, asking.start, to)    ? AskedFor::kUpdate
                      : AnyStartIn(backward, asking.start, to) ? AskedFor::kTraining
                      : used                                   ? AskedFor::kUse
                                                               : AskedFor::kNothing);
  }
  return askings;
}

// How many batches the loop takes before it computes with the first: the usual number of askings
// for nothing in front of a step. A few steps have more: those that found an epoch at its end.
size_t BatchesTakenAhead(const std::vector<AskedFor>& askings) {
  std::vector<int64_t> runs;
  int64_t run = 0;
  bool in_step = false;
  for (const AskedFor asked : askings) {
    if (asked == AskedFor::kNothing) {
      ++run;
      continue;
    }
    if (asked != AskedFor::kUse) {
      if (!in_step) runs.push_back(run);
      in_step = asked != AskedFor::kUpdate;
    }
    run = 0;
  }
  return static_cast<size_t>(MedianOf(std::move(runs)));
}

int64_t MedianGap(const Marks& marks) {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < marks.size(); ++i)
    gaps.push_back(marks[i].span.start - marks[i - 1].span.start);
  return MedianOf(std::move(gaps));
}

// Leaves out askings that found an epoch at its end, although operations followed: those of the
// next epoch's beginning. They take next to no time.
void DropEmptyAskings(std::vector<DetectedStep>* steps) {
  std::vector<int64_t> lengths;
  for (const DetectedStep& step : *steps) lengths.push_back(step.span.length());
  const int64_t tiny = MedianOf(std::move(lengths)) / 10;
  const auto is_tiny = [&](const DetectedStep& step) { return step.span.length() < tiny; };
  const auto count = std::count_if(steps->begin(), steps->end(), is_tiny);
  if (static_cast<size_t>(count) * 4 <= steps->size()) std::erase_if(*steps, is_tiny);
}

}  // namespace

void StepsFromBatches(const Marks& loader, const Marks& optimizer,
                      const std::vector<Interval>& backward, const std::vector<Interval>& busy,
                      DetectedSteps* out) {
  const std::vector<Interval> updates = SpansOf(optimizer);
  const std::vector<AskedFor> askings = ReadAskings(loader, updates, backward, busy);
  const size_t ahead = BatchesTakenAhead(askings);
  constexpr int64_t kNone = -1;
  int64_t begin = kNone;
  uint32_t batches = 0;
  size_t waiting = 0;  // askings for nothing since the last one for something
  if (!updates.empty() && updates.front().start < loader.front().span.start) ++out->partial;
  for (size_t i = 0; i < loader.size(); ++i) {
    if (askings[i] == AskedFor::kNothing) {
      ++waiting;
      continue;
    }
    if (askings[i] == AskedFor::kUse) {
      out->other_batches += waiting + 1;
      waiting = 0;
      continue;
    }
    const size_t kept = std::min(waiting, ahead);
    out->other_batches += waiting - kept;
    waiting = 0;
    if (begin == kNone) begin = loader[i - kept].span.start;
    batches += static_cast<uint32_t>(kept) + 1;
    if (askings[i] != AskedFor::kUpdate) continue;
    const bool last = i + 1 == loader.size();
    const int64_t end = last ? updates.back().end : loader[i + 1].span.start;
    out->steps.push_back({{begin, end}, batches, 0});
    begin = kNone;
    batches = 0;
  }
  out->other_batches += waiting;
  if (begin != kNone) ++out->partial;
}

void StepsFromOptimizer(const Marks& optimizer, size_t cycle, DetectedSteps* out) {
  ++out->partial;  // the one that the first end closes: nobody saw it begin
  for (size_t i = 2 * cycle - 1; i < optimizer.size(); i += cycle) {
    out->steps.push_back({{optimizer[i - cycle].span.end, optimizer[i].span.end}, 0, 0});
  }
  if (optimizer.size() % cycle != 0) ++out->partial;
}

void AddFirstOfCapture(ProcessOps& ops, const Marks& optimizer, size_t cycle, DetectedSteps* out) {
  const auto& captures = ops.process().captures;
  if (captures.empty() || optimizer.size() < cycle) return;
  const std::string& trigger = captures.front().start_trigger;
  if (trigger != proto::kAtOptimizerStep && trigger != proto::kAtFirstStep) return;
  const OpTree& tree = ops.tree(out->track);
  int64_t begin = kForever;
  for (size_t row = 0; row < ops.process().tracks[out->track].op.rows(); ++row) {
    if (tree.start(row) >= captures.front().start_ns) begin = std::min(begin, tree.start(row));
  }
  const Interval& last = optimizer[cycle - 1].span;
  if (begin >= last.end) return;
  out->steps.insert(out->steps.begin(), {{begin, last.end}, 0, 0});
  --out->partial;
}

void StepsFromMarks(const Marks& marks, DetectedSteps* out) {
  const int64_t usual = MedianGap(marks);
  for (size_t i = 0; i < marks.size(); ++i) {
    const Interval& span = marks[i].span;
    const bool last = i + 1 == marks.size();
    if (last && span.length() * 2 < usual) {
      ++out->partial;
      continue;
    }
    const int64_t end = last ? span.end : marks[i + 1].span.start;
    if (end > span.start) out->steps.push_back({{span.start, end}, 0, 0});
  }
}

void StepsFromRuns(const Process& process, const Marks& runs, const std::vector<uint32_t>& batches,
                   const std::vector<Interval>& others, DetectedSteps* out) {
  // Whether the capture that has a run ends before this moment.
  const auto is_beyond = [&](const Interval& run, int64_t time) {
    return std::any_of(
        process.captures.begin(), process.captures.end(), [&](const CaptureWindow& window) {
          return run.start >= window.start_ns && run.end <= window.end_ns && time > window.end_ns;
        });
  };
  const auto first_other = [&](const Interval& run, int64_t until) {
    const auto at = std::lower_bound(others.begin(), others.end(), run.end,
                                     [](const Interval& i, int64_t t) { return i.start < t; });
    return at != others.end() && at->start < until ? at->start : kForever;
  };
  size_t with_others = 0;
  for (size_t i = 0; i + 1 < runs.size(); ++i)
    with_others += first_other(runs[i].span, runs[i + 1].span.start) != kForever;
  const bool is_usual = with_others * 2 > runs.size();
  for (size_t i = 0; i < runs.size(); ++i) {
    const Interval& run = runs[i].span;
    const bool is_last = i + 1 == runs.size() || is_beyond(run, runs[i + 1].span.start);
    int64_t end = is_last ? kForever : runs[i + 1].span.start;
    if (!is_usual || is_last) end = std::min(end, first_other(run, end));
    if (is_last && end != kForever && is_beyond(run, end)) end = kForever;
    // Nothing tells where the last step ends, other than its run.
    if (end == kForever) end = run.end;
    if (end > run.start) out->steps.push_back({{run.start, end}, batches[i], 0});
  }
}

void StepsFromBackward(ProcessOps& ops, size_t track, const std::vector<Interval>& backward,
                       DetectedSteps* out) {
  const OpTree& tree = ops.tree(track);
  const OpTable& table = ops.process().tracks[track].op;
  std::vector<int64_t> others;  // when other operations begin
  for (size_t row = 0; row < tree.rows(); ++row) {
    const proto::OpScope scope = proto::OpScopeOf(table.operation[row]);
    if (tree.parent(row) == OpTree::kNone && scope == proto::OpScope::kFunction &&
        ops.name_kind(table.name[row]) == NameKind::kPlain)
      others.push_back(tree.start(row));
  }
  std::sort(others.begin(), others.end());
  std::vector<int64_t> ends;
  for (size_t i = 0; i < backward.size(); ++i) {
    const bool last = i + 1 == backward.size();
    const auto next = std::upper_bound(others.begin(), others.end(), backward[i].start);
    if (last || (next != others.end() && *next <= backward[i + 1].start))
      ends.push_back(backward[i].end);
  }
  if (!ends.empty()) ++out->partial;  // nobody saw the first begin
  for (size_t i = 1; i < ends.size(); ++i) out->steps.push_back({{ends[i - 1], ends[i]}, 0, 0});
}

void StepsFromLoader(ProcessOps& ops, const Marks& loader, DetectedSteps* out) {
  const auto& ends = ops.process().tracks[out->track].op.end_ns;
  auto ops_between = [&](int64_t from, int64_t to) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), from);
    return std::upper_bound(first, ends.end(), to) - first;
  };
  std::vector<DetectedStep> worked, all;
  for (size_t i = 0; i < loader.size(); ++i) {
    const int64_t begin = loader[i].span.start;
    const bool last = i + 1 == loader.size();
    const int64_t end = last ? std::max(ends.back(), loader[i].span.end) : loader[i + 1].span.start;
    const bool follows = ops_between(loader[i].span.end, last ? kForever : end) > 0;
    if (!last) all.push_back({{begin, end}, 1, 0});
    if (follows) worked.push_back({{begin, end}, 1, 0});
  }
  DropEmptyAskings(&worked);
  const bool data_only = worked.empty();
  out->other_batches = data_only ? 0 : loader.size() - worked.size();
  out->steps = data_only ? std::move(all) : std::move(worked);
}

}  // namespace gpuprof::analysis
