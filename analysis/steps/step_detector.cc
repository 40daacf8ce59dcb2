// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_detector.h.

#include "analysis/steps/step_detector.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "analysis/steps/optimizer_cycle.h"
#include "analysis/steps/wait_kind.h"

namespace gpuprof::analysis {
namespace {

using Marks = std::vector<Mark>;

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

// Outermost spans whose name is wanted, in order of time.
template <typename Wanted>
Marks Collect(ProcessOps& ops, size_t track, const Wanted& wanted) {
  const OpTable& table = ops.process().tracks[track].op;
  Marks marks;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (!wanted(table.name[row])) continue;
    const OpTree& tree = ops.tree(track);
    uint32_t up = tree.parent(row);
    while (up != OpTree::kNone && !wanted(table.name[up])) up = tree.parent(up);
    if (up == OpTree::kNone) marks.push_back({{tree.start(row), tree.end(row)}, table.name[row]});
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const Mark& a, const Mark& b) { return a.span.start < b.span.start; });
  return marks;
}

// The track with most marks, and those.
template <typename Wanted>
Marks CollectBusiest(ProcessOps& ops, const Wanted& wanted, size_t* track) {
  Marks best;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    Marks marks = Collect(ops, i, wanted);
    if (marks.size() <= best.size()) continue;
    best = std::move(marks);
    *track = i;
  }
  return best;
}

Marks CollectKind(ProcessOps& ops, NameKind kind, size_t* track) {
  if (!ops.has(kind)) return {};
  return CollectBusiest(
      ops, [&](uint32_t id) { return ops.name_kind(id) == kind; }, track);
}

bool AnyStartIn(const std::vector<Interval>& sorted, int64_t from, int64_t to) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), from,
                                   [](const Interval& i, int64_t t) { return i.start < t; });
  return at != sorted.end() && at->start < to;
}

std::vector<Interval> SpansOf(const Marks& marks) {
  std::vector<Interval> spans;
  for (const Mark& mark : marks) spans.push_back(mark.span);
  return spans;
}

// Steps that begin with the batch that feeds them. A batch trains when a backward pass or an
// optimizer step follows it before the next batch is asked for; a step ends with the batch whose
// optimizer step closes it.
void StepsFromBatches(const Marks& loader, const Marks& optimizer,
                      const std::vector<Interval>& backward, DetectedSteps* out) {
  const std::vector<Interval> updates = SpansOf(optimizer);
  int64_t begin = -1;
  uint32_t batches = 0;
  if (!updates.empty() && updates.front().start < loader.front().span.start) ++out->partial;
  for (size_t i = 0; i < loader.size(); ++i) {
    const int64_t from = loader[i].span.start;
    const bool last = i + 1 == loader.size();
    const int64_t to = last ? kForever : loader[i + 1].span.start;
    const bool updated = AnyStartIn(updates, from, to);
    if (!updated && !AnyStartIn(backward, from, to)) {
      ++out->other_batches;
      continue;
    }
    if (batches++ == 0) begin = from;
    if (!updated) continue;
    out->steps.push_back({{begin, last ? updates.back().end : to}, batches, 0});
    batches = 0;
  }
  if (batches > 0) ++out->partial;
}

// Steps between the ends of optimizer steps, `cycle` of them to a step.
void StepsFromOptimizer(const Marks& optimizer, size_t cycle, DetectedSteps* out) {
  ++out->partial;  // the one that the first end closes: nobody saw it begin
  for (size_t i = 2 * cycle - 1; i < optimizer.size(); i += cycle) {
    out->steps.push_back({{optimizer[i - cycle].span.end, optimizer[i].span.end}, 0, 0});
  }
  if (optimizer.size() % cycle != 0) ++out->partial;
}

// A capture that began where a step did (--capture=steps): the first one is whole too. What the
// recorder's own start took lies before its first operation.
void AddFirstOfCapture(ProcessOps& ops, const Marks& optimizer, size_t cycle, DetectedSteps* out) {
  const auto& captures = ops.process().captures;
  if (captures.empty() || captures.front().start_trigger != "steps" || optimizer.size() < cycle)
    return;
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

int64_t MedianGap(const Marks& marks) {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < marks.size(); ++i) {
    gaps.push_back(marks[i].span.start - marks[i - 1].span.start);
  }
  if (gaps.empty()) return 0;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<ptrdiff_t>(gaps.size() / 2),
                   gaps.end());
  return gaps[gaps.size() / 2];
}

// Steps from each mark to the next; where the next is far off, to the end of the mark's own span.
void StepsFromMarks(const Marks& marks, DetectedSteps* out) {
  const int64_t far = 4 * MedianGap(marks);
  for (size_t i = 0; i < marks.size(); ++i) {
    const Interval& span = marks[i].span;
    int64_t end = i + 1 < marks.size() ? marks[i + 1].span.start : span.end;
    if (end - span.start > far && far > 0) end = span.end;
    if (end > span.start) out->steps.push_back({{span.start, end}, 0, 0});
  }
}

// Steps from batch to batch. Where ops follow the batches at all, a batch that none follows ended
// its epoch.
void StepsFromLoader(ProcessOps& ops, const Marks& loader, DetectedSteps* out) {
  const auto& ends = ops.process().tracks[out->track].op.end_ns;
  auto ops_between = [&](int64_t from, int64_t to) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), from);
    return std::lower_bound(first, ends.end(), to) - first;
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
  const bool data_only = worked.empty();
  out->other_batches = data_only ? 0 : loader.size() - worked.size();
  out->steps = data_only ? std::move(all) : std::move(worked);
}

// Leaves only steps that lie within one capture.
void KeepWithinCaptures(const Process& process, DetectedSteps* out) {
  if (process.captures.empty()) return;
  std::erase_if(out->steps, [&](DetectedStep& step) {
    for (const CaptureWindow& window : process.captures) {
      if (step.span.start < window.start_ns || step.span.end > window.end_ns) continue;
      step.capture = window.number;
      return false;
    }
    ++out->partial;
    return true;
  });
}

// How much to believe: enough steps, of similar length.
void Judge(DetectedSteps* out, const std::string& how, bool doubtful) {
  std::vector<int64_t> lengths;
  for (const DetectedStep& step : out->steps) lengths.push_back(step.span.length());
  std::sort(lengths.begin(), lengths.end());
  const size_t count = lengths.size();
  const int64_t median = count == 0 ? 0 : lengths[(count - 1) / 2];
  const auto alike = std::count_if(lengths.begin(), lengths.end(), [&](int64_t length) {
    return length > median / 2 && length < median * 2;
  });
  results::Confidence& confidence = out->confidence;
  if (count == 0) {
    confidence.set_level(results::LEVEL_NONE);
    confidence.set_reason("no whole step within a capture");
  } else if (count < 3) {
    confidence.set_level(results::LEVEL_LOW);
    confidence.set_reason(how + "; only " + std::to_string(count) + " whole steps");
  } else if (doubtful || static_cast<size_t>(alike) * 10 < count * 7 || count < 5) {
    confidence.set_level(results::LEVEL_MEDIUM);
    confidence.set_reason(how + "; " + std::to_string(alike) + " of " + std::to_string(count) +
                          " steps within a factor of two of the median");
  } else {
    confidence.set_level(results::LEVEL_HIGH);
    confidence.set_reason(how + "; " + std::to_string(alike) + " of " + std::to_string(count) +
                          " steps within a factor of two of the median");
  }
}

std::vector<Interval> AllBackward(ProcessOps& ops) {
  std::vector<Interval> all;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    const std::vector<Interval> spans = ops.Backward(i);
    all.insert(all.end(), spans.begin(), spans.end());
  }
  return UnionOf(std::move(all));
}

bool FromMarker(ProcessOps& ops, const std::regex& marker, DetectedSteps* out) {
  std::unordered_set<uint32_t> wanted;
  for (const auto& [id, text] : ops.process().strings) {
    if (std::regex_search(text, marker)) wanted.insert(id);
  }
  if (wanted.empty()) return false;
  const Marks marks = CollectBusiest(
      ops, [&](uint32_t id) { return wanted.count(id) != 0; }, &out->track);
  if (marks.empty()) return false;
  out->method = results::STEP_METHOD_MARKER;
  out->marker = ops.process().String(marks.front().name);
  StepsFromMarks(marks, out);
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "each match of the given expression starts a step", false);
  return true;
}

bool FromAnnotations(ProcessOps& ops, DetectedSteps* out) {
  const Marks marks = CollectKind(ops, NameKind::kAnnotation, &out->track);
  if (marks.size() < 3) return false;
  out->method = results::STEP_METHOD_ANNOTATION;
  out->marker = "ProfilerStep#";
  StepsFromMarks(marks, out);
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "the program marks its steps itself", false);
  return true;
}

bool FromOptimizer(ProcessOps& ops, DetectedSteps* out) {
  const Marks optimizer = CollectKind(ops, NameKind::kOptimizerStep, &out->track);
  if (optimizer.empty()) return false;
  out->method = results::STEP_METHOD_OPTIMIZER;
  out->marker = ops.process().String(optimizer.back().name);
  const Marks loader =
      !ops.has(NameKind::kLoaderNext) ? Marks() : Collect(ops, out->track, [&](uint32_t id) {
        return ops.name_kind(id) == NameKind::kLoaderNext;
      });
  if (!loader.empty()) {
    DetectedSteps fed = *out;
    StepsFromBatches(loader, optimizer, AllBackward(ops), &fed);
    // A batch that is reused for many optimizer steps does not bound them.
    if (fed.steps.size() * 4 >= optimizer.size()) {
      *out = std::move(fed);
      KeepWithinCaptures(ops.process(), out);
      Judge(out, "from batch to batch, each with its optimizer step", false);
      return true;
    }
  }
  const OptimizerCycle cycle =
      FindOptimizerCycle(optimizer, ops.process().tracks[out->track].op.end_ns);
  StepsFromOptimizer(optimizer, cycle.length, out);
  AddFirstOfCapture(ops, optimizer, cycle.length, out);
  KeepWithinCaptures(ops.process(), out);
  std::string how = "from the end of one optimizer step to the next";
  if (cycle.length > 1) {
    how = "every " + std::to_string(cycle.length) + " optimizer steps, by their repetition";
  }
  Judge(out, how, !cycle.certain);
  return true;
}

bool FromLoader(ProcessOps& ops, DetectedSteps* out) {
  const Marks loader = CollectKind(ops, NameKind::kLoaderNext, &out->track);
  if (loader.empty()) return false;
  out->method = results::STEP_METHOD_LOADER;
  out->marker = ops.process().String(loader.back().name);
  StepsFromLoader(ops, loader, out);
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "from batch to batch; no optimizer was seen", false);
  return true;
}

}  // namespace

DetectedSteps DetectSteps(ProcessOps& ops, const std::regex* marker) {
  DetectedSteps out;
  if (marker != nullptr) {
    FromMarker(ops, *marker, &out);
    return out;
  }
  if (FromAnnotations(ops, &out) && out.found()) return out;
  out = {};
  if (FromOptimizer(ops, &out) && out.found()) return out;
  // A program that trains but whose optimizer steps are all cut is not told as inference.
  if (out.method == results::STEP_METHOD_NONE) FromLoader(ops, &out);
  return out;
}

CategoryTimeline StepTimeline(ProcessOps& ops, size_t track) {
  CategoryTimeline timeline = ops.Classify(track);
  std::vector<Interval> elsewhere;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    if (i == track) continue;
    const std::vector<Interval> spans = ops.Backward(i);
    elsewhere.insert(elsewhere.end(), spans.begin(), spans.end());
  }
  timeline.FillGaps(UnionOf(std::move(elsewhere)), Category::kBackward);

  const WaitTable& waits = ops.process().tracks[track].wait;
  std::vector<Interval> contended;
  for (size_t row = 0; row < waits.rows(); ++row) {
    const auto kind = static_cast<proto::WaitKind>(proto::LowByteOf(waits.operation[row]));
    if (!IsContention(kind)) continue;
    contended.push_back({waits.end_ns[row] - waits.duration_ns[row], waits.end_ns[row]});
  }
  timeline.FillGaps(UnionOf(std::move(contended)), Category::kLockWait);
  return timeline;
}

std::string NoStepsAdvice(uint64_t op_rows, bool marker_given, bool framework_seen,
                          bool is_window) {
  if (marker_given) {
    return "No steps found: the step marker matches no recorded operation. `gpuprof stats ops` "
           "lists their names.";
  }
  if (op_rows == 0 && !framework_seen) {
    return std::string(
               "No steps were found: PyTorch did not run here, and steps are found from its "
               "operations. All figures are for ") +
           (is_window ? "the part that the flight recorder kept, not for the whole run."
                      : "the whole recording.");
  }
  if (op_rows == 0) {
    return "No steps found: no framework operation was recorded. Record them with the source `ops` "
           "(on by default) and a supported PyTorch; `gpuprof doctor` says whether it can be "
           "observed.";
  }
  return "No steps found: the operations hold no optimizer step and no DataLoader batch. Name the "
         "operation that starts a step with --step-marker REGEX (`gpuprof stats ops` lists the "
         "names). Or wrap the step in torch.profiler.record_function(\"step\") and use "
         "--step-marker '^step$'.";
}

}  // namespace gpuprof::analysis
