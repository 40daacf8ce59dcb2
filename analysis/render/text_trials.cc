// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of what `gpuprof try` measured. See text.h.

#include <string>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/render/text.h"
#include "proto/results/trials.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

std::string ChangeText(const results::Trial& trial) {
  std::string words;
  for (const results::EnvironmentVariable& variable : trial.remedy().variables()) {
    words += (words.empty() ? "" : " ") + (variable.value().empty()
                                               ? "without " + variable.name()
                                               : variable.name() + "=" + variable.value());
  }
  return trial.processors().empty() ? words : "on processors " + trial.processors();
}

std::string RangeText(double low, double high) {
  return FormatPercent(low) + " to " + FormatPercent(high);
}

std::string PredictedText(const results::Trial& trial) {
  if (trial.id().empty()) return "-";
  if (!trial.has_predicted() || trial.predicted().method() == results::GAIN_METHOD_NOT_COMPUTED)
    return "not computed";
  const results::Gain& gain = trial.predicted();
  if (gain.low_ratio() == 0) return "at most " + FormatPercent(gain.high_ratio());
  return RangeText(gain.low_ratio(), gain.high_ratio());
}

std::string ChangeWord(const results::TrialChange& change) {
  if (change.low_ratio() > 0) return FormatPercent(change.mean_ratio()) + " faster";
  if (change.high_ratio() < 0) return FormatPercent(-change.mean_ratio()) + " slower";
  return "no difference shown";
}

std::string StepWords(const google::protobuf::RepeatedPtrField<results::TrialRun>& runs) {
  uint64_t steps = 0;
  int64_t step_ns = 0, wall_ns = 0;
  bool has_steps = !runs.empty();
  for (const results::TrialRun& run : runs) {
    steps += run.step_count();
    step_ns += run.step_mean_ns();
    wall_ns += run.wall_ns();
    has_steps = has_steps && run.step_count() != 0;
  }
  if (runs.empty()) return "no run ended";
  const std::string count =
      FormatNumber(static_cast<uint64_t>(runs.size())) + (runs.size() == 1 ? " run" : " runs");
  if (!has_steps)
    return "the program takes " + FormatDuration(wall_ns / runs.size()) + " (" + count +
           "; no steps were found, so the time of the run is compared)";
  return "a step takes " + FormatDuration(step_ns / runs.size()) + " (" + count + ", " +
         FormatNumber(steps) + " steps in all)";
}

}  // namespace

std::string TrialsText(const results::Trials& trials, const TextOptions& options) {
  const bool is_plan = trials.round_count() == 0;
  std::string out;
  if (!is_plan)
    out = WrapText("Unchanged: " + StepWords(trials.unchanged()) + ".", "", "  ", options.width);
  if (!trials.stop_reason().empty())
    out += WrapText("Stopped: " + trials.stop_reason(), "", "  ", options.width);
  if (!trials.trials().empty()) {
    TextTable table;
    table.AddColumn("change", Align::kLeft, true);
    for (const char* header : {"finding", "predicted"}) table.AddColumn(header, Align::kLeft);
    for (const char* header : {"measured", "interval of 95 %"})
      if (!is_plan) table.AddColumn(header, Align::kLeft);
    std::string remarks;
    for (const results::Trial& trial : trials.trials()) {
      std::vector<std::string> row = {ChangeText(trial), trial.id().empty() ? "-" : trial.id(),
                                      PredictedText(trial)};
      const bool is_known = trial.has_change();
      if (!is_plan) {
        row.push_back(is_known ? ChangeWord(trial.change()) : "not measured");
        row.push_back(is_known ? RangeText(trial.change().low_ratio(), trial.change().high_ratio())
                               : "-");
      }
      table.AddRow(row);
      std::string remark = trial.remedy().what();
      if (!trial.remedy().caution().empty())
        remark += (remark.empty() ? "" : "; ") + trial.remedy().caution();
      if (!remark.empty())
        remarks += WrapText(ChangeText(trial) + ": " + remark + ".", "  ", "    ", options.width);
    }
    out += (is_plan ? "" : "\n") +
           Section(is_plan ? "Changes to try" : "Changes", table, options, 0) + remarks;
  }
  if (trials.not_tried().empty()) return out;
  out += "\nNot tried:\n";
  for (const results::UntriedFinding& finding : trials.not_tried()) {
    out += WrapText(finding.id() + " " + finding.name() + ": " + finding.reason() + ".", "  ",
                    "    ", options.width);
  }
  return out;
}

}  // namespace gpuprof::analysis
