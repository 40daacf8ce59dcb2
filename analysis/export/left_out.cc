// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See left_out.h.

#include "analysis/export/left_out.h"

#include <algorithm>
#include <string>

#include "analysis/export/host_events.h"
#include "analysis/model/table_extents.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

void Count(std::string_view table, uint64_t rows, ExportReport* report) {
  if (rows != 0) report->left_out[std::string(table)] += rows;
}

uint64_t UnwrittenRanges(const RangeTable& ranges) {
  uint64_t rows = 0;
  for (size_t row = 0; row < ranges.rows(); ++row) rows += IsWritten(ranges, row) ? 0 : 1;
  return rows;
}

uint64_t StandsForMore(const Column<uint32_t>& weights) {
  return static_cast<uint64_t>(
      std::count_if(weights.begin(), weights.end(), [](uint32_t weight) { return weight > 1; }));
}

}  // namespace

void CountLeftOut(const Track& track, std::span<const proto::ChunkKind> written,
                  ExportReport* report) {
  for (const proto::TableSpec& table : proto::kTables) {
    if (std::find(written.begin(), written.end(), table.kind) == written.end())
      Count(table.name, RowsOf(track, table.kind), report);
  }
  Count("range", UnwrittenRanges(track.range), report);
  Count("range_value", track.range_value.rows(), report);
}

uint64_t SampledRows(const Track& track) {
  return StandsForMore(track.kernel.weight) + StandsForMore(track.memcpy.weight) +
         StandsForMore(track.memset.weight) + StandsForMore(track.api.weight) +
         StandsForMore(track.sync.weight);
}

}  // namespace gpuprof::analysis
