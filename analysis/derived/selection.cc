// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See selection.h.

#include "analysis/derived/selection.h"

#include <algorithm>
#include <limits>

#include "analysis/derived/call_index.h"
#include "analysis/model/table_columns.h"
#include "analysis/model/table_extents.h"

namespace gpuprof::analysis {
namespace {

// Keeps the rows of one table that begin in the window.
class RowPicker {
 public:
  RowPicker(TimeWindow window, const CallIndex* calls) : window_(window), calls_(calls) {}

  const std::vector<uint32_t>& kept() const { return kept_; }
  bool keeps_all() const { return kept_.size() == rows_; }

  template <proto::ChunkKind kKind, typename Second, typename... Columns>
  void Rows(Column<int64_t>& times, Second& second, Columns&... others) {
    rows_ = times.size();
    kept_.clear();
    constexpr const proto::TableSpec* kTable = proto::FindTable(kKind);
    for (uint32_t row = 0; row < rows_; ++row) {
      int64_t begin = times[row];
      if constexpr (kTable->column[1].type == proto::ColumnType::kDuration) begin -= second[row];
      if constexpr (kKind == proto::ChunkKind::kKernel || kKind == proto::ChunkKind::kMemcpy ||
                    kKind == proto::ChunkKind::kMemset || kKind == proto::ChunkKind::kGraphLaunch) {
        begin = BeginOfWork(begin, CorrelationOf<kKind>(row, others...));
      }
      if (begin >= window_.start_ns && begin < window_.end_ns) kept_.push_back(row);
    }
    Keep(&times);
    Keep(&second);
    (Keep(&others), ...);
  }
  void Capture(Column<uint16_t>& column) const { Keep(&column); }
  void Weight(Column<uint32_t>& column) const { Keep(&column); }

  // Also for columns that VisitTable() does not know. They may be empty.
  template <typename T>
  void Keep(Column<T>* column) const {
    if (!keeps_all() && !column->empty()) column->Reorder(kept_);
  }

 private:
  // Returns the value of the table's column of correlations.
  template <proto::ChunkKind kKind, typename... Columns>
  static uint32_t CorrelationOf(size_t row, const Columns&... columns) {
    constexpr const proto::TableSpec* kTable = proto::FindTable(kKind);
    uint32_t correlation = 0;
    int place = 2;
    const auto look = [&](const auto& column) {
      if (kTable->column[place++].type == proto::ColumnType::kCorrelation)
        correlation = static_cast<uint32_t>(column[row]);
    };
    (look(columns), ...);
    return correlation;
  }

  int64_t BeginOfWork(int64_t begin, uint32_t correlation) const {
    if (calls_ == nullptr || correlation == 0) return begin;
    const std::optional<Call> call = calls_->Find(correlation);
    return call ? call->start_ns : begin;
  }

  TimeWindow window_;
  const CallIndex* calls_;
  size_t rows_ = 0;
  std::vector<uint32_t> kept_;  // ascending
};

// Rows of Python functions name their callers by row.
void RenumberCallers(const std::vector<uint32_t>& kept, PythonTable* table) {
  table->parent.Rewrite([&](size_t, uint32_t caller) {
    const auto found = std::lower_bound(kept.begin(), kept.end(), caller);
    if (found == kept.end() || *found != caller) return PythonTable::kNoRow;
    return static_cast<uint32_t>(found - kept.begin());
  });
}

void KeepRareColumns(proto::ChunkKind kind, const RowPicker& picker, Track* track) {
  switch (kind) {
    case proto::ChunkKind::kOp:
      picker.Keep(&track->op.external);
      picker.Keep(&track->op.detail);
      return picker.Keep(&track->op.sequence);
    case proto::ChunkKind::kKernel:
      picker.Keep(&track->kernel.external);
      return picker.Keep(&track->kernel.detail);
    case proto::ChunkKind::kMemcpy:
      return picker.Keep(&track->memcpy.external);
    case proto::ChunkKind::kMemset:
      return picker.Keep(&track->memset.external);
    case proto::ChunkKind::kApi:
      return picker.Keep(&track->api.external);
    case proto::ChunkKind::kPython:
      if (!picker.keeps_all()) RenumberCallers(picker.kept(), &track->python);
      return;
    default:
      return;
  }
}

void NarrowTrack(TimeWindow window, const CallIndex* calls, Track* track) {
  for (const proto::TableSpec& table : proto::kTables) {
    RowPicker picker(window, calls);
    VisitTable(track, table.kind, &picker);
    KeepRareColumns(table.kind, picker, track);
  }
}

// Returns the end of the last work of devices. Without any: the smallest time.
int64_t EndOfWork(const Process& process) {
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const Track& track : process.tracks) {
    if (!track.is_stream) continue;
    for (const TableExtent& extent : track.extents)
      if (extent.rows != 0 && proto::IsSummedWork(extent.kind)) end = std::max(end, extent.last_ns);
  }
  return end;
}

void NarrowCaptures(TimeWindow window, Process* process) {
  std::vector<CaptureWindow> kept;
  for (CaptureWindow capture : process->captures) {
    capture.start_ns = std::max(capture.start_ns, window.start_ns);
    capture.end_ns = std::min(capture.end_ns, window.end_ns);
    if (capture.start_ns < capture.end_ns) kept.push_back(capture);
  }
  process->captures = std::move(kept);
}

void Narrow(const Selection& selection, const Process& whole, Process* process) {
  std::unique_ptr<CallIndex> calls;
  if (selection.by_launch) calls = std::make_unique<CallIndex>(whole);
  process->rows = 0;
  for (Track& track : process->tracks) {
    const bool is_left_out = track.is_stream && !selection.devices.empty() &&
                             std::find(selection.devices.begin(), selection.devices.end(),
                                       track.device) == selection.devices.end();
    if (is_left_out) DropTables(TableSet(), &track);
    if (selection.window) NarrowTrack(*selection.window, calls.get(), &track);
    FillExtents(&track);
    for (const TableExtent& extent : track.extents) process->rows += extent.rows;
  }
  if (!selection.window) return;
  TimeWindow window = *selection.window;
  // Devices do later what was launched in the window.
  if (selection.by_launch) window.end_ns = std::max(window.end_ns, EndOfWork(*process));
  process->first_ns = std::max(process->first_ns, window.start_ns);
  process->last_ns = std::max(process->first_ns, std::min(process->last_ns, window.end_ns));
  NarrowCaptures(window, process);
}

}  // namespace

std::shared_ptr<const Trace> Select(const Trace& trace, const Selection& selection) {
  auto part = std::make_shared<Trace>(trace);
  for (size_t i = 0; i < part->processes.size(); ++i)
    Narrow(selection, trace.processes[i], &part->processes[i]);
  for (size_t i = 0; i < part->samplers.size(); ++i)
    Narrow(selection, trace.samplers[i], &part->samplers[i]);
  return part;
}

}  // namespace gpuprof::analysis
