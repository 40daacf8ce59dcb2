// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See row_blocks.h.

#include "analysis/export/row_blocks.h"

#include <algorithm>
#include <iterator>

#include "analysis/model/table_extents.h"
#include "proto/container.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

// No ring holds rows that are not in the file yet.
constexpr uint64_t kNoRing = ~uint64_t{0};

// Tables that importers make. RowDetail holds columns of the others.
constexpr ChunkKind kImported[] = {
    ChunkKind::kWait,    ChunkKind::kOp,       ChunkKind::kPython,      ChunkKind::kTensor,
    ChunkKind::kCounter, ChunkKind::kRange,    ChunkKind::kLaunch,      ChunkKind::kKernel,
    ChunkKind::kMemcpy,  ChunkKind::kMemset,   ChunkKind::kGraphLaunch, ChunkKind::kApi,
    ChunkKind::kSync,    ChunkKind::kOverhead, ChunkKind::kCudaEvent,   ChunkKind::kRowDetail};

// Returns the first table with rows that no importer makes; empty: there is none.
std::string OtherRows(const Track& track) {
  for (const proto::TableSpec& table : proto::kTables) {
    const bool is_imported =
        std::find(std::begin(kImported), std::end(kImported), table.kind) != std::end(kImported);
    if (!is_imported && RowsOf(track, table.kind) != 0) return table.name;
  }
  if (track.range_value.rows() != 0) return "range_value";
  return track.samples.empty() ? "" : "thread sample";
}

bool StandForOne(const Column<uint32_t>& weight) {
  return std::all_of(weight.begin(), weight.end(), [](uint32_t n) { return n == 1; });
}

bool AllStandForOne(const Track& track) {
  return StandForOne(track.kernel.weight) && StandForOne(track.memcpy.weight) &&
         StandForOne(track.memset.weight) && StandForOne(track.api.weight) &&
         StandForOne(track.graph_launch.weight) && StandForOne(track.sync.weight);
}

// A column that only imported traces have may be empty.
template <typename Value>
uint64_t At(const Column<Value>& column, size_t i) {
  return column.empty() ? 0 : column[i];
}

}  // namespace

uint64_t RowBlocks::Time(int64_t time_ns) {
  is_time_far_ |= time_ns < kEarliestImportedNs || time_ns > kLatestImportedNs;
  return ImportedTick(time_ns);
}

uint32_t RowBlocks::CaptureAt(uint64_t tick) const {
  uint32_t number = kImportedCapture;
  for (const CaptureWindow& window : process_.captures)
    if (ImportedTick(window.start_ns) <= tick) number = window.number;
  return number;
}

void RowBlocks::Flush(uint32_t capture, codec::ChunkBuilder* builder) {
  if (builder->count() == 0) return;
  if (!writer_->WriteEvents(builder, capture, kNoRing) && error_ == 0)
    error_ = writer_->last_error();
}

// Calls fill(i, row) for each row; all columns of `row` are 0 before the first.
template <typename Fill>
void RowBlocks::Rows(ChunkKind kind, size_t rows, Fill fill) {
  if (rows == 0) return;
  codec::ChunkBuilder builder(kind, track_, 0);
  uint64_t row[proto::kWidestTable] = {};
  uint32_t capture = kImportedCapture;
  for (size_t i = 0; i < rows; ++i) {
    fill(i, row);
    if (is_time_far_) return;
    // All rows of a block are of one capture.
    if (const uint32_t own = CaptureAt(row[0]); own != capture) {
      Flush(capture, &builder);
      capture = own;
    }
    builder.Append(row, row[0]);
    if (builder.count() == proto::kRowsPerChunk) Flush(capture, &builder);
  }
  Flush(capture, &builder);
}

// All spans begin with these two columns.
template <typename Table>
void RowBlocks::Span(const Table& table, size_t i, uint64_t* row) {
  const int64_t end = table.end_ns[i], duration = table.duration_ns[i];
  is_time_far_ |= duration < 0 || end < kEarliestImportedNs;
  if (!is_time_far_) Time(end - duration);
  row[proto::op_column::kEnd] = Time(end);
  row[proto::op_column::kDuration] = static_cast<uint64_t>(duration);
}

// Copies and sets have these columns at the same places.
template <typename Table>
void RowBlocks::Work(const Table& table, size_t i, uint64_t* row) {
  namespace c = proto::memcpy_column;
  Span(table, i, row);
  row[c::kOperation] = table.operation[i];
  row[c::kCorrelation] = table.correlation[i];
  row[c::kBytes] = table.bytes[i];
  row[c::kGraph] = table.graph[i];
  row[c::kGraphNode] = table.graph_node[i];
}

void RowBlocks::Ops(const OpTable& t) {
  namespace c = proto::op_column;
  Rows(ChunkKind::kOp, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kName] = t.name[i];
    row[c::kOperation] = t.operation[i];
    row[c::kSequence] = At(t.sequence, i);
  });
}

void RowBlocks::Python(const PythonTable& t) {
  namespace c = proto::python_column;
  Rows(ChunkKind::kPython, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kName] = t.name[i];
    row[c::kParent] = t.parent[i] == PythonTable::kNoRow ? 0 : uint64_t{t.parent[i]} + 1;
    row[c::kStack] = t.stack[i];
    row[c::kInner] = static_cast<uint64_t>(t.duration_ns[i] - t.self_ns[i]);
  });
}

void RowBlocks::Tensors(const TensorTable& t) {
  namespace c = proto::tensor_column;
  Rows(ChunkKind::kTensor, t.rows(), [&](size_t i, uint64_t* row) {
    row[c::kTime] = Time(t.time_ns[i]);
    row[c::kDevice] = t.device[i];
    row[c::kAddress] = t.address[i];
    row[c::kBytes] = static_cast<uint64_t>(t.bytes[i]);
    row[c::kTotalAllocated] = t.total_allocated[i];
    row[c::kTotalReserved] = t.total_reserved[i];
  });
}

void RowBlocks::Counters(const CounterTable& t) {
  namespace c = proto::counter_column;
  Rows(ChunkKind::kCounter, t.rows(), [&](size_t i, uint64_t* row) {
    row[c::kTime] = Time(t.time_ns[i]);
    row[c::kCounter] = t.counter[i];
    row[c::kValue] = static_cast<uint64_t>(t.value[i]);
  });
}

void RowBlocks::Ranges(const RangeTable& t) {
  namespace c = proto::range_column;
  Rows(ChunkKind::kRange, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kName] = t.name[i];
    row[c::kOperation] = t.operation[i];
    row[c::kDomain] = t.domain[i];
    row[c::kStyle] = t.style[i];
    row[c::kPayload] = t.payload[i];
    row[c::kBeginThread] = static_cast<uint64_t>(int64_t{t.begin_thread[i]});
  });
}

void RowBlocks::Launches(const LaunchTable& t) {
  namespace c = proto::launch_column;
  Rows(ChunkKind::kLaunch, t.rows(), [&](size_t i, uint64_t* row) {
    row[c::kTime] = Time(t.time_ns[i]);
    row[c::kCorrelation] = t.correlation[i];
    row[c::kFunction] = t.function[i];
    row[c::kStack] = t.stack[i];
  });
}

void RowBlocks::Kernels(const KernelTable& t) {
  namespace c = proto::kernel_column;
  Rows(ChunkKind::kKernel, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kSignature] = t.signature[i];
    row[c::kCorrelation] = t.correlation[i];
    row[c::kGraph] = t.graph[i];
    row[c::kGraphNode] = t.graph_node[i];
  });
}

void RowBlocks::Copies(const MemcpyTable& t) {
  Rows(ChunkKind::kMemcpy, t.rows(), [&](size_t i, uint64_t* row) {
    Work(t, i, row);
    row[proto::memcpy_column::kPeer] = t.peer[i];
  });
}

void RowBlocks::Sets(const MemsetTable& t) {
  Rows(ChunkKind::kMemset, t.rows(), [&](size_t i, uint64_t* row) {
    Work(t, i, row);
    row[proto::memset_column::kValue] = t.value[i];
  });
}

void RowBlocks::GraphLaunches(const GraphLaunchTable& t) {
  namespace c = proto::graph_launch_column;
  Rows(ChunkKind::kGraphLaunch, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kGraph] = t.graph[i];
    row[c::kCorrelation] = t.correlation[i];
  });
}

void RowBlocks::Calls(const ApiTable& t) {
  namespace c = proto::api_column;
  Rows(ChunkKind::kApi, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kFunction] = t.function[i];
    row[c::kCorrelation] = t.correlation[i];
    row[c::kResult] = t.result[i];
  });
}

void RowBlocks::HostWaits(const WaitTable& t) {
  namespace c = proto::wait_column;
  Rows(ChunkKind::kWait, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kOperation] = t.operation[i];
    row[c::kObject] = t.object[i];
    row[c::kCaller] = t.caller[i];
    row[c::kStack] = t.stack[i];
    row[c::kOwner] = static_cast<uint64_t>(t.owner[i]);
  });
}

void RowBlocks::Waits(const SyncTable& t) {
  namespace c = proto::sync_column;
  Rows(ChunkKind::kSync, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kOperation] = t.operation[i];
    row[c::kCorrelation] = t.correlation[i];
    row[c::kStream] = t.stream[i];
    row[c::kEvent] = t.event[i];
    row[c::kResult] = t.result[i];
    row[c::kEventRecord] = t.event_record[i];
  });
}

void RowBlocks::Overheads(const OverheadTable& t) {
  namespace c = proto::overhead_column;
  Rows(ChunkKind::kOverhead, t.rows(), [&](size_t i, uint64_t* row) {
    Span(t, i, row);
    row[c::kOperation] = t.operation[i];
    row[c::kCorrelation] = t.correlation[i];
    row[c::kBytes] = t.bytes[i];
  });
}

void RowBlocks::Events(const CudaEventTable& t) {
  namespace c = proto::cuda_event_column;
  Rows(ChunkKind::kCudaEvent, t.rows(), [&](size_t i, uint64_t* row) {
    row[c::kTime] = Time(t.time_ns[i]);
    row[c::kCorrelation] = t.correlation[i];
    row[c::kEvent] = t.event[i];
    row[c::kRecord] = t.record[i];
  });
}

// Rows without such a value have no row here.
void RowBlocks::Details(const Track& track) {
  namespace c = proto::row_detail_column;
  codec::ChunkBuilder builder(ChunkKind::kRowDetail, track_, 0);
  uint64_t row[proto::kWidestTable] = {};
  row[c::kTime] = Time(process_.first_ns);
  const Column<uint32_t> no_detail;
  const auto add = [&](ChunkKind kind, size_t rows, const Column<uint64_t>& external,
                       const Column<uint32_t>& detail) {
    row[c::kTable] = static_cast<uint64_t>(kind);
    for (size_t i = 0; i < rows; ++i) {
      row[c::kRow] = i;
      row[c::kExternal] = At(external, i);
      row[c::kDetail] = At(detail, i);
      if ((row[c::kExternal] | row[c::kDetail]) == 0) continue;
      builder.Append(row, row[c::kTime]);
      if (builder.count() == proto::kRowsPerChunk) Flush(kImportedCapture, &builder);
    }
  };
  const Track& t = track;
  add(ChunkKind::kTensor, t.row_detail.rows(), t.row_detail.external, t.row_detail.detail);
  add(ChunkKind::kOp, t.op.rows(), t.op.external, t.op.detail);
  add(ChunkKind::kKernel, t.kernel.rows(), t.kernel.external, t.kernel.detail);
  add(ChunkKind::kMemcpy, t.memcpy.rows(), t.memcpy.external, no_detail);
  add(ChunkKind::kMemset, t.memset.rows(), t.memset.external, no_detail);
  add(ChunkKind::kApi, t.api.rows(), t.api.external, no_detail);
  Flush(kImportedCapture, &builder);
}

std::string RowBlocks::Write(const Track& track) {
  if (const std::string table = OtherRows(track); !table.empty())
    return "it has " + table + " rows, which no importer makes";
  if (!AllStandForOne(track)) return "it has rows that stand for several events";
  track_ = track.id;
  HostWaits(track.wait);
  Ops(track.op);
  Python(track.python);
  Tensors(track.tensor);
  Counters(track.counter);
  Ranges(track.range);
  Launches(track.launch);
  Kernels(track.kernel);
  Copies(track.memcpy);
  Sets(track.memset);
  GraphLaunches(track.graph_launch);
  Calls(track.api);
  Waits(track.sync);
  Overheads(track.overhead);
  Events(track.cuda_event);
  Details(track);
  if (is_time_far_) return "it has times that lie decades apart";
  return "";
}

}  // namespace gpuprof::analysis
