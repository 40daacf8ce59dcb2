// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Categories of a device's time in words, and their table. Any thread.

#pragma once

#include <google/protobuf/repeated_field.h>

#include <string>
#include <string_view>

#include "analysis/base/figures.h"
#include "analysis/render/table_layout.h"
#include "proto/results/breakdown.pb.h"

namespace gpuprof::analysis {

// Returns "compute fp32", "host late", "waiting for data".
std::string TimeCategoryWords(results::TimeCategory category);
// Returns what the category means, as a sentence's end.
std::string TimeCategoryMeaning(results::TimeCategory category);

// Returns why a device was idle between two pieces of work, as a sentence without its end: "the
// host had not launched the next work".
std::string IdleMeaning(results::TimeCategory category);

std::string CategoryCell(const results::CategoryTime& part);
std::string MeaningCell(const results::CategoryTime& part);

// The time of a window, divided by category.
inline constexpr TableColumn kTimeColumns[] = {
    {.field = "category", .title = "category", .cell = CellOf<results::CategoryTime, CategoryCell>},
    {.field = "total_ns", .title = "time"},
    {.field = "total_ratio", .title = "share"},
    {.field = "category",
     .title = "meaning",
     .cell = CellOf<results::CategoryTime, MeaningCell>,
     .flexible = true,
     .on_page = OnPage::kAbsent},
};
constexpr TableLayout TimesLayout(std::string_view rows) {
  return {.rows = rows,
          .row = results::CategoryTime::descriptor,
          .columns = kTimeColumns,
          .is_complete = true,
          .sorted_by = "total_ns",
          .noun = "category"};
}

TextTable TimesTable(const google::protobuf::RepeatedPtrField<results::CategoryTime>& times);

}  // namespace gpuprof::analysis
