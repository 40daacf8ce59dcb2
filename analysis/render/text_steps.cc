// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of steps, on the host and on devices. See text.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/render/breakdown_words.h"
#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

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

// Returns whether another series says more: a device's own windows say more than the host's.
bool IsSecondary(const results::Steps& result, const results::DeviceSeries& series) {
  if (series.window() != results::STEP_WINDOW_MARK) return false;
  return std::any_of(result.device_series().begin(), result.device_series().end(),
                     [&](const results::DeviceSeries& other) {
                       return other.pid() == series.pid() && other.host() == series.host() &&
                              other.device() == series.device() &&
                              other.count() >= series.count() &&
                              other.window() == results::STEP_WINDOW_DEVICE;
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
         (series.window() == results::STEP_WINDOW_DEVICE
              ? " from the first work of a step to that of the next"
              : " as the host marked them") +
         "; typical: step " + std::to_string(series.typical_number());
}

// Returns what each device did, a table a device.
std::string DevicesText(const results::Steps& result, const TextOptions& options) {
  std::string out;
  for (const results::DeviceSeries& series : result.device_series()) {
    if (IsSecondary(result, series)) continue;
    const std::string device =
        series.name().empty() ? "device " + std::to_string(series.device()) : series.name();
    out += Section("pid " + std::to_string(series.pid()) + ", " + device + ", busy " +
                       FormatPercent(series.busy_ratio()) + ": " + WindowWords(series),
                   TimesTable(series.categories()), options, 0);
  }
  return out;
}

}  // namespace

std::string StepsText(const results::Steps& result, const TextOptions& options) {
  std::string out;
  if (result.series().empty())
    return WrapText(result.advice(), "", "", options.width) + DevicesText(result, options) +
           MetaText(result.meta(), options);
  for (const results::StepSeries& series : result.series()) out += SeriesText(series, options);
  out += DevicesText(result, options);
  TextTable table;
  const bool several = result.series_size() > 1;
  const bool several_threads = ShareProcess(result.series());
  if (several) table.AddColumn("pid", Align::kRight);
  if (several_threads) table.AddColumn("tid", Align::kRight);
  for (const char* header : {"step", "start", "duration", "input", "forward", "backward",
                             "optimizer", "lock_wait", "blocked", "other", "ops"}) {
    table.AddColumn(header, Align::kRight);
  }
  table.AddColumn("", Align::kLeft);
  const Pids pid(result.steps());
  for (int i = 0; i < Shown(result.steps_size(), options); ++i) {
    const results::Step& s = result.steps(i);
    std::vector<std::string> cells;
    if (several) cells.push_back(pid(s));
    if (several_threads) cells.push_back(std::to_string(s.tid()));
    cells.push_back(std::to_string(s.number()));
    for (const int64_t ns :
         {s.start_ns(), s.duration_ns(), s.input_ns(), s.forward_ns(), s.backward_ns(),
          s.optimizer_ns(), s.lock_wait_ns(), s.blocked_ns(), s.other_ns()}) {
      cells.push_back(FormatDuration(ns));
    }
    cells.push_back(FormatNumber(s.op_count()));
    cells.push_back(StepMark(s));
    table.AddRow(std::move(cells));
  }
  return out + Section("Steps", table, options, result.steps_size()) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
