// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of ranges. See text.h.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/figures.h"
#include "analysis/render/text.h"
#include "proto/results/ranges.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

// "domain:message", as the name of a range in a named domain is usually written.
std::string NameOf(const std::string& message, const std::string& domain, bool by_domain) {
  const std::string name = message.empty() ? (by_domain ? "(default)" : "(no name)") : message;
  return by_domain || domain.empty() ? name : domain + ":" + name;
}

// A number without a unit that is known.
std::string ValueOf(double value, const std::string& unit) {
  constexpr double kMostExact = 9007199254740992;  // 2^53
  const bool is_natural = value >= 0 && value <= kMostExact;
  if (is_natural && unit == "bytes") return FormatBytes(static_cast<uint64_t>(value + 0.5));
  if (is_natural && value == std::floor(value)) return FormatNumber(static_cast<uint64_t>(value));
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string ValuesText(const results::Ranges& result, const TextOptions& options) {
  const bool by_domain = result.by() == "domain";
  TextTable table;
  table.AddColumn("value", Align::kLeft);
  table.AddColumn(by_domain ? "domain" : "range", Align::kLeft, true);
  for (const char* header : {"count", "sum", "mean", "min", "max"})
    table.AddColumn(header, Align::kRight);
  table.AddColumn("most frequent", Align::kLeft);
  for (int i = 0; i < Shown(result.values_size(), options); ++i) {
    const results::RangeValue& value = result.values(i);
    std::vector<std::string> cells = {value.name(),
                                      NameOf(value.range(), value.domain(), by_domain),
                                      FormatNumber(value.count())};
    if (value.has_sum_value()) {
      for (const double number :
           {value.sum_value(), value.mean_value(), value.min_value(), value.max_value()})
        cells.push_back(ValueOf(number, value.unit()));
    } else {
      cells.insert(cells.end(), 4, "");
    }
    if (value.has_most_frequent())
      cells.push_back(value.most_frequent() + " (" + FormatNumber(value.most_frequent_count()) +
                      " of " + FormatNumber(value.count()) + ")");
    table.AddRow(std::move(cells));
  }
  return Section("Values of payloads", table, options, result.values_size());
}

}  // namespace

std::string RangesText(const results::Ranges& result, const TextOptions& options) {
  if (result.ranges().empty())
    return "No range was recorded, neither of NVTX or ITT nor of PyTorch.\n" +
           MetaText(result.meta(), options);
  const bool by_domain = result.by() == "domain";
  TextTable table;
  table.AddColumn(by_domain ? "domain" : "range", Align::kLeft, true);
  table.AddColumn("kind", Align::kLeft);
  const bool on_device =
      std::any_of(result.ranges().begin(), result.ranges().end(),
                  [](const results::Range& range) { return range.has_device_ns(); });
  for (const char* header : {"count", "total", "self", "mean", "median", "min", "max"})
    table.AddColumn(header, Align::kRight);
  if (on_device) table.AddColumn("on GPU", Align::kRight);
  table.AddColumn("threads", Align::kRight);
  for (int i = 0; i < Shown(result.ranges_size(), options); ++i) {
    const results::Range& range = result.ranges(i);
    std::vector<std::string> cells = {
        NameOf(range.name(), range.domain(), by_domain) + Unfinished(range.incomplete_count()),
        range.kind(), FormatNumber(range.count())};
    if (range.kind() == "mark") {
      cells.insert(cells.end(), 6, "");
    } else {
      cells.push_back(FormatDuration(range.total_ns()));
      cells.push_back(range.has_self_ns() ? FormatDuration(range.self_ns()) : "");
      for (const int64_t ns :
           {range.mean_ns(), range.median_ns(), range.min_ns(), range.max_ns()}) {
        cells.push_back(FormatDuration(ns));
      }
    }
    if (on_device) cells.push_back(range.has_device_ns() ? FormatDuration(range.device_ns()) : "");
    cells.push_back(std::to_string(range.thread_count()));
    table.AddRow(std::move(cells));
  }
  const std::string heading = FormatNumber(result.count()) + " ranges, " +
                              FormatNumber(result.mark_count()) +
                              (result.mark_count() == 1 ? " mark" : " marks");
  return Section(heading, table, options, result.ranges_size()) + ValuesText(result, options) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
