// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See wall_time.h. Steps come first, then what a process did beside them: setting up CUDA, and
// compiling or loading code. What remains lies before the steps, between them or behind them.

#include "analysis/passes/wall_time.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analysis/derived/host_activity.h"
#include "analysis/derived/layers.h"
#include "analysis/passes/device_gaps.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kLongCallNs = 10'000'000;

// Layers, from the top.
constexpr std::array kPhases = {results::PHASE_WARM_UP, results::PHASE_STEPS,
                                results::PHASE_COMPILE, results::PHASE_CUDA_SETUP};
using PhaseTimes = std::array<int64_t, results::Phase_ARRAYSIZE>;

// Calls of CUDA that take long and wait for no work: they create contexts, load code, and allocate
// for the first time. Loading of code that CUDA names is compiling.
void AddCalls(const Process& process, std::vector<Interval>* setup,
              std::vector<Interval>* compile) {
  for (const Track& track : process.tracks) {
    const ApiTable& api = track.api;
    for (size_t i = 0; !api.has_ids_alone() && i < api.rows(); ++i) {
      const int64_t ns = api.duration_ns[i];
      const auto name = process.functions.find(api.function[i]);
      if (name == process.functions.end()) continue;
      const results::TimeCategory category = HostCategoryOfCall(process.String(name->second));
      const Interval span = {api.end_ns[i] - ns, api.end_ns[i]};
      if (category == results::TIME_CATEGORY_COMPILE) compile->push_back(span);
      if (category == results::TIME_CATEGORY_NONE && ns >= kLongCallNs) setup->push_back(span);
    }
  }
}

// Operations and ranges whose names say that code is compiled.
void AddNamed(const Process& process, std::vector<Interval>* compile) {
  const auto add = [&](const auto& table) {
    for (size_t i = 0; i < table.rows(); ++i) {
      const auto text = process.strings.find(table.name[i]);
      if (text != process.strings.end() &&
          HostCategoryOfName(text->second) == results::TIME_CATEGORY_COMPILE)
        compile->push_back({table.end_ns[i] - table.duration_ns[i], table.end_ns[i]});
    }
  };
  bool has_name = false;
  for (const auto& [id, text] : process.strings)
    has_name |= HostCategoryOfName(text) == results::TIME_CATEGORY_COMPILE;
  if (!has_name) return;
  for (const Track& track : process.tracks) {
    add(track.op);
    add(track.range);
    add(track.python);
  }
}

void FillRows(const PhaseTimes& times, int64_t life_ns, results::Overview* out) {
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    results::PhaseTime* row = out->add_phases();
    row->set_phase(static_cast<results::Phase>(i));
    row->set_total_ns(times[i]);
    row->set_total_ratio(Ratio(times[i], life_ns));
  }
}

}  // namespace

void FillWallTime(PassContext& context, size_t index, results::Overview* out) {
  const Process& process = context.process(index);
  const Interval life = {process.LifeStart(), process.LifeEnd()};
  if (life.length() <= 0) return;
  const std::vector<Interval> recorded =
      Intersection(UnionOf(CapturesOf(process)), std::vector<Interval>{life});
  std::vector<std::vector<Interval>> layers(kPhases.size());
  for (const results::Step& step : context.steps(index).steps)
    layers[step.warmup() ? 0 : 1].push_back(
        {step.start_ns(), step.start_ns() + step.duration_ns()});
  const bool has_steps = !layers[0].empty() || !layers[1].empty();
  AddNamed(process, &layers[2]);
  AddCalls(process, &layers[3], &layers[2]);
  for (std::vector<Interval>& layer : layers)
    layer = Intersection(UnionOf(std::move(layer)), recorded);
  PhaseTimes times{};
  times[results::PHASE_UNRECORDED] = life.length() - TotalLength(recorded);
  int64_t first = life.end, last = life.start;
  std::vector<Interval> covered;
  for (const LayerSpan& span : TopLayers(layers)) {
    times[kPhases[span.layer]] += span.span.length();
    covered.push_back(span.span);
    if (span.layer > 1) continue;
    first = std::min(first, span.span.start);
    last = std::max(last, span.span.end);
  }
  // The rest of the recorded time, by its place.
  covered = UnionOf(std::move(covered));
  const auto rest_in = [&](Interval window) {
    if (window.length() <= 0) return int64_t{0};
    return CoveredLength(recorded, window) - CoveredLength(covered, window);
  };
  if (has_steps) {
    times[results::PHASE_BEFORE_STEPS] = rest_in({life.start, first});
    times[results::PHASE_BETWEEN_STEPS] = rest_in({first, last});
    times[results::PHASE_AFTER_STEPS] = rest_in({last, life.end});
  } else {
    times[results::PHASE_RUN] = rest_in(life);
  }
  FillRows(times, life.length(), out);
}

}  // namespace gpuprof::analysis
