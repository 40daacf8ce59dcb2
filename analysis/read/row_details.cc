// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See row_details.h. Numbers of rows are hostile.

#include "analysis/read/row_details.h"

#include <cstddef>
#include <cstdint>

#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

template <typename Value>
void Put(Value value, size_t row, size_t rows, Column<Value>* column) {
  if (value == 0 || row >= rows) return;
  if (column->empty()) column->assign(rows, Value{0});
  (*column)[row] = value;
}

void Join(const RowDetailTable& details, size_t i, Track* track) {
  const size_t row = details.row[i];
  const auto external = [&](auto* table) {
    Put(details.external[i], row, table->rows(), &table->external);
  };
  switch (static_cast<proto::ChunkKind>(details.table[i])) {
    case proto::ChunkKind::kOp:
      external(&track->op);
      Put(details.detail[i], row, track->op.rows(), &track->op.detail);
      Put(details.sequence[i], row, track->op.rows(), &track->op.sequence);
      return;
    case proto::ChunkKind::kKernel:
      external(&track->kernel);
      Put(details.detail[i], row, track->kernel.rows(), &track->kernel.detail);
      return;
    case proto::ChunkKind::kMemcpy:
      return external(&track->memcpy);
    case proto::ChunkKind::kMemset:
      return external(&track->memset);
    case proto::ChunkKind::kApi:
      return external(&track->api);
    default:
      return;
  }
}

}  // namespace

void JoinRowDetails(bool is_imported, bool is_whole, Process* process) {
  for (Track& track : process->tracks) {
    if (is_imported) {
      track.op.external.assign(track.op.rows(), 0);
      track.op.detail.assign(track.op.rows(), 0);
      track.op.sequence.assign(track.op.rows(), 0);
    }
    for (uint32_t& parent : track.python.parent) {
      if (!is_whole || parent >= track.python.rows()) parent = PythonTable::kNoRow;
    }
    if (is_whole) {
      for (size_t i = 0; i < track.row_detail.rows(); ++i) Join(track.row_detail, i, &track);
    }
    track.row_detail = RowDetailTable();
  }
}

}  // namespace gpuprof::analysis
