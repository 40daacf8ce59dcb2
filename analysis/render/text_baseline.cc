// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of saved baselines: one of them, or the list of a folder. See text.h.

#include <string>
#include <utility>

#include "analysis/base/figures.h"
#include "analysis/render/text.h"
#include "proto/results/baseline.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

template <typename Words>
std::string Joined(const Words& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

void AddFact(const char* what, const std::string& value, const TextOptions& options,
             std::string* out) {
  constexpr size_t kColumn = 14;
  if (value.empty()) return;
  std::string head = what;
  head.resize(kColumn, ' ');
  *out += WrapText(value, head, std::string(kColumn, ' '), options.width);
}

std::string StepWords(const results::Baseline& baseline) {
  if (baseline.step_count() == 0)
    return "none; the recording took " + FormatDuration(baseline.whole_ns());
  return FormatNumber(baseline.step_count()) + ", median " +
         FormatDuration(baseline.step_median_ns()) + ", mean " +
         FormatDuration(baseline.step_mean_ns());
}

std::string RowsText(const char* heading,
                     const google::protobuf::RepeatedPtrField<results::BaselineRow>& rows,
                     const TextOptions& options) {
  TextTable table;
  table.AddColumn("name", Align::kLeft, true);
  for (const char* header : {"count", "time"}) table.AddColumn(header, Align::kRight);
  for (int i = 0; i < Shown(rows.size(), options); ++i)
    table.AddRow({ShownName(rows[i], options), FormatReal(rows[i].count()),
                  FormatDuration(rows[i].total_ns())});
  return Section(heading, table, options, rows.size());
}

}  // namespace

std::string BaselineText(const results::Baseline& baseline, const TextOptions& options) {
  std::string out;
  AddFact("Baseline", baseline.name(), options, &out);
  AddFact("Saved",
          FormatMoment(baseline.saved_realtime_ns()) + ", by gpuprof " + baseline.writer_version() +
              ", of " + baseline.meta().path(),
          options, &out);
  AddFact("Program", baseline.program(), options, &out);
  AddFact("Device",
          baseline.device().empty()
              ? ""
              : FormatNumber(baseline.device_count()) + " x " + baseline.device(),
          options, &out);
  AddFact("Frameworks", Joined(baseline.frameworks()), options, &out);
  AddFact("Versions", Joined(baseline.versions()), options, &out);
  AddFact("Steps", StepWords(baseline), options, &out);
  return out + "\n" + RowsText("Kernels, a step", baseline.kernels(), options) +
         RowsText("Operations, own time a step", baseline.ops(), options);
}

std::string BaselinesText(const results::Baselines& list, const TextOptions& options) {
  if (list.baselines().empty())
    return WrapText(
        "No baseline is in " + list.path() + ". To save one: gpuprof baseline save NAME BUNDLE", "",
        "", options.width);
  TextTable table;
  table.AddColumn("name", Align::kLeft, true);
  table.AddColumn("saved", Align::kLeft);
  for (const char* header : {"steps", "median", "size"}) table.AddColumn(header, Align::kRight);
  table.AddColumn("program", Align::kLeft, true);
  table.AddColumn("device", Align::kLeft, true);
  std::string faults;
  for (const results::BaselineEntry& entry : list.baselines()) {
    if (!entry.fault().empty()) faults += WrapText(entry.fault(), "", "", options.width);
    table.AddRow({entry.name(), FormatMoment(entry.saved_realtime_ns()),
                  entry.fault().empty() ? FormatNumber(entry.step_count()) : "-",
                  entry.has_step_median_ns() ? FormatDuration(entry.step_median_ns()) : "-",
                  FormatBytes(entry.size_bytes()), entry.program(), entry.device()});
  }
  const std::string text = Section("Baselines in " + list.path(), table, options, 0);
  return faults.empty() ? text : text + faults;
}

}  // namespace gpuprof::analysis
