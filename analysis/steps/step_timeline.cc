// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_timeline.h.

#include "analysis/steps/step_timeline.h"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/steps/function_runs.h"
#include "analysis/steps/program_runs.h"
#include "analysis/steps/wait_kind.h"

namespace gpuprof::analysis {
namespace {

using Segment = CategoryTimeline::Segment;

bool Contains(const std::vector<size_t>& list, size_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// What happens inside an optimizer step, outermost spans first.
struct Part {
  Interval span;
  enum Kind { kForward, kBackward, kZeroGrad } kind;
};
struct OptimizerStep {
  Interval span;
  std::vector<Part> parts;
};

bool IsBackward(const ProcessOps& ops, const OpTable& table, size_t row) {
  return proto::OpScopeOf(table.operation[row]) == proto::OpScope::kBackward ||
         ops.name_kind(table.name[row]) == NameKind::kAutograd;
}

// Finds the outermost optimizer steps and their parts. Ranges of the user are looked through.
std::vector<OptimizerStep> FindOptimizerSteps(ProcessOps& ops, size_t track) {
  constexpr uint32_t kNone = OpTree::kNone;
  std::vector<OptimizerStep> steps;
  if (!ops.has(NameKind::kOptimizerStep)) return steps;
  const OpTree& tree = ops.tree(track);
  const OpTable& table = ops.process().tracks[track].op;
  // The step whose parts the children of a row are.
  std::vector<uint32_t> step_of(tree.rows(), kNone);
  for (size_t i = 0; i < tree.rows(); ++i) {
    const uint32_t row = tree.in_order(i);
    const uint32_t parent = tree.parent(row);
    const uint32_t step = parent == kNone ? kNone : step_of[parent];
    const NameKind kind = ops.name_kind(table.name[row]);
    const Interval span = {tree.start(row), tree.end(row)};
    if (step == kNone) {
      if (kind != NameKind::kOptimizerStep) continue;
      step_of[row] = static_cast<uint32_t>(steps.size());
      steps.push_back({span, {}});
    } else if (kind == NameKind::kZeroGrad) {
      steps[step].parts.push_back({span, Part::kZeroGrad});
    } else if (IsBackward(ops, table, row)) {
      steps[step].parts.push_back({span, Part::kBackward});
    } else if (IsUserRange(table, row)) {
      step_of[row] = step;
    } else {
      steps[step].parts.push_back({span, Part::kForward});
    }
  }
  return steps;
}

void AddBackwardElsewhere(const std::vector<Interval>& elsewhere, OptimizerStep* step) {
  auto at = std::upper_bound(elsewhere.begin(), elsewhere.end(), step->span.start,
                             [](int64_t time, const Interval& i) { return time < i.end; });
  for (; at != elsewhere.end() && at->start < step->span.end; ++at) {
    step->parts.push_back(
        {{std::max(at->start, step->span.start), std::min(at->end, step->span.end)},
         Part::kBackward});
  }
}

// Returns what remains of the optimizer step for the optimizer: sorted. Empty: it has no closure.
std::vector<Interval> OptimizersOwn(OptimizerStep* step) {
  std::stable_sort(step->parts.begin(), step->parts.end(),
                   [](const Part& a, const Part& b) { return a.span.start < b.span.start; });
  std::vector<Interval> own;
  int64_t backward_end = -1, zero_grad = -1;
  bool has_backward = false, has_forward = false;
  for (const Part& part : step->parts) {
    switch (part.kind) {
      case Part::kZeroGrad:
        own.push_back(part.span);
        if (zero_grad < 0) zero_grad = part.span.start;
        has_forward = false;
        break;
      case Part::kForward:
        has_forward = true;
        break;
      case Part::kBackward:
        if (has_backward && zero_grad >= 0 && has_forward) own.push_back({backward_end, zero_grad});
        has_backward = true;
        zero_grad = -1;
        has_forward = false;
        backward_end = std::max(backward_end, part.span.end);
        break;
    }
  }
  if (!has_backward) return {};
  own.push_back({backward_end, step->span.end});
  return UnionOf(std::move(own));
}

// Gives the time of a closure to its forward operations, and takes it from the optimizer.
void SplitClosure(const OptimizerStep& step, const std::vector<Interval>& own,
                  const std::vector<Interval>& forward, std::vector<Segment>* segments) {
  std::vector<Segment> split;
  for (const Segment& segment : *segments) {
    const bool inside = segment.category == Category::kOptimizer &&
                        segment.start >= step.span.start && segment.end <= step.span.end;
    if (!inside) {
      split.push_back(segment);
      continue;
    }
    const std::vector<Interval> whole = {{segment.start, segment.end}};
    const std::vector<Interval> kept = Intersection(whole, own);
    CategoryTimeline parts;
    parts.FillGaps(kept, Category::kOptimizer);
    parts.FillGaps(Intersection(whole, forward), Category::kForward);
    split.insert(split.end(), parts.segments().begin(), parts.segments().end());
  }
  *segments = std::move(split);
}

// Cuts closures out of the optimizer's segments.
CategoryTimeline WithoutClosures(ProcessOps& ops, size_t track,
                                 const std::vector<Interval>& elsewhere,
                                 const CategoryTimeline& timeline) {
  std::vector<Segment> segments = timeline.segments();
  std::vector<Segment> result;
  auto next = segments.begin();
  std::vector<OptimizerStep> steps = FindOptimizerSteps(ops, track);
  std::stable_sort(steps.begin(), steps.end(), [](const OptimizerStep& a, const OptimizerStep& b) {
    return a.span.start < b.span.start;
  });
  for (OptimizerStep& step : steps) {
    AddBackwardElsewhere(elsewhere, &step);
    const std::vector<Interval> own = OptimizersOwn(&step);
    if (own.empty()) continue;
    std::vector<Interval> forward;
    for (const Part& part : step.parts)
      if (part.kind == Part::kForward) forward.push_back(part.span);
    const auto first = std::find_if(next, segments.end(),
                                    [&](const Segment& s) { return s.start >= step.span.start; });
    const auto last = std::find_if(first, segments.end(),
                                   [&](const Segment& s) { return s.start >= step.span.end; });
    result.insert(result.end(), next, first);
    std::vector<Segment> inside(first, last);
    SplitClosure(step, own, UnionOf(std::move(forward)), &inside);
    result.insert(result.end(), inside.begin(), inside.end());
    next = last;
  }
  result.insert(result.end(), next, segments.end());
  return CategoryTimeline(std::move(result));
}

// Gives forward operations that follow a backward pass, up to an optimizer step, to the optimizer.
CategoryTimeline WithGradientWork(const CategoryTimeline& timeline) {
  std::vector<Segment> segments = timeline.segments();
  bool after_backward = false;
  std::vector<size_t> between;
  for (size_t i = 0; i < segments.size(); ++i) {
    switch (segments[i].category) {
      case Category::kForward:
        if (after_backward) between.push_back(i);
        continue;
      case Category::kOptimizer:
        for (const size_t k : between) segments[k].category = Category::kOptimizer;
        break;
      default:
        break;
    }
    after_backward = segments[i].category == Category::kBackward;
    between.clear();
  }
  return CategoryTimeline(std::move(segments));
}

// Gives `category` to these times, whatever they were.
CategoryTimeline Overlaid(const CategoryTimeline& timeline, const std::vector<Interval>& times,
                          Category category) {
  if (times.empty()) return timeline;
  CategoryTimeline result;
  result.FillGaps(times, category);
  std::array<std::vector<Interval>, kCategories> others;
  for (const Segment& segment : timeline.segments())
    others[static_cast<size_t>(segment.category)].push_back({segment.start, segment.end});
  for (size_t i = 0; i < kCategories; ++i) result.FillGaps(others[i], static_cast<Category>(i));
  return result;
}

// A thread that waits for what its program computes on other threads computes.
CategoryTimeline WithWorkElsewhere(const CategoryTimeline& timeline,
                                   const std::vector<Interval>& work) {
  std::vector<Interval> waits;
  for (const Segment& segment : timeline.segments())
    if (segment.category == Category::kBlocked) waits.push_back({segment.start, segment.end});
  return Overlaid(timeline, Intersection(waits, work), Category::kForward);
}

// Sorted and disjoint gaps between neighbouring spans of `sorted`.
std::vector<Interval> GapsOf(const std::vector<Interval>& sorted) {
  std::vector<Interval> gaps;
  for (size_t i = 1; i < sorted.size(); ++i) gaps.push_back({sorted[i - 1].end, sorted[i].start});
  return gaps;
}

// Gives `category` to those gaps within which the timeline says nothing at all.
void FillEmptyGaps(const std::vector<Interval>& gaps, Category category,
                   CategoryTimeline* timeline) {
  std::vector<Interval> empty;
  auto at = timeline->segments().begin();
  const auto end = timeline->segments().end();
  for (const Interval& gap : gaps) {
    while (at != end && at->end <= gap.start) ++at;
    if (at == end || at->start >= gap.end) empty.push_back(gap);
  }
  timeline->FillGaps(empty, category);
}

// Gaps between two neighbouring backward segments. Waits within them stay what they are.
std::vector<Interval> BackwardGaps(const CategoryTimeline& timeline) {
  std::vector<Interval> gaps;
  int64_t backward_end = -1;
  for (const Segment& segment : timeline.segments()) {
    const bool waits =
        segment.category == Category::kLockWait || segment.category == Category::kBlocked;
    if (waits) continue;
    const bool backward = segment.category == Category::kBackward;
    if (backward && backward_end >= 0 && segment.start > backward_end)
      gaps.push_back({backward_end, segment.start});
    backward_end = backward ? segment.end : -1;
  }
  return gaps;
}

std::vector<Interval> WaitsOf(const WaitTable& waits, bool contended) {
  std::vector<Interval> spans;
  for (size_t row = 0; row < waits.rows(); ++row) {
    const proto::WaitKind kind = proto::WaitKindOf(waits.operation[row]);
    if (IsContention(kind) == contended)
      spans.push_back({waits.end_ns[row] - waits.duration_ns[row], waits.end_ns[row]});
  }
  return UnionOf(std::move(spans));
}

std::vector<Interval> BackwardElsewhere(ProcessOps& ops, size_t track,
                                        const std::vector<size_t>& rivals) {
  std::vector<Interval> spans;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    if (i == track || Contains(rivals, i)) continue;
    const std::vector<Interval> more = ops.Backward(i);
    spans.insert(spans.end(), more.begin(), more.end());
  }
  return UnionOf(std::move(spans));
}

// Finds the end of the last backward pass of a sorted step. INT64_MIN: it has no closure.
int64_t LastBackwardEnd(const OptimizerStep& step) {
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const Part& part : step.parts)
    if (part.kind == Part::kBackward) end = std::max(end, part.span.end);
  return end;
}

}  // namespace

std::vector<Interval> OptimizerPython(ProcessOps& ops, size_t track,
                                      const std::vector<size_t>& rivals) {
  const std::vector<Interval> elsewhere = BackwardElsewhere(ops, track, rivals);
  std::vector<Interval> python;
  for (OptimizerStep& step : FindOptimizerSteps(ops, track)) {
    AddBackwardElsewhere(elsewhere, &step);
    const int64_t closure_end = LastBackwardEnd(step);
    std::vector<Interval> updates;
    for (const Part& part : step.parts)
      if (part.span.start >= closure_end) updates.push_back(part.span);
    updates = UnionOf(std::move(updates));
    const bool has_closure = closure_end >= step.span.start;
    if (has_closure && updates.empty()) continue;
    int64_t at = has_closure ? updates.front().start : step.span.start;
    for (const Interval& update : updates) {
      python.push_back({at, update.start});
      at = update.end;
    }
    python.push_back({at, step.span.end});
  }
  return UnionOf(std::move(python));
}

std::vector<Interval> BackwardOf(ProcessOps& ops, size_t track, const std::vector<size_t>& rivals) {
  std::vector<Interval> spans = BackwardElsewhere(ops, track, rivals);
  const std::vector<Interval> own = ops.Backward(track);
  spans.insert(spans.end(), own.begin(), own.end());
  return UnionOf(std::move(spans));
}

CategoryTimeline StepTimeline(ProcessOps& ops, size_t track, const std::vector<size_t>& rivals) {
  const std::vector<Interval> elsewhere = BackwardElsewhere(ops, track, rivals);
  CategoryTimeline timeline = WithoutClosures(ops, track, elsewhere, ops.Classify(track));
  timeline.FillGaps(elsewhere, Category::kBackward);
  // The thread waits for the other one, which is at its backward pass.
  FillEmptyGaps(GapsOf(elsewhere), Category::kBackward, &timeline);
  timeline = WithGradientWork(timeline);
  timeline = Overlaid(timeline, InputInFunctions(ops, track), Category::kInput);
  timeline = Overlaid(timeline, ResultWaits(ops.process(), track), Category::kBlocked);
  const WaitTable& waits = ops.process().tracks[track].wait;
  timeline.FillGaps(WaitsOf(waits, /*contended=*/true), Category::kLockWait);
  timeline.FillGaps(WaitsOf(waits, /*contended=*/false), Category::kBlocked);
  timeline.FillGaps(BackwardGaps(timeline), Category::kBackward);
  return WithWorkElsewhere(timeline, ProgramWork(ops.process(), track));
}

void FillShortGaps(CategoryTimeline* timeline) {
  constexpr int64_t kMost = 2'000'000;
  std::array<std::vector<Interval>, kCategories> gaps;
  const std::vector<Segment>& segments = timeline->segments();
  for (size_t i = 1; i < segments.size(); ++i) {
    const Segment& before = segments[i - 1];
    const Segment& after = segments[i];
    if (after.start <= before.end || after.start - before.end > kMost) continue;
    const bool same = before.category == after.category;
    const bool begins =
        (before.category == Category::kForward && after.category == Category::kBackward) ||
        (before.category == Category::kBackward && after.category == Category::kOptimizer) ||
        (before.category == Category::kOptimizer && after.category == Category::kForward);
    if (same || begins)
      gaps[static_cast<size_t>(after.category)].push_back({before.end, after.start});
  }
  for (size_t i = 0; i < kCategories; ++i) timeline->FillGaps(gaps[i], static_cast<Category>(i));
}

}  // namespace gpuprof::analysis
