// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See row_details.h. Numbers of rows are hostile.

#include "analysis/read/row_details.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "proto/operations.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// Finds rows of a table from which blocks are left out.
class PresentRows {
 public:
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  PresentRows(const std::vector<LeftOutRows>& left_out, proto::ChunkKind kind) {
    uint64_t before = 0;
    for (const LeftOutRows& each : left_out) {
      if (each.kind != kind) continue;
      before += each.rows;
      gaps_.push_back({each.first_row, each.first_row + each.rows, before});
    }
  }

  // Returns the place of a row of the whole table among those that are there. kNone: it is not.
  uint64_t Find(uint64_t row) const {
    const auto after = std::upper_bound(gaps_.begin(), gaps_.end(), row,
                                        [](uint64_t at, const Gap& gap) { return at < gap.first; });
    if (after == gaps_.begin()) return row;
    const Gap& gap = *(after - 1);
    return row < gap.end ? kNone : row - gap.before;
  }

 private:
  struct Gap {
    uint64_t first, end;
    uint64_t before;  // rows that are left out up to its end
  };
  std::vector<Gap> gaps_;
};

// A column that only some rows have a value of; empty without any.
template <typename Value>
class Filling {
 public:
  void Put(Value value, size_t row, size_t rows) {
    if (value == 0 || row >= rows) return;
    if (values_.empty()) values_.assign(rows, Value{0});
    values_[row] = value;
  }
  // Replaces the column. It stays empty if all its values are 0.
  void MoveTo(Column<Value>* column) {
    *column = {};
    for (const Value value : values_) column->push_back(value);
  }

 private:
  std::vector<Value> values_;
};

class TrackDetails {
 public:
  explicit TrackDetails(Track* track) : track_(track) {}

  void Join(const RowDetailTable& details, size_t i) {
    const size_t row = RowOf(static_cast<proto::ChunkKind>(details.table[i]), details.row[i]);
    const uint64_t external = details.external[i];
    switch (static_cast<proto::ChunkKind>(details.table[i])) {
      case proto::ChunkKind::kOp:
        op_external_.Put(external, row, track_->op.rows());
        op_detail_.Put(details.detail[i], row, track_->op.rows());
        has_sequences_ = has_sequences_ || details.sequence[i] != 0;
        op_sequence_.Put(details.sequence[i], row, track_->op.rows());
        return;
      case proto::ChunkKind::kTensor:
        tensor_external_.Put(external, row, track_->tensor.rows());
        tensor_detail_.Put(details.detail[i], row, track_->tensor.rows());
        return;
      case proto::ChunkKind::kKernel:
        kernel_external_.Put(external, row, track_->kernel.rows());
        kernel_detail_.Put(details.detail[i], row, track_->kernel.rows());
        return;
      case proto::ChunkKind::kMemcpy:
        return memcpy_external_.Put(external, row, track_->memcpy.rows());
      case proto::ChunkKind::kMemset:
        return memset_external_.Put(external, row, track_->memset.rows());
      case proto::ChunkKind::kApi:
        return api_external_.Put(external, row, track_->api.rows());
      default:
        return;
    }
  }

  void Finish() {
    op_external_.MoveTo(&track_->op.external);
    op_detail_.MoveTo(&track_->op.detail);
    // Before version 1.5 the numbers are here, and later in the table of operations.
    if (has_sequences_) op_sequence_.MoveTo(&track_->op.sequence);
    kernel_external_.MoveTo(&track_->kernel.external);
    kernel_detail_.MoveTo(&track_->kernel.detail);
    memcpy_external_.MoveTo(&track_->memcpy.external);
    memset_external_.MoveTo(&track_->memset.external);
    api_external_.MoveTo(&track_->api.external);
  }
  // Returns the details that stay: those of tensors (model/tensor_counts.h).
  RowDetailTable OfTensors() {
    RowDetailTable table;
    tensor_external_.MoveTo(&table.external);
    tensor_detail_.MoveTo(&table.detail);
    const size_t rows = std::max(table.external.size(), table.detail.size());
    for (size_t row = 0; row < rows; ++row) {
      table.time_ns.push_back(track_->tensor.time_ns[row]);
      table.table.push_back(static_cast<uint16_t>(proto::ChunkKind::kTensor));
      table.row.push_back(static_cast<uint32_t>(row));
      table.sequence.push_back(0);
    }
    while (table.external.size() < rows) table.external.push_back(0);
    while (table.detail.size() < rows) table.detail.push_back(0);
    return table;
  }

 private:
  size_t RowOf(proto::ChunkKind kind, uint64_t row) {
    if (track_->left_out.empty()) return row;
    const auto [known, is_new] = present_.try_emplace(kind, track_->left_out, kind);
    return known->second.Find(row);
  }

  Track* track_;
  std::map<proto::ChunkKind, PresentRows> present_;
  Filling<uint64_t> op_external_, op_sequence_, tensor_external_, kernel_external_,
      memcpy_external_, memset_external_, api_external_;
  Filling<uint32_t> op_detail_, tensor_detail_, kernel_detail_;
  bool has_sequences_ = false;
};

// The file has the calling row plus 1, and the time of the calls in the call.
void FinishPython(bool is_whole, const std::vector<LeftOutRows>& left_out, PythonTable* table) {
  const size_t rows = table->rows();
  const PresentRows present(left_out, proto::ChunkKind::kPython);
  table->parent.Rewrite([&](size_t, uint32_t caller) {
    const uint64_t row = caller == 0 ? PresentRows::kNone : present.Find(caller - 1);
    return is_whole && row < rows ? static_cast<uint32_t>(row) : PythonTable::kNoRow;
  });
  table->self_ns.Rewrite([&](size_t row, int64_t inner_ns) {
    const int64_t duration_ns = table->duration_ns[row];
    return duration_ns - std::clamp<int64_t>(inner_ns, 0, duration_ns);
  });
}

// Finds callers, stacks and own times of calls that gpuprof recorded. Each row has its depth, and
// the rows stand in the order of their ends: a caller is behind its calls. Where a caller is not
// there, or threads were switched behind Python's back, a call has none.
void NestCalls(StackTree* stacks, PythonTable* table) {
  const size_t rows = table->rows();
  std::vector<uint32_t> parents(rows, PythonTable::kNoRow), own_stacks(rows);
  std::vector<int64_t> inner(rows);
  std::vector<uint32_t> open;  // the last row that was seen, by depth
  const auto start = [table](size_t i) { return table->end_ns[i] - table->duration_ns[i]; };
  for (size_t i = rows; i-- > 0;) {
    const uint32_t depth = proto::OpDepthOf(table->operation[i]);
    if (open.size() <= depth) open.resize(depth + 1, PythonTable::kNoRow);
    const uint32_t caller = depth == 0 ? PythonTable::kNoRow : open[depth - 1];
    open[depth] = static_cast<uint32_t>(i);
    uint32_t stack = 0;
    if (caller != PythonTable::kNoRow && start(caller) <= start(i) &&
        table->end_ns[caller] >= table->end_ns[i]) {
      parents[i] = caller;
      inner[caller] += table->duration_ns[i];
      stack = own_stacks[caller];
    }
    own_stacks[i] = stacks->Child(stack, NamedFrame(table->name[i]));
  }
  table->parent.Rewrite([&](size_t row, uint32_t) { return parents[row]; });
  table->stack.Rewrite([&](size_t row, uint32_t) { return own_stacks[row]; });
  table->self_ns.Rewrite([&](size_t row, int64_t) {
    return std::max<int64_t>(table->duration_ns[row] - inner[row], 0);
  });
}

}  // namespace

void JoinRowDetails(bool is_imported, bool is_whole, Process* process) {
  for (Track& track : process->tracks) {
    if (is_imported) {
      FinishPython(is_whole, track.left_out, &track.python);
    } else {
      NestCalls(&process->stacks, &track.python);
    }
    RowDetailTable of_tensors;
    if (is_imported) {
      TrackDetails details(&track);
      for (size_t i = 0; is_whole && i < track.row_detail.rows(); ++i)
        details.Join(track.row_detail, i);
      details.Finish();
      of_tensors = details.OfTensors();
    }
    track.row_detail = std::move(of_tensors);
  }
}

}  // namespace gpuprof::analysis
