// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See wall_time.h. Steps come first, then what a process did beside them: setting up CUDA, and
// compiling or loading code. What remains lies before the steps, between them or behind them.

#include "analysis/passes/host/wall_time.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/host_activity.h"
#include "analysis/derived/layers.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device/device_gaps.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kLongCallNs = 10'000'000;
constexpr int64_t kLongWaitNs = 10'000'000;

// Layers, from the top.
constexpr std::array kPhases = {results::PHASE_WARM_UP,       results::PHASE_STEPS,
                                results::PHASE_COMPILE,       results::PHASE_CUDA_SETUP,
                                results::PHASE_GRAPH_CAPTURE, results::PHASE_CHECKPOINT,
                                results::PHASE_EVALUATION,    results::PHASE_WAITING};
constexpr size_t kStepLayers = 2;
using PhaseTimes = std::array<int64_t, results::Phase_ARRAYSIZE>;

size_t LayerOf(results::Phase phase) {
  return static_cast<size_t>(std::find(kPhases.begin(), kPhases.end(), phase) - kPhases.begin());
}

// What the layers are made of, and the names that took most of their time.
class PhaseSpans {
 public:
  void Add(results::Phase phase, Interval span, const std::string& name) {
    if (phase == results::PHASE_NONE || span.length() <= 0) return;
    layers[LayerOf(phase)].push_back(span);
    if (!name.empty()) names_[phase][name] += span.length();
  }
  std::string LongestName(results::Phase phase) const {
    const auto found = names_.find(phase);
    if (found == names_.end()) return "";
    return std::max_element(found->second.begin(), found->second.end(),
                            [](const auto& x, const auto& y) { return x.second < y.second; })
        ->first;
  }

  std::vector<std::vector<Interval>> layers{kPhases.size()};

 private:
  std::map<results::Phase, std::map<std::string, int64_t>> names_;
};

// Returns the words of a name in lower case: "run_evaluation" has "run" and "evaluation".
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words;
  bool is_open = false;
  for (const char c : name) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (is_letter && !is_open) words.emplace_back();
    is_open = is_letter;
    if (is_letter) words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return words;
}

// Returns what a range that the program named, or one of its functions, says about the run.
results::Phase PhaseOfName(std::string_view name) {
  switch (HostCategoryOfName(name)) {
    case results::TIME_CATEGORY_COMPILE:
      return results::PHASE_COMPILE;
    case results::TIME_CATEGORY_OUTPUT:
      return results::PHASE_CHECKPOINT;
    default:
      break;
  }
  // Python's own eval() evaluates no model.
  if (name.starts_with('<') || name.find(": <") != std::string_view::npos)
    return results::PHASE_NONE;
  // A Python function is "file.py(12): function". Its file says little: "eval_frame.py".
  if (const size_t place = name.rfind("): "); place != std::string_view::npos)
    name = name.substr(place + 3);
  bool saves = false, has_model = false;
  for (const std::string& word : WordsOf(name)) {
    if (word == "eval" || word == "evaluate" || word == "evaluation" || word == "validate" ||
        word == "validation")
      return results::PHASE_EVALUATION;
    saves |= word == "save" || word == "write" || word == "saving";
    has_model |= word == "checkpoint" || word == "model" || word == "state";
  }
  return saves && has_model ? results::PHASE_CHECKPOINT : results::PHASE_NONE;
}

// Calls of CUDA that take long and wait for no work: they create contexts, load code, and allocate
// for the first time. Loading of code that CUDA names is compiling. Between two other calls, work
// goes into a graph.
void AddCalls(const Process& process, PhaseSpans* spans) {
  struct Function {
    std::string name;
    bool begins_capture, ends_capture;
    results::TimeCategory category;
  };
  std::unordered_map<uint32_t, Function> known;
  for (const auto& entry : process.functions) {
    const std::string name = ApiFunctionName(process, entry.first);
    known[entry.first] = {name, name.find("StreamBeginCapture") != std::string::npos,
                          name.find("StreamEndCapture") != std::string::npos,
                          HostCategoryOfCall(name)};
  }
  for (const Track& track : process.tracks) {
    const ApiTable& api = track.api;
    bool is_capturing = false;
    int64_t capture_ns = 0;
    for (size_t i = 0; !api.has_ids_alone() && i < api.rows(); ++i) {
      const auto found = known.find(api.function[i]);
      if (found == known.end()) continue;
      const Function& function = found->second;
      const Interval span = {api.end_ns[i] - api.duration_ns[i], api.end_ns[i]};
      if (function.begins_capture) {
        is_capturing = true;
        capture_ns = span.start;
      }
      if (is_capturing && function.ends_capture) {
        spans->Add(results::PHASE_GRAPH_CAPTURE, {capture_ns, span.end}, "");
        is_capturing = false;
      }
      if (function.category == results::TIME_CATEGORY_COMPILE)
        spans->Add(results::PHASE_COMPILE, span, function.name);
      if (function.category == results::TIME_CATEGORY_NONE && span.length() >= kLongCallNs)
        spans->Add(results::PHASE_CUDA_SETUP, span, function.name);
    }
  }
}

// Operations, ranges and functions whose names say what they are for. An operation of a framework
// only says when code is compiled.
void AddNamed(const Process& process, PhaseSpans* spans) {
  std::unordered_map<uint32_t, results::Phase> known;
  for (const auto& [id, text] : process.strings) {
    const results::Phase phase = PhaseOfName(text);
    if (phase != results::PHASE_NONE) known.emplace(id, phase);
  }
  if (known.empty()) return;
  const auto add = [&](const auto& table, auto is_of_program) {
    for (size_t i = 0; i < table.rows(); ++i) {
      const auto phase = known.find(table.name[i]);
      if (phase == known.end()) continue;
      if (phase->second != results::PHASE_COMPILE && !is_of_program(i)) continue;
      spans->Add(phase->second, {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]},
                 process.String(table.name[i]));
    }
  };
  const auto always = [](size_t) { return true; };
  for (const Track& track : process.tracks) {
    add(track.op, [&](size_t row) {
      return proto::OpScopeOf(track.op.operation[row]) == proto::OpScope::kUser;
    });
    add(track.range, always);
    add(track.python, always);
  }
}

// Long waits of the thread that leads the process.
void AddWaits(const Track& leading, PhaseSpans* spans) {
  for (size_t i = 0; i < leading.wait.rows(); ++i) {
    const int64_t ns = leading.wait.duration_ns[i];
    if (ns < kLongWaitNs) continue;
    const uint32_t kind = static_cast<uint32_t>(proto::WaitKindOf(leading.wait.operation[i]));
    spans->Add(results::PHASE_WAITING, {leading.wait.end_ns[i] - ns, leading.wait.end_ns[i]},
               std::string(WaitKindName(kind)));
  }
}

// Returns when the program first asked a framework or CUDA for something. INT64_MAX: never.
int64_t FirstRequest(const Process& process) {
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  const auto look = [&](const auto& table) {
    for (size_t i = 0; i < table.rows(); ++i)
      first_ns = std::min(first_ns, table.end_ns[i] - table.duration_ns[i]);
  };
  for (const Track& track : process.tracks) {
    look(track.op);
    look(track.range);
    if (!track.api.has_ids_alone()) look(track.api);
  }
  return first_ns;
}

// In the order in which a run has them.
void FillRows(const PhaseTimes& times, int64_t run_ns, const PhaseSpans& spans,
              const std::string& others, results::Overview* out) {
  constexpr std::array kOrder = {
      results::PHASE_UNRECORDED,    results::PHASE_OTHERS,     results::PHASE_START_UP,
      results::PHASE_BEFORE_STEPS,  results::PHASE_CUDA_SETUP, results::PHASE_COMPILE,
      results::PHASE_GRAPH_CAPTURE, results::PHASE_WARM_UP,    results::PHASE_STEPS,
      results::PHASE_BETWEEN_STEPS, results::PHASE_EVALUATION, results::PHASE_CHECKPOINT,
      results::PHASE_WAITING,       results::PHASE_RUN,        results::PHASE_AFTER_STEPS};
  static_assert(kOrder.size() + 1 == results::Phase_ARRAYSIZE);
  for (const results::Phase phase : kOrder) {
    const int64_t ns = times[static_cast<size_t>(phase)];
    if (ns == 0) continue;
    results::PhaseTime* row = out->add_phases();
    row->set_phase(phase);
    row->set_total_ns(ns);
    row->set_total_ratio(Ratio(ns, run_ns));
    row->set_largest(phase == results::PHASE_OTHERS ? others : spans.LongestName(phase));
  }
}

// Returns the thread whose steps these are, or else the process's first thread.
const Track* LeadingTrack(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  const StepAnalysis& steps = context.steps(index);
  if (!steps.steps.empty() && steps.detected.track < process.tracks.size())
    return &process.tracks[steps.detected.track];
  for (const Track& track : process.tracks)
    if (!track.is_stream && track.tid == process.pid) return &track;
  return nullptr;
}

// Returns the time of the run: of the command as its starter noted it, and of all processes. A part
// of the processes has the time of these alone. A part of the time is itself.
Interval RunOf(const PassContext& context) {
  Interval run{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  const bool is_part_of_time = context.options().window || context.options().steps;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    std::vector<Interval> lives = {{process.LifeStart(), process.LifeEnd()}};
    if (is_part_of_time) lives = CapturesOf(process);
    for (const Interval& life : lives) {
      run.start = std::min(run.start, life.start);
      run.end = std::max(run.end, life.end);
    }
  }
  if (run.start >= run.end) return {};
  const Trace& trace = context.trace();
  const proto::Bundle& manifest = trace.manifest;
  const bool is_whole = context.selected().size() == trace.processes.size();
  if (!trace.has_manifest || !is_whole || manifest.has_import() || is_part_of_time) return run;
  // Files may claim anything: a run of years is not believed.
  constexpr int64_t kLongestNs = int64_t{400} * 24 * 3600 * 1'000'000'000;
  const auto started_ns =
      static_cast<int64_t>(manifest.started_realtime_ns()) - trace.origin_realtime_ns;
  const auto ended_ns =
      static_cast<int64_t>(manifest.ended_realtime_ns()) - trace.origin_realtime_ns;
  if (manifest.started_realtime_ns() != 0 && started_ns > run.end - kLongestNs)
    run.start = std::min(run.start, started_ns);
  if (manifest.ended_realtime_ns() != 0 && ended_ns < run.start + kLongestNs)
    run.end = std::max(run.end, ended_ns);
  return run;
}

// What the processes beside the main one were recorded for, outside of `recorded`.
struct Others {
  int64_t total_ns = 0;
  std::string largest;
};

Others OthersOf(const PassContext& context, size_t main, const std::vector<Interval>& recorded) {
  std::vector<Interval> all;
  int64_t most = 0;
  Others others;
  for (const size_t index : context.selected()) {
    if (index == main) continue;
    const std::vector<Interval> captured = UnionOf(CapturesOf(context.process(index)));
    const int64_t alone = TotalLength(captured) - TotalLength(Intersection(captured, recorded));
    all.insert(all.end(), captured.begin(), captured.end());
    if (alone <= most) continue;
    most = alone;
    const Process& process = context.process(index);
    others.largest = ProcessName(process) + " (" + std::to_string(process.pid) + ")";
  }
  all = UnionOf(std::move(all));
  others.total_ns = TotalLength(all) - TotalLength(Intersection(all, recorded));
  return others;
}

}  // namespace

void FillWallTime(PassContext& context, size_t main, results::Overview* out) {
  const Process& process = context.process(main);
  const Interval life = {process.LifeStart(), process.LifeEnd()};
  const Interval run = RunOf(context);
  if (run.length() <= 0) return;
  out->set_run_ns(run.length());
  const std::vector<Interval> recorded =
      Intersection(UnionOf(CapturesOf(process)), std::vector<Interval>{life});
  PhaseSpans spans;
  for (const Step& step : context.steps(main).steps)
    spans.Add(step.is_warmup ? results::PHASE_WARM_UP : results::PHASE_STEPS, step.span, "");
  const bool has_steps = !context.steps(main).steps.empty();
  AddNamed(process, &spans);
  AddCalls(process, &spans);
  if (const Track* leading = LeadingTrack(context, main)) AddWaits(*leading, &spans);
  for (std::vector<Interval>& layer : spans.layers)
    layer = Intersection(UnionOf(std::move(layer)), recorded);
  PhaseTimes times{};
  const Others others = OthersOf(context, main, recorded);
  times[results::PHASE_OTHERS] = others.total_ns;
  times[results::PHASE_UNRECORDED] = run.length() - TotalLength(recorded) - others.total_ns;
  int64_t first = life.end, last = life.start;
  std::vector<Interval> covered;
  for (const LayerSpan& span : TopLayers(spans.layers)) {
    times[kPhases[span.layer]] += span.span.length();
    covered.push_back(span.span);
    if (span.layer >= kStepLayers) continue;
    first = std::min(first, span.span.start);
    last = std::max(last, span.span.end);
  }
  // The rest of the recorded time, by its place.
  covered = UnionOf(std::move(covered));
  const auto rest_in = [&](Interval window) {
    if (window.length() <= 0) return int64_t{0};
    return CoveredLength(recorded, window) - CoveredLength(covered, window);
  };
  const int64_t request = FirstRequest(process);
  const bool is_begun_by_program = request != std::numeric_limits<int64_t>::max();
  // A trace of another tool begins when that tool did, and not with the program.
  const bool has_start = is_begun_by_program && context.trace().importer.empty();
  int64_t begin = has_start ? std::clamp(request, life.start, life.end) : life.start;
  if (has_steps) begin = std::min(begin, first);
  times[results::PHASE_START_UP] = rest_in({life.start, begin});
  if (has_steps) {
    times[results::PHASE_BEFORE_STEPS] = rest_in({begin, first});
    times[results::PHASE_BETWEEN_STEPS] = rest_in({first, last});
    times[results::PHASE_AFTER_STEPS] = rest_in({last, life.end});
  } else {
    times[results::PHASE_RUN] = rest_in({begin, life.end});
  }
  FillRows(times, run.length(), spans, others.largest, out);
}

}  // namespace gpuprof::analysis
