// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What caused an event, and what it caused. Operations and calls of work are those that passes name
// (derived/origin.h). What else ran around a moment is found by time on the same thread.

#include <algorithm>
#include <unordered_set>

#include "analysis/derived/device_work.h"
#include "analysis/timeline/parts.h"

namespace gpuprof::analysis::timeline {
namespace {

using proto::ChunkKind;

constexpr size_t kMostEffects = 40;
// Calls and operations that are looked through for the work of one event.
constexpr size_t kMostLookedAt = 400;

// Returns a moment as whole nanoseconds. Damaged files have times that do not fit.
int64_t NanosecondsOf(double time) {
  constexpr double kMost = 9e18;
  return static_cast<int64_t>(std::clamp(time, -kMost, kMost));
}

// The row of a table that a row of the timeline is.
struct TableRow {
  const RowTable* table = nullptr;
  uint32_t row = 0;
};

TableRow TableRowOf(const SpanTrack& spans, uint32_t row) {
  for (const RowTable& table : spans.tables()) {
    if (row - table.first_row < table.rows) return {&table, row - table.first_row};
  }
  return {};
}

template <typename Table>
DeviceWork WorkOf(DeviceWorkKind kind, const Table& table, uint32_t row) {
  const int64_t end = table.end_ns[row];
  return {kind,
          row,
          {end, end},
          table.correlation[row],
          1,
          ExternalOf(table, row),
          IsInGraph(table, row),
          GraphNodeOf(table, row)};
}

// Returns a row as work of a device. None: it is none.
std::optional<DeviceWork> WorkOf(const Track& track, ChunkKind kind, uint32_t row) {
  switch (kind) {
    case ChunkKind::kKernel:
      return WorkOf(DeviceWorkKind::kKernel, track.kernel, row);
    case ChunkKind::kMemcpy:
      return WorkOf(DeviceWorkKind::kCopy, track.memcpy, row);
    case ChunkKind::kMemset:
      return WorkOf(DeviceWorkKind::kSet, track.memset, row);
    case ChunkKind::kGraphLaunch:
      return WorkOf(DeviceWorkKind::kGraph, track.graph_launch, row);
    default:
      return std::nullopt;
  }
}

class Causes {
 public:
  Causes(Timeline::Parts* parts, uint32_t process) : parts_(parts), process_(process) {}

  void OfWork(const DeviceWork& work) {
    const WorkOrigin origin = parts_->derived[process_].origins().Of(work);
    if (origin.call) Add(origin.call->track, ChunkKind::kApi, origin.call->row);
    if (origin.op) Add(origin.op->track, ChunkKind::kOp, origin.op->row);
    if (origin.owner && origin.owner != origin.op)
      Add(origin.owner->track, ChunkKind::kOp, origin.owner->row);
    if (origin.call) Around(origin.call->track, static_cast<double>(origin.call->start_ns));
  }
  // `correlation`: of a wait or of a function on the host.
  void OfCall(uint32_t correlation) {
    const std::optional<Call> call = parts_->derived[process_].calls().Find(correlation);
    if (!call) return;
    Add(call->track, ChunkKind::kApi, call->row);
    OfCallRow(*call);
  }
  void OfCallRow(const Call& call) {
    Origin& origins = parts_->derived[process_].origins();
    const ApiTable& calls = parts_->processes[process_]->tracks[call.track].api;
    std::optional<OpRef> op = origins.Find(0, ExternalOf(calls, call.row));
    if (!op) op = origins.Innermost(call.track, call.start_ns);
    if (op) Add(op->track, ChunkKind::kOp, op->row);
    Around(call.track, static_cast<double>(call.start_ns));
  }
  // Adds the innermost range and Python function around a moment of a thread. `from`: of which kind
  // on.
  void Around(uint32_t track, double time, TrackKind from = TrackKind::kRange) {
    if (from <= TrackKind::kApi) AddInnermost(track, ChunkKind::kApi, time);
    if (from <= TrackKind::kOp) {
      const auto op = parts_->derived[process_].origins().Innermost(track, NanosecondsOf(time));
      if (op) Add(op->track, ChunkKind::kOp, op->row);
    }
    if (from == TrackKind::kPython) return AddInnermost(track, ChunkKind::kPython, time);
    AddInnermost(track, ChunkKind::kRange, time);
    AddInnermost(track, ChunkKind::kPython, time);
  }
  std::vector<EventRef> Take() { return std::move(found_); }

 private:
  void Add(uint32_t track, ChunkKind kind, uint32_t row) {
    const std::optional<RowPlace> place = parts_->PlaceOf(process_, track, kind, row);
    if (!place) return;
    const std::optional<Span> span = parts_->tracks[place->track].spans->Row(place->row);
    if (span) found_.push_back(parts_->RefOf(place->track, *span));
  }
  void AddInnermost(uint32_t track, ChunkKind kind, double time) {
    const std::optional<RowPlace> place = parts_->PlaceOf(process_, track, kind, 0);
    if (!place) return;
    const std::vector<Span> spans = parts_->SpansOf(place->track)->Around(time);
    if (!spans.empty()) found_.push_back(parts_->RefOf(place->track, spans.back()));
  }

  Timeline::Parts* parts_;
  uint32_t process_;
  std::vector<EventRef> found_;
};

// What work must have to be an effect.
struct Wanted {
  std::unordered_set<uint32_t> correlations;
  std::unordered_set<uint64_t> externals;
  // The operation and those in it. Empty: the event is not of an operation.
  std::unordered_set<uint32_t> ops;
  uint32_t op_track = 0;
};

class Effects {
 public:
  Effects(Timeline::Parts* parts, uint32_t process, const Wanted& wanted)
      : parts_(parts), process_(process), wanted_(&wanted) {
    for (const uint32_t id : wanted.correlations) {
      least_ = std::min(least_, id);
      most_ = std::max(most_, id);
    }
  }

  std::vector<EventRef> Find() {
    const Process& process = *parts_->processes[process_];
    for (uint32_t track = 0; track < process.tracks.size(); ++track) {
      FindIn(track, ChunkKind::kKernel, process.tracks[track].kernel);
      FindIn(track, ChunkKind::kMemcpy, process.tracks[track].memcpy);
      FindIn(track, ChunkKind::kMemset, process.tracks[track].memset);
      FindIn(track, ChunkKind::kGraphLaunch, process.tracks[track].graph_launch);
    }
    const auto is_before = [](const EventRef& x, const EventRef& y) {
      return x.start_ns < y.start_ns;
    };
    std::stable_sort(found_.begin(), found_.end(), is_before);
    if (found_.size() > kMostEffects) found_.resize(kMostEffects);
    return std::move(found_);
  }

 private:
  // Ids mostly rise: most segments have none of those that are looked for.
  template <typename Table>
  void FindIn(uint32_t track, ChunkKind kind, const Table& table) {
    bool has_externals = false;
    if constexpr (requires { table.external; })
      has_externals = !wanted_->externals.empty() && !table.external.empty();
    for (const ColumnSegment& segment : table.correlation.segments()) {
      const uint64_t last = segment.base + segment.mask;
      if (!has_externals && (last < least_ || segment.base > most_)) continue;
      for (size_t row = segment.first; row < segment.end; ++row) {
        const auto id = static_cast<uint32_t>(segment.Load(row));
        const bool is_wanted =
            (id != 0 && id >= least_ && id <= most_ && wanted_->correlations.count(id) != 0) ||
            (has_externals && wanted_->externals.count(ExternalOf(table, row)) != 0);
        if (is_wanted && IsEffect(id, ExternalOf(table, row)))
          Add(track, kind, static_cast<uint32_t>(row));
        if (found_.size() >= kMostFound) return;
      }
    }
  }
  bool IsEffect(uint32_t correlation, uint64_t external) {
    if (wanted_->ops.empty()) return true;
    const std::optional<OpRef> op = parts_->derived[process_].origins().Find(correlation, external);
    return op && op->track == wanted_->op_track && wanted_->ops.count(op->row) != 0;
  }
  void Add(uint32_t track, ChunkKind kind, uint32_t row) {
    const std::optional<RowPlace> place = parts_->PlaceOf(process_, track, kind, row);
    if (!place) return;
    const std::optional<Span> span = parts_->tracks[place->track].spans->Row(place->row);
    if (span) found_.push_back(parts_->RefOf(place->track, *span));
  }

  static constexpr size_t kMostFound = 4096;  // then the first of these are told

  Timeline::Parts* parts_;
  uint32_t process_;
  const Wanted* wanted_;
  uint32_t least_ = UINT32_MAX, most_ = 0;
  std::vector<EventRef> found_;
};

// Takes the calls of a thread that begin in a span.
void WantCallsIn(Timeline::Parts* parts, uint32_t process, uint32_t track, const Span& span,
                 Wanted* wanted) {
  const std::optional<RowPlace> place = parts->PlaceOf(process, track, ChunkKind::kApi, 0);
  if (!place) return;
  const ApiTable& calls = parts->processes[process]->tracks[track].api;
  size_t looked_at = 0;
  parts->SpansOf(place->track)->Each(span.start, span.end, [&](const Span& call) {
    const uint32_t id = calls.correlation[call.row - place->row];
    if (id != 0) wanted->correlations.insert(id);
    return ++looked_at < kMostLookedAt;
  });
}

// Takes the operation and those in it, and the calls and work that name them.
void WantOps(Timeline::Parts* parts, uint32_t process, const RowPlace& first, uint32_t track,
             const Span& span, Wanted* wanted) {
  const OpTable& ops = parts->processes[process]->tracks[track].op;
  const OpTree& tree = parts->derived[process].ops().tree(track);
  const uint32_t own = span.row - first.row;
  const auto want = [&](uint32_t row) {
    wanted->ops.insert(row);
    if (const uint64_t external = ExternalOf(ops, row); external != 0)
      wanted->externals.insert(external);
  };
  wanted->op_track = track;
  want(own);
  size_t looked_at = 0;
  parts->SpansOf(first.track)->Each(span.start, span.end, [&](const Span& inner) {
    uint32_t row = inner.row - first.row;
    const uint32_t found = row;
    while (row != own && row != OpTree::kNone) row = tree.parent(row);
    if (row == own) want(found);
    return ++looked_at < kMostLookedAt;
  });
  if (wanted->externals.empty()) return;
  for (const Track& each : parts->processes[process]->tracks) {
    const Column<uint64_t>::Reader externals(each.api.external);
    for (size_t row = 0; row < each.api.external.size(); ++row) {
      if (wanted->externals.count(externals[row]) != 0 && each.api.correlation[row] != 0)
        wanted->correlations.insert(each.api.correlation[row]);
    }
  }
}

}  // namespace

std::vector<EventRef> CausesOf(Timeline::Parts* parts, uint32_t track, const Span& span) {
  const TrackInfo& info = parts->info.tracks[track];
  if (info.kind == TrackKind::kSteps) return {};
  const TableRow place = TableRowOf(*parts->tracks[track].spans, span.row);
  if (place.table == nullptr) return {};
  const uint32_t number = place.table->track;
  const Track& of = parts->processes[info.process]->tracks[number];
  Causes causes(parts, info.process);
  if (const auto work = WorkOf(of, place.table->kind, place.row)) {
    causes.OfWork(*work);
  } else if (place.table->kind == ChunkKind::kSync) {
    causes.OfCall(of.sync.correlation[place.row]);
  } else if (place.table->kind == ChunkKind::kHostFunction) {
    causes.OfCall(of.host_function.correlation[place.row]);
  } else if (place.table->kind == ChunkKind::kApi) {
    causes.OfCallRow({NanosecondsOf(span.start), NanosecondsOf(span.end), number, place.row});
  } else if (place.table->kind == ChunkKind::kOp) {
    causes.Around(number, span.start);
  } else if (place.table->kind == ChunkKind::kRange || place.table->kind == ChunkKind::kGcPause) {
    causes.Around(number, span.start, TrackKind::kPython);
  } else if (place.table->kind != ChunkKind::kPython) {
    causes.Around(number, span.start, TrackKind::kApi);
  }
  return causes.Take();
}

std::vector<EventRef> EffectsOf(Timeline::Parts* parts, uint32_t track, const Span& span) {
  const TrackInfo& info = parts->info.tracks[track];
  if (info.kind != TrackKind::kApi && info.kind != TrackKind::kOp &&
      info.kind != TrackKind::kRange && info.kind != TrackKind::kPython)
    return {};
  const TableRow place = TableRowOf(*parts->tracks[track].spans, span.row);
  if (place.table == nullptr) return {};
  const uint32_t number = place.table->track;
  Wanted wanted;
  if (info.kind == TrackKind::kApi) {
    const uint32_t id = parts->processes[info.process]->tracks[number].api.correlation[place.row];
    if (id != 0) wanted.correlations.insert(id);
  } else {
    WantCallsIn(parts, info.process, number, span, &wanted);
    if (info.kind == TrackKind::kOp)
      WantOps(parts, info.process, {track, place.table->first_row}, number, span, &wanted);
  }
  if (wanted.correlations.empty() && wanted.externals.empty()) return {};
  return Effects(parts, info.process, wanted).Find();
}

}  // namespace gpuprof::analysis::timeline
