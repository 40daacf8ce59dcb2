// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of steps, on the host and on devices. See text.h.

#include <algorithm>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {
namespace {

std::string MethodWords(const results::StepSeries& series) {
  switch (series.method()) {
    case results::STEP_METHOD_MARKER:
      return "the given marker, first match \"" + series.marker() + "\"";
    case results::STEP_METHOD_RANGES:
      return "the program's own ranges \"" + series.marker() + "\"";
    case results::STEP_METHOD_OPTIMIZER:
      return "optimizer steps \"" + series.marker() + "\"";
    case results::STEP_METHOD_LOADER:
      return "loader batches \"" + series.marker() + "\"";
    case results::STEP_METHOD_MODULES:
      return "runs of \"" + series.marker() + "\"";
    case results::STEP_METHOD_BACKWARD:
      return "backward passes";
    default:
      return "nothing";
  }
}

// Returns whether only operations of a framework make the category.
bool IsPhase(const results::StepCategory& category) {
  return category.name() == "input" || category.name() == "forward" ||
         category.name() == "backward" || category.name() == "optimizer";
}

// Returns whether the steps hold operations. Steps of ranges may hold none.
bool HasPhases(const results::StepSeries& series) {
  return series.method() != results::STEP_METHOD_RANGES ||
         std::any_of(series.categories().begin(), series.categories().end(),
                     [](const results::StepCategory& category) {
                       return IsPhase(category) && category.total_ns() != 0;
                     });
}

std::string Plural(uint64_t count, const std::string& noun) {
  return FormatNumber(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string StepMark(const results::Step& step) {
  if (step.warmup()) return "warm-up";
  return step.outlier() ? "outlier: " + step.outlier_category() : "";
}

// Whether two threads of one process have steps.
bool ShareProcess(const google::protobuf::RepeatedPtrField<results::StepSeries>& series) {
  for (int i = 1; i < series.size(); ++i) {
    if (series[i].pid() == series[i - 1].pid() && series[i].host() == series[i - 1].host())
      return true;
  }
  return false;
}

// Returns whether another series says more: the periods are the steps that all figures are of.
bool IsSecondary(const results::Steps& result, const results::DeviceSeries& series) {
  if (series.window() == results::STEP_WINDOW_ALL || series.window() == results::STEP_WINDOW_PERIOD)
    return false;
  return std::any_of(result.device_series().begin(), result.device_series().end(),
                     [&](const results::DeviceSeries& other) {
                       return other.pid() == series.pid() && other.host() == series.host() &&
                              other.device() == series.device() &&
                              other.window() == results::STEP_WINDOW_PERIOD;
                     });
}

std::string WindowWords(const results::DeviceSeries& series) {
  if (series.window() == results::STEP_WINDOW_ALL)
    return "no steps were found, so this is the time from its first work to its last, " +
           FormatDuration(series.total_ns());
  const std::string steps =
      FormatNumber(series.count()) + (series.count() == 1 ? " step" : " steps");
  return steps + ", mean " + FormatDuration(series.mean_ns()) + ", median " +
         FormatDuration(series.median_ns()) +
         " from the begin of a step to that of the next; typical: step " +
         std::to_string(series.typical_number());
}

bool HasSeveralSeries(const ResultMessage&, const CellContext& context) {
  return static_cast<const results::Steps&>(context.result).series_size() > 1;
}
bool HasSeveralThreads(const ResultMessage&, const CellContext& context) {
  return ShareProcess(static_cast<const results::Steps&>(context.result).series());
}

bool IsIteration(const ResultMessage& row, const CellContext&) {
  return static_cast<const results::Step&>(row).phase() != results::ITERATION_PHASE_NONE;
}

constexpr TableColumn kIterationColumns[] = {
    kWhosePid,
    {.field = "tid", .title = "tid", .shown = ShownIf::kDifferent},
    {.field = "phase", .title = "phase"},
    {.field = "count", .title = "iterations"},
    {.field = "median_ns", .title = "median"},
    {.field = "p95_ns", .title = "p95"},
    {.field = "mean_request_count", .title = "requests", .blank = "-"},
    {.field = "token_count", .title = "tokens", .blank = "-"},
    {.field = "tokens_per_s", .title = "tokens/s", .blank = "-", .scale = kWholes},
    {.field = "busy_ratio",
     .title = "GPU busy",
     .shown = ShownIf::kAny,
     .tip = "part of the time from the begin of an iteration to that of the next"},
    {.field = "gap_median_ns",
     .title = "gap",
     .blank = "-",
     .tip = "from the end of an iteration to the begin of the next, median"},
    {.field = "gap_p95_ns", .title = "gap p95", .blank = "-"},
    {.field = "gap_total_ns", .title = "all gaps", .blank = "-"},
};
constexpr TableColumn kCategoryColumns[] = {
    {.field = "name", .title = "category"},
    {.field = "share_ratio", .title = "share"},
    {.field = "mean_ns", .title = "mean", .scale = kMilliseconds},
    {.field = "p10_ns", .title = "p10"},
    {.field = "median_ns", .title = "median", .scale = kMilliseconds},
    {.field = "p90_ns", .title = "p90"},
    {.field = "meaning", .title = "meaning", .flexible = true},
};
constexpr TableColumn kStepColumns[] = {
    {.field = "pid", .title = "pid", .shown = ShownIf::kAny, .shown_if = HasSeveralSeries},
    {.field = "tid", .title = "tid", .shown = ShownIf::kAny, .shown_if = HasSeveralThreads},
    {.field = "number", .title = "step"},
    {.field = "start_ns", .title = "start", .scale = kSeconds},
    {.field = "duration_ns", .title = "duration"},
    {.field = "phase", .title = "phase", .shown = ShownIf::kAny, .shown_if = IsIteration},
    {.field = "request_count", .title = "requests", .shown = ShownIf::kAny},
    {.field = "token_count", .title = "tokens", .shown = ShownIf::kAny},
    {.field = "input_ns", .title = "input"},
    {.field = "forward_ns", .title = "forward"},
    {.field = "backward_ns", .title = "backward"},
    {.field = "optimizer_ns", .title = "optimizer"},
    {.field = "lock_wait_ns", .title = "lock_wait"},
    {.field = "blocked_ns", .title = "blocked", .on_page = OnPage::kOffered},
    {.field = "other_ns", .title = "other"},
    {.field = "op_count", .title = "ops"},
    {.field = "outlier_category",
     .title = "",
     .cell = CellOf<results::Step, StepMark>,
     .on_page = OnPage::kAbsent},
    {.field = "outlier_category", .title = "note", .in_text = false},
};
enum Table : size_t { kCategories, kDeviceTimes, kIterations, kSteps };
constexpr TableLayout kLayouts[] = {
    {.rows = "series.categories",
     .row = results::StepCategory::descriptor,
     .columns = kCategoryColumns,
     .is_complete = true,
     .noun = "category"},
    TimesLayout("device_series.categories"),
    {.rows = "iteration_series",
     .row = results::IterationSeries::descriptor,
     .columns = kIterationColumns,
     .is_complete = true,
     .noun = "phase",
     .title = "Iterations"},
    {.rows = "steps", .row = results::Step::descriptor, .columns = kStepColumns, .title = "Steps"},
};

// Returns what each device did, a table a device.
std::string DevicesText(const results::Steps& result, const TextOptions& options) {
  std::string out;
  for (const results::DeviceSeries& series : result.device_series()) {
    if (IsSecondary(result, series)) continue;
    const std::string device =
        series.name().empty() ? "device " + std::to_string(series.device()) : series.name();
    out += TableText("pid " + std::to_string(series.pid()) + ", " + device + ", busy " +
                         FormatPercent(series.busy_ratio()) + ": " + WindowWords(series),
                     kLayouts[kDeviceTimes], PointersTo(series.categories()), result, options);
  }
  return out;
}

}  // namespace

std::span<const TableLayout> StepsLayouts() { return kLayouts; }

std::string SeriesText(const results::StepSeries& series, const TextOptions& options) {
  std::string out =
      Plural(series.count(), "step") + " of " + OneLine(series.name()) + " (pid " +
      std::to_string(series.pid()) +
      (series.tid() == series.pid() ? "" : ", thread " + std::to_string(series.tid())) +
      "): median " + FormatDuration(series.median_ns()) + ", p10 " +
      FormatDuration(series.p10_ns()) + ", p90 " + FormatDuration(series.p90_ns()) + ", spread " +
      FormatPercent(series.spread_ratio()) + "\n";
  out += WrapText("found by " + MethodWords(series) + "; confidence " +
                      LevelWord(series.confidence().level()) + ": " + series.confidence().reason(),
                  "  ", "  ", options.width);
  std::string words = FormatPercent(series.coverage_ratio()) + " of the capture of " +
                      FormatDuration(series.captured_ns()) + " lies in steps";
  if (series.warmup_count() > 0) {
    words += "; " + Plural(series.warmup_count(), "warm-up step") + " (" +
             FormatDuration(series.warmup_ns()) + ") left out";
  }
  if (series.outlier_count() > 0) words += "; " + Plural(series.outlier_count(), "outlier");
  if (series.partial_count() > 0)
    words +=
        "; " + FormatNumber(series.partial_count()) + " without a begin or an end in the capture";
  if (series.other_batch_count() > 0) {
    words += "; " + FormatNumber(series.other_batch_count()) +
             (series.other_batch_count() == 1 ? " call" : " calls") +
             " of the loader outside steps (at the end of an epoch it has no more batches)";
  }
  if (series.batches_per_step() > 1.001) {
    words += "; " + FormatReal(series.batches_per_step()) + " batches per step";
  }
  out += WrapText(words, "  ", "  ", options.width);
  const bool has_phases = HasPhases(series);
  TableRows rows;
  for (const results::StepCategory& c : series.categories())
    if (has_phases || !IsPhase(c)) rows.shown.push_back(&c);
  rows.all = rows.shown;
  const TextTable table =
      MakeTable(kLayouts[kCategories], rows, results::Steps::default_instance(), options);
  return out + "\n" + table.Render(options.table_width) + "\n";
}

std::string StepsText(const results::Steps& result, const TextOptions& options) {
  std::string out;
  if (result.series().empty())
    return WrapText(result.advice(), "", "", options.width) + DevicesText(result, options) +
           MetaText(result.meta(), options);
  for (const results::StepSeries& series : result.series()) out += SeriesText(series, options);
  out += DevicesText(result, options);
  if (!result.iteration_series().empty())
    out += TableText("Iterations of a serving engine, by phase", kLayouts[kIterations],
                     PointersTo(result.iteration_series()), result, options);
  return out + TableText(kLayouts[kSteps], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
