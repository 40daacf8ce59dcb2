// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_detector.h.

#include "analysis/steps/step_detector.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/steps/function_runs.h"
#include "analysis/steps/optimizer_cycle.h"
#include "analysis/steps/program_runs.h"
#include "analysis/steps/step_cuts.h"
#include "analysis/steps/step_ranges.h"
#include "analysis/steps/step_timeline.h"

namespace gpuprof::analysis {
namespace {

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
  StepConfidence& confidence = out->confidence;
  if (count == 0) {
    confidence.level = results::LEVEL_NONE;
    confidence.reason = "no whole step within a capture";
  } else if (count < 3) {
    confidence.level = results::LEVEL_LOW;
    confidence.reason =
        how + "; only " + std::to_string(count) + (count == 1 ? " whole step" : " whole steps");
  } else {
    const bool doubtful =
        !doubt.empty() || static_cast<size_t>(alike) * 10 < count * 7 || count < 5;
    confidence.level = doubtful ? results::LEVEL_MEDIUM : results::LEVEL_HIGH;
    confidence.reason = how + "; " + std::to_string(alike) + " of " + std::to_string(count) +
                        " steps within a factor of two of the median" +
                        (doubt.empty() ? "" : "; " + doubt);
  }
}

// Returns whether the program trains. A loader alone is no sign of training.
bool HasTraining(ProcessOps& ops) {
  if (ops.has(NameKind::kOptimizerStep) || ops.has(NameKind::kAutograd)) return true;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i)
    if (!ops.Backward(i).empty()) return true;
  return false;
}

// Names that match the expression: of operations and ranges. A range of a domain also matches as
// DOMAIN:NAME.
class MarkerNames {
 public:
  MarkerNames(const Process& process, const RegularExpression& marker)
      : process_(process), marker_(marker) {
    for (const auto& [id, text] : process.strings)
      if (marker.Matches(text)) wanted_.insert(id);
  }
  bool Has(uint32_t name) const { return wanted_.count(name) != 0; }
  bool Has(uint32_t name, uint32_t domain) {
    if (Has(name) || domain == 0) return Has(name);
    const auto [known, is_new] = of_domains_.try_emplace(uint64_t{domain} << 32 | name, false);
    if (is_new)
      known->second = marker_.Matches(process_.String(domain) + ":" + process_.String(name));
    return known->second;
  }

 private:
  const Process& process_;
  const RegularExpression& marker_;
  std::unordered_set<uint32_t> wanted_;
  std::unordered_map<uint64_t, bool> of_domains_;  // by domain and name
};

// Operations, ranges and marks of a thread that match, in order of time. Of those that lie within
// each other, the outermost. Ranges may cross, so their own times count and not those of the tree.
Marks CollectMarker(const Track& track, MarkerNames& names) {
  Marks all;
  for (size_t row = 0; row < track.op.rows(); ++row) {
    const int64_t end = track.op.end_ns[row];
    if (names.Has(track.op.name[row]))
      all.push_back({{end - track.op.duration_ns[row], end}, track.op.name[row]});
  }
  const RangeTable& ranges = track.range;
  for (size_t row = 0; row < ranges.rows(); ++row) {
    const proto::RangeKind kind = proto::RangeKindOf(ranges.operation[row]);
    if (kind < proto::RangeKind::kPushPop || kind > proto::RangeKind::kMark) continue;
    const int64_t end = ranges.end_ns[row];
    if (names.Has(ranges.name[row], ranges.domain[row]))
      all.push_back({{end - ranges.duration_ns[row], end}, ranges.name[row]});
  }
  std::stable_sort(all.begin(), all.end(), [](const Mark& a, const Mark& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  Marks outermost;
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const Mark& mark : all) {
    if (mark.span.end <= end) continue;
    outermost.push_back(mark);
    end = mark.span.end;
  }
  return outermost;
}

bool FromMarker(ProcessOps& ops, const RegularExpression& marker, DetectedSteps* out) {
  MarkerNames names(ops.process(), marker);
  Marks marks;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    Marks more = CollectMarker(ops.process().tracks[i], names);
    if (more.size() <= marks.size()) continue;
    marks = std::move(more);
    out->track = i;
  }
  if (marks.empty()) return false;
  out->method = results::STEP_METHOD_MARKER;
  out->trains = HasTraining(ops);
  out->marker = ops.process().String(marks.front().name);
  StepsFromMarks(marks, out);
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "each match of the given expression starts a step");
  return true;
}

// Returns the steps of each thread that marks them by ranges, those of the thread with most steps
// first.
std::vector<DetectedSteps> FromRanges(ProcessOps& ops, const StepCapture& capture) {
  std::vector<DetectedSteps> all = StepsFromRanges(ops, capture);
  const bool trains = !all.empty() && HasTraining(ops);
  for (DetectedSteps& steps : all) {
    steps.trains = trains;
    KeepWithinCaptures(ops.process(), &steps);
    Judge(&steps, "the program marks its steps itself");
  }
  std::stable_sort(all.begin(), all.end(), [](const DetectedSteps& a, const DetectedSteps& b) {
    return a.steps.size() > b.steps.size();
  });
  while (all.size() > 1 && !all.back().found()) all.pop_back();
  return all;
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

// A capture of steps begins behind a step of the class that counts. So this class ends each cycle.
size_t CountedPerStep(const Marks& optimizer, size_t cycle) {
  if (cycle == 1) return 1;
  const uint32_t name = optimizer[cycle - 1].name;
  return static_cast<size_t>(std::count_if(optimizer.begin(),
                                           optimizer.begin() + static_cast<ptrdiff_t>(cycle),
                                           [&](const Mark& mark) { return mark.name == name; }));
}

void FromOptimizer(ProcessOps& ops, const Marks& optimizer, DetectedSteps* out) {
  out->method = results::STEP_METHOD_OPTIMIZER;
  out->marker = ops.process().String(optimizer.back().name);
  const OptimizerCycle cycle = FindOptimizerCycle(optimizer, ops.process().tracks[out->track].op);
  out->counted = CountedPerStep(optimizer, cycle.length);
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
  std::string doubt;
  if (!cycle.certain) doubt = "the optimizer steps differ from one to the next";
  if (cycle.rhythm > 1) {
    const std::string several = std::to_string(cycle.rhythm);
    doubt = "of " + several + " optimizer steps always the same one takes longest, so " + several +
            " networks may be trained in turn: name the whole step with --step-marker";
  }
  Judge(out, how, doubt);
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

// Returns what the thread asked for that asks for most elements of TensorFlow's datasets.
Marks MostElements(ProcessOps& ops, size_t* track) {
  Marks best;
  for (size_t i = 0; i < ops.process().tracks.size(); ++i) {
    Marks marks = ElementsOf(ops, i);
    if (marks.size() <= best.size()) continue;
    best = std::move(marks);
    *track = i;
  }
  return best;
}

bool FromLoader(ProcessOps& ops, DetectedSteps* out) {
  Marks loader = MostElements(ops, &out->track);
  if (loader.empty()) loader = CollectKind(ops, NameKind::kLoaderNext, &out->track);
  if (loader.empty()) return false;
  out->method = results::STEP_METHOD_LOADER;
  out->trains = false;
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
      const proto::OpScope scope = proto::OpScopeOf(table.operation[row]);
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

// Returns the steps of a program of TensorFlow: runs of its main function.
bool FromFunctions(ProcessOps& ops, DetectedSteps* out) {
  FunctionRuns function = MainFunction(ops);
  if (function.runs.empty()) return false;
  out->track = function.track;
  out->method = results::STEP_METHOD_MODULES;
  out->marker = std::string(function.word);
  out->trains = FunctionsTrain(ops);
  out->other_batches = function.at_end;
  std::string how = "from one run of the function to the next";
  const Marks elements = ElementsOf(ops, out->track);
  DetectedSteps fed = *out;
  if (!elements.empty())
    StepsFromBatches(elements, function.runs, {}, ForwardOf(ops, out->track), &fed);
  // Elements may be taken for something else, or all before the loop.
  if (fed.steps.size() * 4 >= function.runs.size()) {
    *out = std::move(fed);
    how = "from batch to batch, each with a run of the function";
  } else {
    StepsFromRuns(ops.process(), function.runs, function.batches, function.other_runs, out);
  }
  KeepWithinCaptures(ops.process(), out);
  Judge(out, how);
  return true;
}

// Returns the step of programs that XLA compiled: from a run of the module that takes most of the
// time to its next run, on the first device.
bool FromModules(ProcessOps& ops, DetectedSteps* out) {
  constexpr size_t kLeastRuns = 3;
  constexpr std::string_view kLine = "XLA Modules";
  const Process& process = ops.process();
  Marks best;
  for (size_t i = 0; i < process.tracks.size() && best.empty(); ++i) {
    if (!process.tracks[i].name.ends_with(kLine)) continue;
    const RangeTable& ranges = process.tracks[i].range;
    std::map<uint32_t, std::pair<int64_t, Marks>> by_name;
    for (size_t row = 0; row < ranges.rows(); ++row) {
      auto& [total, marks] = by_name[ranges.name[row]];
      total += ranges.duration_ns[row];
      marks.push_back(
          {{ranges.end_ns[row] - ranges.duration_ns[row], ranges.end_ns[row]}, ranges.name[row]});
    }
    int64_t most = 0;
    for (auto& [name, found] : by_name) {
      if (found.second.size() < kLeastRuns || found.first <= most) continue;
      most = found.first;
      best = std::move(found.second);
      out->track = i;
    }
  }
  if (best.empty()) return false;
  std::stable_sort(best.begin(), best.end(),
                   [](const Mark& a, const Mark& b) { return a.span.start < b.span.start; });
  out->method = results::STEP_METHOD_MODULES;
  out->trains = false;
  out->marker = process.String(best.front().name);
  StepsFromMarks(best, out);
  KeepWithinCaptures(process, out);
  Judge(out, "from a run of the module to the next");
  return true;
}

// Returns the steps of a program of JAX whose threads were recorded: calls of its main function.
bool FromPrograms(ProcessOps& ops, DetectedSteps* out) {
  const ProgramRuns program = MainProgram(ops);
  if (program.runs.empty()) return false;
  out->track = program.track;
  out->method = results::STEP_METHOD_MODULES;
  out->trains = false;
  out->marker = program.name;
  StepsFromMarks(program.runs, out);
  // A step is not whole if calls may be missing in it.
  const std::vector<Interval> unrecorded = UnrecordedTimes(ops.process());
  out->partial += std::erase_if(out->steps, [&](const DetectedStep& step) {
    return CoveredLength(unrecorded, step.span) != 0;
  });
  KeepWithinCaptures(ops.process(), out);
  Judge(out, "from a call of the compiled function to the next");
  return true;
}

// Returns the steps that operations bound.
std::vector<DetectedSteps> FromOperations(ProcessOps& ops) {
  std::vector<DetectedSteps> all = FromOptimizers(ops);
  // A program that trains but whose optimizer steps are all cut is not told as inference.
  if (!all.empty()) return all;
  DetectedSteps out;
  if (FromBackward(ops, &out)) return {out};
  out = {};
  if (FromFunctions(ops, &out)) return {out};
  out = {};
  if (FromModules(ops, &out)) return {out};
  out = {};
  if (FromPrograms(ops, &out)) return {out};
  out = {};
  FromLoader(ops, &out);
  return {out};
}

}  // namespace

std::vector<DetectedSteps> DetectSteps(ProcessOps& ops, const RegularExpression* marker,
                                       const StepCapture& capture) {
  if (marker != nullptr) {
    DetectedSteps out;
    FromMarker(ops, *marker, &out);
    return {out};
  }
  constexpr size_t kEnough = 3;
  const bool is_by_optimizer = capture.begin == StepCapture::Begin::kOptimizer;
  const bool is_by_range = !capture.range.empty() || capture.begin == StepCapture::Begin::kRange;
  std::vector<DetectedSteps> ranges = FromRanges(ops, capture);
  const size_t count = ranges.empty() ? 0 : ranges.front().steps.size();
  // torch.profiler's own name of a step is not there by chance.
  const bool is_certain = is_by_range || (count > 0 && ranges.front().marker == "ProfilerStep");
  // A profiler of TensorFlow may have some steps marked, or each.
  const bool may_be_some =
      count > 0 && !is_by_range && !NumberedMarksOf(ops.process(), ranges.front().track).empty();
  if (count > 0 && !is_by_optimizer && !may_be_some && (is_certain || count >= kEnough))
    return ranges;
  std::vector<DetectedSteps> others = FromOperations(ops);
  // One or two ranges may bear the name of a step by chance.
  constexpr size_t kMuchMore = 2;
  const size_t other_count = others.front().steps.size();
  const bool has_more = is_by_optimizer ? !others.front().found()
                        : may_be_some   ? count * kMuchMore >= other_count
                                        : count >= other_count;
  return count > 0 && has_more ? ranges : others;
}

}  // namespace gpuprof::analysis
