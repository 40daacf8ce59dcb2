// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_detector.h.

#include "analysis/steps/step_detector.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "analysis/steps/optimizer_cycle.h"
#include "analysis/steps/step_timeline.h"

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

// Steps that begin with the first batch that feeds them. A batch trains when a backward pass or an
// optimizer step follows it before the next batch is asked for. A step ends with the batch whose
// optimizer step closes it.
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
  for (size_t i = 1; i < marks.size(); ++i)
    gaps.push_back(marks[i].span.start - marks[i - 1].span.start);
  return MedianOf(std::move(gaps));
}

// Steps from each mark that the user named to the next. The last mark's own span ends its step if
// the span is as long as a step; else nothing tells where the step ends.
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

// Steps that the program marks as a whole; what lies between two far marks is in no step.
void StepsFromAnnotations(const Marks& marks, DetectedSteps* out) {
  const int64_t far = 4 * MedianGap(marks);
  for (size_t i = 0; i < marks.size(); ++i) {
    const Interval& span = marks[i].span;
    int64_t end = i + 1 < marks.size() ? marks[i + 1].span.start : span.end;
    if (end - span.start > far && far > 0) end = span.end;
    if (end > span.start) out->steps.push_back({{span.start, end}, 0, 0});
  }
}

// Steps between the ends of backward passes. A pass ends where another operation of the thread
// begins.
void StepsFromBackward(ProcessOps& ops, size_t track, const std::vector<Interval>& backward,
                       DetectedSteps* out) {
  const OpTree& tree = ops.tree(track);
  const OpTable& table = ops.process().tracks[track].op;
  std::vector<int64_t> others;  // when other operations begin
  for (size_t row = 0; row < tree.rows(); ++row) {
    const auto scope = static_cast<proto::OpScope>(proto::LowByteOf(table.operation[row]));
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

// Steps from batch to batch. Where ops follow the batches at all, a batch that none follows ended
// its epoch.
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
void Judge(DetectedSteps* out, const std::string& how, const std::string& doubt = "") {
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
  } else {
    const bool doubtful =
        !doubt.empty() || static_cast<size_t>(alike) * 10 < count * 7 || count < 5;
    confidence.set_level(doubtful ? results::LEVEL_MEDIUM : results::LEVEL_HIGH);
    confidence.set_reason(how + "; " + std::to_string(alike) + " of " + std::to_string(count) +
                          " steps within a factor of two of the median" +
                          (doubt.empty() ? "" : "; " + doubt));
  }
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
  Judge(out, "each match of the given expression starts a step");
  return true;
}

bool FromAnnotations(ProcessOps& ops, DetectedSteps* out) {
  const Marks marks = CollectKind(ops, NameKind::kAnnotation, &out->track);
  if (marks.size() < 3) return false;
  out->method = results::STEP_METHOD_ANNOTATION;
  out->marker = "ProfilerStep#";
  StepsFromAnnotations(marks, out);
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "the program marks its steps itself");
  return true;
}

// Says how two ways to count the steps differ, or "" if they agree.
std::string Disagreement(size_t chosen, size_t other, const char* what) {
  const size_t distance = chosen > other ? chosen - other : other - chosen;
  if (distance <= 2 || distance * 10 <= chosen) return "";
  return std::to_string(other) + " " + what + " were seen";
}

Marks LoaderOf(ProcessOps& ops, size_t track) {
  if (!ops.has(NameKind::kLoaderNext)) return {};
  return Collect(ops, track,
                 [&](uint32_t id) { return ops.name_kind(id) == NameKind::kLoaderNext; });
}

// When forward operations ran. Ranges of the user are none.
std::vector<Interval> ForwardOf(ProcessOps& ops, size_t track) {
  std::vector<Interval> spans;
  const CategoryTimeline timeline = ops.Classify(track);
  for (const CategoryTimeline::Segment& segment : timeline.segments())
    if (segment.category == Category::kForward) spans.push_back({segment.start, segment.end});
  return spans;
}

void FromOptimizer(ProcessOps& ops, const Marks& optimizer, DetectedSteps* out) {
  out->method = results::STEP_METHOD_OPTIMIZER;
  out->marker = ops.process().String(optimizer.back().name);
  const Column<int64_t>& op_ends = ops.process().tracks[out->track].op.end_ns;
  const OptimizerCycle cycle = FindOptimizerCycle(optimizer, op_ends);
  const size_t updates = optimizer.size() / cycle.length;
  const Marks loader = LoaderOf(ops, out->track);
  if (!loader.empty()) {
    DetectedSteps fed = *out;
    StepsFromBatches(loader, optimizer, BackwardOf(ops, out->track, out->rivals),
                     ForwardOf(ops, out->track), &fed);
    // A batch that is reused for many optimizer steps does not bound them.
    if (fed.steps.size() * 4 >= optimizer.size()) {
      *out = std::move(fed);
      const std::string doubt = Disagreement(out->steps.size(), updates, "optimizer steps");
      KeepWithinCaptures(ops.process(), out);
      Judge(out, "from batch to batch, each with its optimizer step", doubt);
      return;
    }
  }
  StepsFromOptimizer(optimizer, cycle.length, out);
  AddFirstOfCapture(ops, optimizer, cycle.length, out);
  KeepWithinCaptures(ops.process(), out);
  std::string how = "from the end of one optimizer step to the next";
  if (cycle.length > 1) {
    how = "every " + std::to_string(cycle.length) + " optimizer steps, by their repetition";
  }
  Judge(out, how, cycle.certain ? "" : "the optimizer steps differ from one to the next");
}

// The steps of each thread that calls an optimizer, those of the thread with most calls first.
std::vector<DetectedSteps> FromOptimizers(ProcessOps& ops) {
  std::vector<std::pair<size_t, Marks>> found;
  if (!ops.has(NameKind::kOptimizerStep)) return {};
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    Marks marks =
        Collect(ops, i, [&](uint32_t id) { return ops.name_kind(id) == NameKind::kOptimizerStep; });
    if (!marks.empty()) found.emplace_back(i, std::move(marks));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::vector<DetectedSteps> all;
  for (const auto& [track, marks] : found) {
    DetectedSteps steps;
    steps.track = track;
    for (const auto& [other, unused] : found)
      if (other != track) steps.rivals.push_back(other);
    FromOptimizer(ops, marks, &steps);
    if (all.empty() || steps.found()) all.push_back(std::move(steps));
  }
  return all;
}

bool FromLoader(ProcessOps& ops, DetectedSteps* out) {
  const Marks loader = CollectKind(ops, NameKind::kLoaderNext, &out->track);
  if (loader.empty()) return false;
  out->method = results::STEP_METHOD_LOADER;
  out->marker = ops.process().String(loader.back().name);
  StepsFromLoader(ops, loader, out);
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "from batch to batch; no optimizer was seen");
  return true;
}

// The thread that computes what backward passes run for: the one with most other operations.
size_t BusiestThread(ProcessOps& ops) {
  size_t best = 0, most = 0;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    const OpTable& table = ops.process().tracks[i].op;
    size_t count = 0;
    for (size_t row = 0; row < table.rows(); ++row) {
      const auto scope = static_cast<proto::OpScope>(proto::LowByteOf(table.operation[row]));
      count +=
          scope == proto::OpScope::kFunction && ops.name_kind(table.name[row]) == NameKind::kPlain;
    }
    if (count <= most) continue;
    most = count;
    best = i;
  }
  return best;
}

bool FromBackward(ProcessOps& ops, DetectedSteps* out) {
  if (ops.process().tracks.empty()) return false;
  out->track = BusiestThread(ops);
  const std::vector<Interval> backward = BackwardOf(ops, out->track, {});
  if (backward.size() < 3) return false;
  StepsFromBackward(ops, out->track, backward, out);
  if (out->steps.size() < 3) return false;
  out->method = results::STEP_METHOD_BACKWARD;
  out->marker = "backward pass";
  const size_t passes = out->steps.size() + 1;
  KeepWithinCaptures(ops.process(), out);
  const size_t batches = LoaderOf(ops, out->track).size();
  Judge(out, "from the end of one backward pass to the next; no optimizer was seen",
        batches == 0 ? "" : Disagreement(passes, batches, "batches of a loader"));
  return true;
}

}  // namespace

std::vector<DetectedSteps> DetectSteps(ProcessOps& ops, const std::regex* marker) {
  DetectedSteps out;
  if (marker != nullptr) {
    FromMarker(ops, *marker, &out);
    return {out};
  }
  if (FromAnnotations(ops, &out) && out.found()) return {out};
  std::vector<DetectedSteps> all = FromOptimizers(ops);
  // A program that trains but whose optimizer steps are all cut is not told as inference.
  if (!all.empty()) return all;
  DetectedSteps backward;
  if (FromBackward(ops, &backward)) return {backward};
  out = {};
  FromLoader(ops, &out);
  return {out};
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
