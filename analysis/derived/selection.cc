// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See selection.h.

#include "analysis/derived/selection.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "analysis/derived/call_index.h"
#include "analysis/model/table_columns.h"
#include "analysis/model/table_extents.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kPickedAtOnce = 1024;

constexpr bool IsLaunchedWork(proto::ChunkKind kind) {
  using proto::ChunkKind;
  return kind == ChunkKind::kKernel || kind == ChunkKind::kMemcpy || kind == ChunkKind::kMemset ||
         kind == ChunkKind::kGraphLaunch;
}

// The calls of a process, and the range of the ids of those that begin in a window.
struct WindowCalls {
  const CallIndex* all = nullptr;
  uint32_t first_id = std::numeric_limits<uint32_t>::max(), last_id = 0;

  // Returns whether the call may begin in the window.
  bool MayHave(uint32_t id) const { return id >= first_id && id <= last_id; }
};

// Returns the zone in which spans begin.
Column<int64_t>::Zone BeginsOfSpans(RowRun rows, const Column<int64_t>& ends,
                                    const Column<int64_t>& durations) {
  constexpr int64_t kEver = std::numeric_limits<int64_t>::min();
  Column<int64_t>::Zone begins = ends.ZoneOf(rows);
  const Column<int64_t>::Zone lengths = durations.ZoneOf(rows);
  const bool is_known = lengths.least >= 0 && begins.least >= kEver + lengths.most;
  begins.least = is_known ? begins.least - lengths.most : kEver;
  if (is_known) begins.most -= lengths.least;
  return begins;
}

// Keeps the rows of one table that begin in the window.
class RowPicker {
 public:
  // `calls`: null if work counts when it began itself.
  RowPicker(TimeWindow window, const WindowCalls* calls) : window_(window), calls_(calls) {}

  const std::vector<RowRun>& kept() const { return kept_; }
  bool keeps_all() const { return kept_rows_ == rows_; }

  // Segments that lie in the window or outside of it are not looked at row by row.
  template <proto::ChunkKind kKind, typename Second, typename... Columns>
  void Rows(Column<int64_t>& times, Second& second, Columns&... others) {
    rows_ = times.size();
    kept_.clear();
    kept_rows_ = 0;
    RowRun rows;
    for (size_t row = 0; row < rows_; row = rows.end) {
      rows = times.RunFrom(row);
      const Column<int64_t>::Zone begins = BeginsOf<kKind>(rows, times, second);
      const bool is_moved = IsLaunchedWork(kKind) && calls_ != nullptr;
      const bool is_outside = begins.most < window_.start_ns || begins.least >= window_.end_ns;
      if (is_outside && !(is_moved && MayMove<kKind>(rows, others...))) continue;
      if (!is_moved && IsIn(begins.least) && IsIn(begins.most)) {
        Add(rows);
      } else {
        LookAt<kKind>(rows, times, second, others...);
      }
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
    if (!keeps_all() && !column->empty()) *column = column->Pick(kept_);
  }

 private:
  bool IsIn(int64_t time_ns) const {
    return time_ns >= window_.start_ns && time_ns < window_.end_ns;
  }

  void Add(RowRun rows) {
    kept_rows_ += rows.size();
    if (!kept_.empty() && kept_.back().end == rows.first) {
      kept_.back().end = rows.end;
    } else {
      kept_.push_back(rows);
    }
  }

  template <proto::ChunkKind kKind, typename Second>
  static Column<int64_t>::Zone BeginsOf(RowRun rows, const Column<int64_t>& times,
                                        const Second& second) {
    if constexpr (proto::FindTable(kKind)->column[1].type == proto::ColumnType::kDuration) {
      return BeginsOfSpans(rows, times, second);
    } else {
      return times.ZoneOf(rows);
    }
  }

  template <proto::ChunkKind kKind, typename Second, typename... Columns>
  void LookAt(RowRun rows, const Column<int64_t>& times, const Second& second,
              const Columns&... others) {
    int64_t begins[kPickedAtOnce];
    for (size_t first = rows.first; first < rows.end; first += kPickedAtOnce) {
      const size_t count = std::min(kPickedAtOnce, rows.end - first);
      times.Copy(first, count, begins);
      if constexpr (proto::FindTable(kKind)->column[1].type == proto::ColumnType::kDuration) {
        int64_t durations[kPickedAtOnce];
        second.Copy(first, count, durations);
        for (size_t i = 0; i < count; ++i) begins[i] -= durations[i];
      }
      if constexpr (IsLaunchedWork(kKind)) MoveToLaunches<kKind>(first, count, begins, others...);
      for (size_t i = 0; i < count; ++i)
        if (IsIn(begins[i])) Add({first + i, first + i + 1});
    }
  }

  // Calls visit(ids) with the column of the launches' ids.
  template <proto::ChunkKind kKind, typename Visit, typename... Columns>
  static void WithIds(const Visit& visit, const Columns&... columns) {
    constexpr const proto::TableSpec* kTable = proto::FindTable(kKind);
    int place = 2;
    const auto look = [&](const auto& column) {
      const bool is_it = kTable->column[place++].type == proto::ColumnType::kCorrelation;
      if constexpr (std::is_same_v<std::decay_t<decltype(column[0])>, uint32_t>)
        if (is_it) visit(column);
    };
    (look(columns), ...);
  }

  // Returns whether calls in the window may have launched some of the rows.
  template <proto::ChunkKind kKind, typename... Columns>
  bool MayMove(RowRun rows, const Columns&... columns) const {
    bool may_move = false;
    WithIds<kKind>(
        [&](const Column<uint32_t>& ids) {
          const Column<uint32_t>::Zone zone = ids.ZoneOf(rows);
          may_move = zone.least <= calls_->last_id && zone.most >= calls_->first_id;
        },
        columns...);
    return may_move;
  }

  // Replaces the begin of work by that of its call, where this may change whether the row counts.
  template <proto::ChunkKind kKind, typename... Columns>
  void MoveToLaunches(size_t first, size_t count, int64_t* begins,
                      const Columns&... columns) const {
    if (calls_ == nullptr) return;
    uint32_t ids[kPickedAtOnce] = {};
    WithIds<kKind>([&](const Column<uint32_t>& column) { column.Copy(first, count, ids); },
                   columns...);
    for (size_t i = 0; i < count; ++i) {
      if (ids[i] == 0 || (!calls_->MayHave(ids[i]) && !IsIn(begins[i]))) continue;
      if (const std::optional<Call> call = calls_->all->Find(ids[i])) begins[i] = call->start_ns;
    }
  }

  TimeWindow window_;
  const WindowCalls* calls_;
  size_t rows_ = 0, kept_rows_ = 0;
  std::vector<RowRun> kept_;  // ascending
};

// Rows of Python functions name their callers by row.
void RenumberCallers(const std::vector<RowRun>& kept, PythonTable* table) {
  std::vector<size_t> begins;  // of the runs, in the numbers of kept rows
  size_t rows = 0;
  for (const RowRun& run : kept) {
    begins.push_back(rows);
    rows += run.size();
  }
  table->parent.Rewrite([&](size_t, uint32_t caller) {
    const auto found =
        std::upper_bound(kept.begin(), kept.end(), caller,
                         [](size_t row, const RowRun& run) { return row < run.end; });
    if (found == kept.end() || caller < found->first) return PythonTable::kNoRow;
    return static_cast<uint32_t>(begins[static_cast<size_t>(found - kept.begin())] + caller -
                                 found->first);
  });
}

void KeepRareColumns(proto::ChunkKind kind, const RowPicker& picker, Track* track) {
  VisitRareColumns(track, kind, [&](auto& column) { picker.Keep(&column); });
  if (kind == proto::ChunkKind::kPython && !picker.keeps_all())
    RenumberCallers(picker.kept(), &track->python);
}

// Cuts samples to the window: one stands for all of its span, which may be long. So figures of
// windows that touch add up here, too.
void CutSamples(TimeWindow window, SampleTable* table) {
  SampleTable kept;
  const Column<int64_t>::Reader ends(table->end_ns), durations(table->duration_ns);
  for (size_t row = 0; row < table->rows(); ++row) {
    const int64_t start_ns = ends[row] - std::max<int64_t>(durations[row], 0);
    const int64_t from_ns = std::max(start_ns, window.start_ns);
    const int64_t until_ns = std::min(ends[row], window.end_ns);
    if (from_ns > until_ns || (from_ns == until_ns && start_ns != from_ns) ||
        from_ns >= window.end_ns)
      continue;
    kept.end_ns.push_back(until_ns);
    kept.duration_ns.push_back(until_ns - from_ns);
    kept.thread.push_back(table->thread[row]);
    kept.state.push_back(table->state[row]);
    kept.stack.push_back(table->stack[row]);
    kept.holder.push_back(table->holder[row]);
  }
  *table = std::move(kept);
}

void NarrowTrack(TimeWindow window, const WindowCalls* calls, Track* track) {
  std::vector<TableExtent> extents;
  for (const proto::TableSpec& table : proto::kTables) {
    if (RowsOf(*track, table.kind) == 0) continue;
    if (table.kind == proto::ChunkKind::kSample) {
      CutSamples(window, &track->sample);
      if (track->sample.rows() != 0) extents.push_back(ExtentOf(*track, table.kind));
      continue;
    }
    RowPicker picker(window, calls);
    VisitTable(track, table.kind, &picker);
    KeepRareColumns(table.kind, picker, track);
    if (!HasEvents(table.kind)) continue;
    const TableExtent* const all = track->Extent(table.kind);
    if (picker.keeps_all() && all != nullptr && all->rows == RowsOf(*track, table.kind)) {
      extents.push_back(*all);
    } else if (const TableExtent extent = ExtentOf(*track, table.kind); extent.rows != 0) {
      extents.push_back(extent);
    }
  }
  track->extents = std::move(extents);
}

void NoteCalls(const Process& process, TimeWindow window, WindowCalls* calls) {
  for (const Track& track : process.tracks) {
    const ApiTable& api = track.api;
    const Column<int64_t>::Reader ends(api.end_ns), durations(api.duration_ns);
    RowRun rows;
    for (size_t begin = 0; begin < api.end_ns.size(); begin = rows.end) {
      rows = api.end_ns.RunFrom(begin);
      const Column<int64_t>::Zone begins = BeginsOfSpans(rows, api.end_ns, api.duration_ns);
      if (begins.most < window.start_ns || begins.least >= window.end_ns) continue;
      for (size_t row = rows.first; row < rows.end; ++row) {
        const int64_t start_ns = ends[row] - durations[row];
        if (start_ns < window.start_ns || start_ns >= window.end_ns) continue;
        const uint32_t id = api.correlation[row];
        calls->first_id = std::min(calls->first_id, id);
        calls->last_id = std::max(calls->last_id, id);
      }
    }
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

void Narrow(const Selection& selection, const CallIndex* all_calls, const Process& whole,
            Process* process) {
  WindowCalls in_window;
  std::optional<CallIndex> own_calls;
  if (selection.by_launch && selection.window) {
    in_window.all = all_calls != nullptr ? all_calls : &own_calls.emplace(whole);
    NoteCalls(whole, *selection.window, &in_window);
  }
  const WindowCalls* const calls = in_window.all == nullptr ? nullptr : &in_window;
  process->rows = 0;
  for (Track& track : process->tracks) {
    const bool is_left_out = track.is_stream && !selection.devices.empty() &&
                             std::find(selection.devices.begin(), selection.devices.end(),
                                       track.device) == selection.devices.end();
    if (is_left_out) {
      DropTables(TableSet(), &track);
      FillExtents(&track);
    }
    if (selection.window) NarrowTrack(*selection.window, calls, &track);
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

std::shared_ptr<const Trace> Select(const Trace& trace, const Selection& selection,
                                    const CallsOf& calls_of) {
  auto part = std::make_shared<Trace>(trace);
  for (size_t i = 0; i < part->processes.size(); ++i) {
    const CallIndex* calls = calls_of && selection.by_launch ? &calls_of(i) : nullptr;
    Narrow(selection, calls, trace.processes[i], &part->processes[i]);
  }
  for (size_t i = 0; i < part->samplers.size(); ++i)
    Narrow(selection, nullptr, trace.samplers[i], &part->samplers[i]);
  return part;
}

}  // namespace gpuprof::analysis
