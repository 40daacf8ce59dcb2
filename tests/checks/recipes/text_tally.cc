// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Describes the table of the pass `tally`, and prints it. A template for the text of a new pass.

#include <string>

#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/tally.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr TableColumn kColumns[] = {
    kPidColumn,
    {.field = "count", .title = "kernels"},
};
constexpr TableLayout kLayouts[] = {{.rows = "rows",
                                     .row = results::TallyRow::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "count",
                                     .noun = "process",
                                     .title = "Kernels of each process"}};

}  // namespace

std::span<const TableLayout> TallyLayouts() { return kLayouts; }

std::string TallyText(const results::Tally& result, const TextOptions& options) {
  return TableText(kLayouts[0], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
