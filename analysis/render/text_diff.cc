// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of a comparison, for the terminal and as Markdown for a pull request. See text.h.

#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/base/figures.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/text.h"
#include "proto/results/diff.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

// Rows that change less are left out of the text.
constexpr double kLeastChange = 0.001;

std::string SignedPercent(double ratio) {
  return (ratio > 0 ? "+" : ratio < 0 ? "-" : "") + FormatPercent(ratio < 0 ? -ratio : ratio);
}

std::string SignedDuration(int64_t ns) {
  return (ns > 0 ? "+" : ns < 0 ? "-" : "") + FormatDuration(ns < 0 ? -ns : ns);
}

const char* VerdictWord(results::DiffVerdict verdict) {
  switch (verdict) {
    case results::DIFF_VERDICT_REGRESSION:
      return "regression";
    case results::DIFF_VERDICT_IMPROVEMENT:
      return "improvement";
    case results::DIFF_VERDICT_NEUTRAL:
      return "neutral";
    default:
      return "inconclusive";
  }
}

std::string StepWords(const results::Diff& diff) {
  const results::StepDiff& steps = diff.steps();
  if (steps.differs_in_window()) {
    return "One recording has no work of a GPU in its steps. The steps of the host and those of a "
           "GPU are different measures, so they are not compared.";
  }
  if (!steps.has_change_ratio())
    return "A recording without steps has one time only: a difference may be noise.";
  std::string words = "The median step took " + FormatDuration(steps.before_median_ns()) + " in " +
                      FormatNumber(steps.before_count()) + " steps before, and " +
                      FormatDuration(steps.after_median_ns()) + " in " +
                      FormatNumber(steps.after_count()) +
                      " after: " + SignedPercent(steps.change_ratio());
  if (steps.has_change_low_ratio()) {
    words += ", with a probability of 95 % between " + SignedPercent(steps.change_low_ratio()) +
             " and " + SignedPercent(steps.change_high_ratio());
  }
  words += ".";
  if (diff.verdict() == results::DIFF_VERDICT_INCONCLUSIVE) words += " Record more steps to know.";
  return words;
}

std::string ShapeWords(const results::Comparability& comparability) {
  if (!comparability.has_same_shape_ratio()) return " The recordings do not both tell shapes.";
  const bool is_inputs = comparability.shapes() == results::DIFF_SHAPES_INPUTS;
  return std::string(" The shapes of ") + (is_inputs ? "operations' inputs" : "kernels' grids") +
         " are the same in " + FormatPercent(comparability.same_shape_ratio()) + " of the time.";
}

std::string ReasonWords(const results::Comparability& comparability) {
  constexpr const char* kWords[] = {"",
                                    "the programs differ",
                                    "the devices differ",
                                    "shapes differ",
                                    "the frameworks differ",
                                    "the steps were found in other ways",
                                    "a side has fewer than five steps",
                                    "the steps launch other numbers of kernels",
                                    "the versions of CUDA or its driver differ",
                                    "the numbers of devices differ"};
  static_assert(std::size(kWords) == results::DiffReason_ARRAYSIZE);
  std::string words;
  for (const int reason : comparability.reasons())
    words += (words.empty() ? "" : "; ") + std::string(kWords[reason]);
  return "Comparability: " + FormatPercent(comparability.score_ratio()) +
         (words.empty() ? "" : ", because " + words) + "." + ShapeWords(comparability);
}

std::string BaselineWords(const results::Diff& diff, std::string (*quote)(const std::string&)) {
  if (diff.baseline_name().empty()) return "";
  return "Before: the baseline " + quote(diff.baseline_name()) + ", saved " +
         FormatMoment(diff.baseline_saved_realtime_ns()) + " of " + quote(diff.before().path()) +
         ".";
}

std::string Time(bool has, int64_t ns) { return has ? FormatDuration(ns) : "-"; }

// Returns whether the interval of a row's change leaves out 0.
const char* NoiseWord(const results::RowDiff& row) {
  if (!row.has_change_low_ns()) return "-";
  return row.change_low_ns() > 0 || row.change_high_ns() < 0 ? "yes" : "no";
}

std::vector<std::string> RowCells(const results::RowDiff& row, const TextOptions& options) {
  return {ShownName(row, options),
          Time(row.has_before_ns(), row.before_ns()),
          Time(row.has_after_ns(), row.after_ns()),
          SignedDuration(row.change_ns()),
          SignedPercent(row.change_ratio()),
          NoiseWord(row)};
}

template <typename Rows>
int Changed(const Rows& rows) {
  int count = 0;
  for (const auto& row : rows)
    count += row.change_ratio() > kLeastChange || row.change_ratio() < -kLeastChange ? 1 : 0;
  return count;
}

std::string RowsText(const char* heading,
                     const google::protobuf::RepeatedPtrField<results::RowDiff>& rows,
                     const TextOptions& options) {
  TextTable table;
  table.AddColumn("name", Align::kLeft, true);
  for (const char* header : {"before", "after", "change", "of the step", "beyond noise"})
    table.AddColumn(header, Align::kRight);
  const int changed = Changed(rows);
  for (int i = 0; i < Shown(changed, options); ++i) table.AddRow(RowCells(rows[i], options));
  return Section(heading, table, options, changed);
}

std::string CategoriesText(const results::Diff& diff, const TextOptions& options) {
  TextTable table;
  table.AddColumn("category", Align::kLeft);
  for (const char* header : {"before", "after", "change"}) table.AddColumn(header, Align::kRight);
  for (const results::CategoryDiff& row : diff.categories())
    table.AddRow({TimeCategoryWords(row.category()), FormatDuration(row.before_ns()),
                  FormatDuration(row.after_ns()), SignedDuration(row.change_ns())});
  return Section("The device's time in the mean step", table, options, 0);
}

std::string AsItIs(const std::string& text) { return text; }

// Returns foreign text as code: nothing in it is a link, a picture, HTML or a mention of somebody.
std::string MarkdownCode(const std::string& text) {
  const std::string line = OneLine(text);
  // The fence is longer than each run of backticks inside.
  std::string fence = "`";
  while (line.find(fence) != std::string::npos) fence += '`';
  const bool is_padded = line.starts_with('`') || line.ends_with('`');
  const std::string pad = is_padded || line.empty() ? " " : "";
  return fence + pad + line + pad + fence;
}

// A bar would end a cell, even within code.
std::string MarkdownCell(const std::string& text) {
  std::string out;
  for (const char c : MarkdownCode(text)) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string MarkdownRows(const char* heading,
                         const google::protobuf::RepeatedPtrField<results::RowDiff>& rows,
                         const TextOptions& options) {
  const int changed = Changed(rows);
  if (changed == 0) return "";
  std::string out = std::string("\n**") + heading +
                    "**\n\n| name | before | after | change | of the step | beyond noise |\n"
                    "|---|--:|--:|--:|--:|--:|\n";
  for (int i = 0; i < Shown(changed, options); ++i) {
    const std::vector<std::string> cells = RowCells(rows[i], options);
    out += "| " + MarkdownCell(cells[0]);
    for (size_t k = 1; k < cells.size(); ++k) out += " | " + cells[k];
    out += " |\n";
  }
  return out;
}

}  // namespace

std::string DiffText(const results::Diff& diff, const TextOptions& options) {
  return WrapText(std::string("Verdict: ") + VerdictWord(diff.verdict()) + ". " + StepWords(diff),
                  "", "", options.width) +
         WrapText(ReasonWords(diff.comparability()), "", "", options.width) +
         (diff.baseline_name().empty()
              ? ""
              : WrapText(BaselineWords(diff, AsItIs), "", "", options.width)) +
         "\n" + CategoriesText(diff, options) +
         RowsText("Kernels, a step", diff.kernels(), options) +
         RowsText("Operations, own time a step", diff.ops(), options);
}

std::string DiffMarkdown(const results::Diff& diff, const TextOptions& options) {
  std::string out = std::string("### gpuprof: ") + VerdictWord(diff.verdict()) + "\n\n" +
                    StepWords(diff) + " " + ReasonWords(diff.comparability()) +
                    (diff.baseline_name().empty() ? "" : " " + BaselineWords(diff, MarkdownCode)) +
                    "\n";
  if (!diff.categories().empty()) {
    out += "\n| category | before | after | change |\n|---|--:|--:|--:|\n";
    for (const results::CategoryDiff& row : diff.categories())
      out += "| " + TimeCategoryWords(row.category()) + " | " + FormatDuration(row.before_ns()) +
             " | " + FormatDuration(row.after_ns()) + " | " + SignedDuration(row.change_ns()) +
             " |\n";
  }
  return out + MarkdownRows("Kernels, a step", diff.kernels(), options) +
         MarkdownRows("Operations, own time a step", diff.ops(), options);
}

std::string CompareMarkdown(const google::protobuf::Message& result, const PassOptions& options) {
  TextOptions text;
  text.limit = options.limit.value_or(kTextRows);
  text.wide = options.wide;
  return PlainLines(DiffMarkdown(static_cast<const results::Diff&>(result), text));
}

}  // namespace gpuprof::analysis
