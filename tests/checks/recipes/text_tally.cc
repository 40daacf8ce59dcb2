// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints the result of the pass `tally`. A template for the text of a new pass.

#include <string>

#include "analysis/base/units.h"
#include "analysis/render/text.h"
#include "proto/results/tally.pb.h"

namespace gpuprof::analysis {

std::string TallyText(const results::Tally& result, const TextOptions& options) {
  TextTable table;
  table.AddColumn("pid", TextTable::Align::kRight);
  table.AddColumn("kernels", TextTable::Align::kRight);
  for (int i = 0; i < Shown(result.rows_size(), options); ++i) {
    const results::TallyRow& row = result.rows(i);
    table.AddRow({std::to_string(row.pid()), std::to_string(row.count())});
  }
  return Section("Kernels of each process", table, options, result.rows_size()) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
