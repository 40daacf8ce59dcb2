// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of roofline and op_profile. See text.h.

#include <cstdio>
#include <string>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/op_profile.pb.h"
#include "proto/results/roofline.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr double kTeraFlop = 1e12;

// Three digits: "0.125", "59.2", "1.54e+03" as "1540".
std::string ThreeDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

template <typename Row>
std::string TeraCell(const Row& row) {
  return row.has_flop_per_s() ? ThreeDigits(row.flop_per_s() / kTeraFlop) : "";
}
std::string PeakTeraCell(const results::RooflinePeak& row) {
  return row.has_peak_flop_per_s() ? ThreeDigits(row.peak_flop_per_s() / kTeraFlop) : "";
}
std::string RoofTeraCell(const results::RooflineRow& row) {
  return row.has_roof_flop_per_s() ? ThreeDigits(row.roof_flop_per_s() / kTeraFlop) : "";
}
std::string IntensityCell(const results::RooflineRow& row) {
  return row.has_flop_per_byte() ? ThreeDigits(row.flop_per_byte()) : "";
}
std::string RidgeCell(const results::RooflinePeak& row) {
  return row.has_ridge_flop_per_byte() ? ThreeDigits(row.ridge_flop_per_byte()) : "";
}
template <typename Row>
std::string GigaCell(const Row& row) {
  return row.has_gb_per_s() ? ThreeDigits(row.gb_per_s()) : "";
}

template <typename Row>
bool IsCounted(const Row& row) {
  return row.flop_evidence() != results::WORK_EVIDENCE_NONE ||
         row.bytes_evidence() != results::WORK_EVIDENCE_NONE;
}

// What the figures of a row were counted from.
template <typename Row>
std::string CountedCell(const Row& row) {
  const results::WorkEvidence flops = row.flop_evidence(), bytes = row.bytes_evidence();
  if (flops == bytes || bytes == results::WORK_EVIDENCE_NONE) return WordOf(flops);
  if (flops == results::WORK_EVIDENCE_NONE) return WordOf(bytes);
  return WordOf(flops) + ", " + WordOf(bytes);
}

constexpr TableColumn kTimeColumn = {.field = "total_ns", .title = "total"};
constexpr TableColumn kShareColumn = {.field = "total_ratio", .title = "share"};
constexpr TableColumn kModelColumn = {
    .field = "device_name", .title = "device", .shown = ShownIf::kDifferent};
constexpr TableColumn kRateColumn = {.field = "flop_per_s",
                                     .title = "TFLOP/s",
                                     .cell = CellOf<results::RooflineRow, TeraCell>,
                                     .needs = "flop_per_s",
                                     .blank = "-",
                                     .align = ColumnAlign::kRight,
                                     .scale = kTera};
constexpr TableColumn kOfPeakColumn = {
    .field = "peak_flop_ratio",
    .title = "of peak",
    .blank = "-",
    .tip = "The part of the peak of computing with this type of numbers"};
constexpr TableColumn kMovedColumn = {.field = "gb_per_s",
                                      .title = "GB/s",
                                      .cell = CellOf<results::RooflineRow, GigaCell>,
                                      .needs = "gb_per_s",
                                      .blank = "-",
                                      .align = ColumnAlign::kRight,
                                      .scale = kWholes};
constexpr TableColumn kOfMemoryColumn = {
    .field = "peak_gb_ratio",
    .title = "of memory",
    .blank = "-",
    .tip = "The part of what the device's memory moves at most"};
constexpr TableColumn kIntensityColumn = {.field = "flop_per_byte",
                                          .title = "flop/byte",
                                          .cell = CellOf<results::RooflineRow, IntensityCell>,
                                          .needs = "flop_per_byte",
                                          .blank = "-",
                                          .align = ColumnAlign::kRight,
                                          .scale = kTenths};
constexpr TableColumn kBoundColumn = {.field = "bound", .title = "bound by"};
constexpr TableColumn kRoofColumn = {
    .field = "roof_flop_per_s",
    .title = "roof",
    .cell = CellOf<results::RooflineRow, RoofTeraCell>,
    .needs = "roof_flop_per_s",
    .blank = "-",
    .align = ColumnAlign::kRight,
    .tip = "TFLOP/s that the device could reach with this intensity",
    .scale = kTera,
    .in_text = false};
constexpr TableColumn kOfRoofColumn = {.field = "roof_ratio", .title = "of roof", .blank = "-"};
constexpr TableColumn kKnownColumn = {
    .field = "known_ratio",
    .title = "known",
    .tip = "The part of the time for which operations, bytes and peaks are known"};
constexpr TableColumn kTypeColumn = {
    .field = "precision", .title = "type", .needs = "precision", .blank = "-"};
constexpr TableColumn kCountedColumn = {.field = "flop_evidence",
                                        .title = "counted from",
                                        .cell = CellOf<results::RooflineRow, CountedCell>,
                                        .needs_if = TestOf<results::RooflineRow, IsCounted>,
                                        .blank = "-"};

constexpr TableColumn kOperationColumns[] = {
    {.field = "name", .title = "operation", .flexible = true},
    kModelColumn,
    {.field = "count", .title = "count"},
    kTimeColumn,
    kShareColumn,
    kBoundColumn,
    kOfRoofColumn,
    kIntensityColumn,
    kRateColumn,
    kOfPeakColumn,
    kMovedColumn,
    kOfMemoryColumn,
    kCountedColumn,
    {.field = "category", .title = "category"},
    kTypeColumn,
    kRoofColumn,
    kKnownColumn,
    {.field = "program",
     .title = "program",
     .flexible = true,
     .shown = ShownIf::kDifferent,
     .on_page = OnPage::kOffered},
};
constexpr TableColumn kCategoryColumns[] = {
    {.field = "name", .title = "category"},
    kModelColumn,
    {.field = "count", .title = "count"},
    kTimeColumn,
    kShareColumn,
    kBoundColumn,
    kOfRoofColumn,
    kIntensityColumn,
    kRateColumn,
    kOfPeakColumn,
    kMovedColumn,
    kOfMemoryColumn,
    kKnownColumn,
    kRoofColumn,
};
constexpr TableColumn kDeviceColumns[] = {
    {.field = "name", .title = "device"},
    {.field = "device_count", .title = "devices"},
    kTimeColumn,
    kBoundColumn,
    kIntensityColumn,
    kRateColumn,
    kOfPeakColumn,
    kMovedColumn,
    kOfMemoryColumn,
    kOfRoofColumn,
    kKnownColumn,
    kRoofColumn,
    {.field = "step_flop_ratio",
     .title = "of steps",
     .shown = ShownIf::kAny,
     .tip = "Model FLOP utilisation: the part of the steps that the known operations take at the "
            "peak"},
};
constexpr TableColumn kPeakColumns[] = {
    {.field = "name", .title = "device"},
    {.field = "precision", .title = "type"},
    {.field = "peak_flop_per_s",
     .title = "TFLOP/s",
     .cell = CellOf<results::RooflinePeak, PeakTeraCell>,
     .needs = "peak_flop_per_s",
     .blank = "-",
     .align = ColumnAlign::kRight,
     .scale = kTera},
    {.field = "peak_gb_per_s", .title = "GB/s", .blank = "-", .scale = kWholes},
    {.field = "ridge_flop_per_byte",
     .title = "ridge point",
     .cell = CellOf<results::RooflinePeak, RidgeCell>,
     .needs = "ridge_flop_per_byte",
     .blank = "-",
     .align = ColumnAlign::kRight,
     .tip = "The intensity, in flop/byte, from which on computing bounds"},
    {.field = "peak_flop_source", .title = "peak of computing from", .blank = "(none)"},
    {.field = "peak_gb_source", .title = "of memory from", .blank = "(none)"},
};
constexpr TableLayout kRoofLayouts[] = {
    {.rows = "devices",
     .row = results::RooflineRow::descriptor,
     .columns = kDeviceColumns,
     .is_complete = true,
     .noun = "device",
     .title = "Whole program"},
    {.rows = "peaks",
     .row = results::RooflinePeak::descriptor,
     .columns = kPeakColumns,
     .is_complete = true,
     .noun = "peak",
     .title = "Peaks"},
    {.rows = "categories",
     .row = results::RooflineRow::descriptor,
     .columns = kCategoryColumns,
     .sorted_by = "total_ns",
     .noun = "category",
     .title = "Categories"},
    {.rows = "operations",
     .row = results::RooflineRow::descriptor,
     .columns = kOperationColumns,
     .sorted_by = "total_ns",
     .noun = "operation",
     .title = "Operations"},
};

// The tree by indents.
std::string TreeName(const results::OpProfileRow& row) {
  const size_t above = (row.program().empty() ? 0 : 1) + (row.category().empty() ? 0 : 1);
  return std::string(2 * above, ' ') + row.name();
}

constexpr TableColumn kTreeColumns[] = {
    {.field = "name",
     .title = "program, category, operation",
     .cell = CellOf<results::OpProfileRow, TreeName>,
     .flexible = true},
    {.field = "level", .title = "level", .in_text = false},
    {.field = "category", .title = "category", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "program", .title = "in program", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "operation_count",
     .title = "operations",
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "count", .title = "count"},
    kTimeColumn,
    {.field = "total_ratio", .title = "share", .blank = "-"},
    {.field = "parent_ratio", .title = "of parent", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "window_ratio",
     .title = "with idle",
     .shown = ShownIf::kAny,
     .tip = "The share of the time from first to last work"},
    {.field = "flop_per_s",
     .title = "TFLOP/s",
     .cell = CellOf<results::OpProfileRow, TeraCell>,
     .needs = "flop_per_s",
     .blank = "-",
     .align = ColumnAlign::kRight,
     .scale = kTera},
    kOfPeakColumn,
    {.field = "bytes", .title = "moved", .blank = "-"},
    {.field = "gb_per_s",
     .title = "GB/s",
     .cell = CellOf<results::OpProfileRow, GigaCell>,
     .needs = "gb_per_s",
     .blank = "-",
     .align = ColumnAlign::kRight,
     .scale = kWholes},
    kOfMemoryColumn,
    {.field = "flop_evidence",
     .title = "counted from",
     .cell = CellOf<results::OpProfileRow, CountedCell>,
     .needs_if = TestOf<results::OpProfileRow, IsCounted>,
     .blank = "-"},
};
constexpr TableLayout kTreeLayouts[] = {{.rows = "rows",
                                         .row = results::OpProfileRow::descriptor,
                                         .columns = kTreeColumns,
                                         .noun = "row"}};

}  // namespace

std::span<const TableLayout> RooflineLayouts() { return kRoofLayouts; }
std::span<const TableLayout> OpProfileLayouts() { return kTreeLayouts; }

std::string RooflineText(const results::Roofline& result, const TextOptions& options) {
  if (result.operations().empty())
    return "No kernel was recorded.\n" + MetaText(result.meta(), options);
  std::string text = WrapText(
      "Operations, bytes and peaks are known for " + FormatPercent(result.known_ratio()) + " of " +
          FormatDuration(result.total_ns()) + " of kernel time. Bound and roof are of this part.",
      "", "", options.width);
  bool is_counted = false;
  for (const results::RooflineRow& device : result.devices()) is_counted |= IsCounted(device);
  if (!is_counted)
    text += WrapText(
        "No source tells operations or bytes: neither shapes of PyTorch's inputs, nor "
        "XLA's analysis in an XSpace.",
        "", "", options.width);
  for (const results::RooflineRow& device : result.devices()) {
    if (!device.has_step_flop_ratio()) continue;
    text += WrapText("Model FLOP utilisation of " + device.name() + ": at the peak, the known " +
                         "operations take " + FormatPercent(device.step_flop_ratio()) +
                         " of the time of the steps.",
                     "", "", options.width);
  }
  text += "\n";
  for (const TableLayout& layout : kRoofLayouts) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

std::string OpProfileText(const results::OpProfile& result, const TextOptions& options) {
  if (result.total_ns() == 0)
    return "No work of a device was recorded.\n" + MetaText(result.meta(), options);
  std::string heading = FormatDuration(result.total_ns()) + " of work";
  if (result.has_idle_ns())
    heading += ", " + FormatDuration(result.idle_ns()) + " idle of " +
               FormatDuration(result.window_ns()) + " from first to last work";
  return TableText(heading, kTreeLayouts[0], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
