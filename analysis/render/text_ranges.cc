// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of ranges. See text.h.

#include <cmath>
#include <cstdio>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/ranges.pb.h"

namespace gpuprof::analysis {
namespace {

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

bool IsByDomain(const CellContext& context) {
  return static_cast<const results::Ranges&>(context.result).by() == "domain";
}

std::string RangeWords(const results::Range& range, const CellContext& context) {
  return NameOf(range.name(), range.domain(), IsByDomain(context)) +
         Unfinished(range.incomplete_count());
}

bool IsSpan(const results::Range& range) { return range.kind() != results::RANGE_KIND_MARK; }

std::string PlaceWords(const results::RangeValue& value, const CellContext& context) {
  return NameOf(value.range(), value.domain(), IsByDomain(context));
}

template <double (results::RangeValue::*kNumber)() const>
std::string NumberWords(const results::RangeValue& value) {
  return ValueOf((value.*kNumber)(), value.unit());
}

std::string MostFrequentWords(const results::RangeValue& value) {
  return value.most_frequent() + " (" + FormatNumber(value.most_frequent_count()) + " of " +
         FormatNumber(value.count()) + ")";
}

constexpr RowTest kIsSpan = TestOf<results::Range, IsSpan>;

constexpr TableColumn kRangeColumns[] = {
    {.field = "name",
     .title = "range",
     .cell = CellOf<results::Range, RangeWords>,
     .flexible = true,
     .except_by = "domain"},
    {.field = "name",
     .title = "domain",
     .cell = CellOf<results::Range, RangeWords>,
     .flexible = true,
     .only_by = "domain"},
    {.field = "domain", .title = "domain", .except_by = "domain", .in_text = false},
    {.field = "kind", .title = "kind"},
    {.field = "count", .title = "count"},
    {.field = "total_ns", .title = "total", .needs_if = kIsSpan},
    {.field = "self_ns", .title = "self", .needs_if = kIsSpan},
    {.field = "mean_ns", .title = "mean", .needs_if = kIsSpan},
    {.field = "median_ns", .title = "median", .needs_if = kIsSpan},
    {.field = "min_ns", .title = "min", .needs_if = kIsSpan, .on_page = OnPage::kOffered},
    {.field = "max_ns", .title = "max", .needs_if = kIsSpan},
    {.field = "device_ns", .title = "on GPU", .shown = ShownIf::kAny},
    {.field = "thread_count",
     .title = "threads",
     .unit = Unit::kIdentifier,
     .on_page = OnPage::kOffered},
    {.field = "incomplete_count",
     .title = "not ended",
     .on_page = OnPage::kOffered,
     .in_text = false},
};
constexpr TableColumn kValueColumns[] = {
    {.field = "name", .title = "value"},
    {.field = "range",
     .title = "range",
     .cell = CellOf<results::RangeValue, PlaceWords>,
     .flexible = true,
     .except_by = "domain"},
    {.field = "domain",
     .title = "domain",
     .cell = CellOf<results::RangeValue, PlaceWords>,
     .flexible = true,
     .only_by = "domain"},
    {.field = "count", .title = "count"},
    {.field = "sum_value",
     .title = "sum",
     .cell = CellOf<results::RangeValue, NumberWords<&results::RangeValue::sum_value>>,
     .needs = "sum_value"},
    {.field = "mean_value",
     .title = "mean",
     .cell = CellOf<results::RangeValue, NumberWords<&results::RangeValue::mean_value>>,
     .needs = "sum_value"},
    {.field = "min_value",
     .title = "min",
     .cell = CellOf<results::RangeValue, NumberWords<&results::RangeValue::min_value>>,
     .needs = "sum_value"},
    {.field = "max_value",
     .title = "max",
     .cell = CellOf<results::RangeValue, NumberWords<&results::RangeValue::max_value>>,
     .needs = "sum_value"},
    {.field = "most_frequent",
     .title = "most frequent",
     .cell = CellOf<results::RangeValue, MostFrequentWords>,
     .needs = "most_frequent"},
};
constexpr TableLayout kLayouts[] = {
    {.rows = "ranges",
     .row = results::Range::descriptor,
     .columns = kRangeColumns,
     .sorted_by = "total_ns"},
    {.rows = "values",
     .row = results::RangeValue::descriptor,
     .columns = kValueColumns,
     .title = "Values of payloads"},
};

}  // namespace

std::span<const TableLayout> RangesLayouts() { return kLayouts; }

std::string RangesText(const results::Ranges& result, const TextOptions& options) {
  if (result.ranges().empty())
    return "No range was recorded, neither of NVTX or ITT nor of PyTorch.\n" +
           MetaText(result.meta(), options);
  const std::string heading = FormatNumber(result.count()) + " ranges, " +
                              FormatNumber(result.mark_count()) +
                              (result.mark_count() == 1 ? " mark" : " marks");
  return TableText(heading, kLayouts[0], result, options) +
         TableText(kLayouts[1], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
