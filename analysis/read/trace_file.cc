// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trace_file.h. The contents of tables are read in trace_tables.cc.

#include "analysis/read/trace_file.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "analysis/model/names.h"
#include "analysis/read/cupti_clock.h"
#include "proto/codec/pb_reader.h"
#include "proto/contract.h"

namespace gpuprof::analysis {
namespace {

// Each costs about a kilobyte in memory; a program that made more threads under capture is beyond
// what a page could show.
constexpr size_t kMostTracks = 256 * 1024;

bool IsEventKind(uint16_t kind) {
  return proto::FindTable(static_cast<proto::ChunkKind>(kind)) != nullptr;
}
}  // namespace

Track* TraceFile::TrackOf(uint32_t id, int32_t tid) {
  const auto key = std::make_pair(id, id == 0 ? tid : 0);
  const auto found = track_index_.find(key);
  if (found != track_index_.end()) return &process().tracks[found->second];
  if (process().tracks.size() >= kMostTracks) {
    if (!told_too_many_threads_)
      AddFault(0, "more than " + std::to_string(kMostTracks) + " threads: the rest is left out");
    told_too_many_threads_ = true;
    return nullptr;
  }
  const uint32_t timeline = builder_.AddTimeline();
  track_index_[key] = timeline;
  Track& track = process().tracks[timeline];
  track.id = id;
  track.tid = tid;
  return &track;
}

void TraceFile::LoadTables(bool is_alive) {
  process().file = name_;
  process().alive = is_alive;
  if (const Error error = input_.Open(path_)) {
    AddFault(0, CauseOf(error, path_.path));
    is_unreadable_ = true;
    return;
  }
  process().file_bytes = input_.bytes();
  BlockReader reader;
  input_.Show(&reader.view);
  const bool is_trace = codec::ScanByIndex(&reader.view.bytes, &scan_);
  if (const int error = reader.view.bytes.error()) AddFault(0, codec::ReadErrorText(error));
  for (const codec::Fault& fault : scan_.faults) {
    // The last block of a process that is writing right now may be half there.
    if (is_alive && is_trace && fault.offset >= scan_.readable_bytes) continue;
    AddFault(fault.offset, fault.what);
  }
  if (!is_trace) {
    is_unreadable_ = true;
    return;
  }
  process().pid = scan_.header.pid;
  process().start_id = scan_.header.start_id;
  SumHeaders();
  for (const codec::BlockRef& block : scan_.blocks) {
    // Sums of work are read where they are used (work_sums.h).
    const bool is_sums =
        static_cast<proto::ChunkKind>(block.header.kind) == proto::ChunkKind::kWorkSums;
    if (proto::IsTableKind(block.header.kind) && !is_sums) ReadTable(block, &reader);
  }
  // The records are gone with the ring file: nothing but recovery's word tells of them.
  if (process().health.damaged_rings() != 0) {
    AddFault(0, DamagedRingsText(process().health.damaged_rings()));
  }
  JoinSightings();
  FindQuantum(&reader);
  FindGpuTick(&reader);
  TakeMeta();
  BuildClock();
  if (is_imported()) TakeImported();
}

// A number of a block's chunk, what it is where the chunk does not have it, and nothing where the
// block cannot be read.
std::optional<uint64_t> TraceFile::ScalarOf(BlockReader* reader, const codec::BlockRef& block,
                                            int number) {
  const uint8_t* message = nullptr;
  uint64_t bytes = 0;
  codec::Fault fault;
  if (!reader->Decompress(block, &message, &bytes, &fault)) return std::nullopt;
  codec::PbField field;
  codec::PbReader outer(message, bytes);
  if (!outer.Next(&field) || field.number != proto::Trace::kChunkFieldNumber ||
      field.wire_type != 2)
    return std::nullopt;
  codec::PbReader chunk(field.data, field.bytes);
  uint64_t value = 0;
  while (chunk.Next(&field)) {
    if (field.number == number && field.wire_type == 0) value = field.value;
  }
  return value;
}

// All chunks of a file share their time shift; the first readable one tells it.
void TraceFile::FindQuantum(BlockReader* reader) {
  constexpr uint64_t kMostShift = 32;
  for (const codec::BlockRef& block : scan_.blocks) {
    if (!IsEventKind(block.header.kind)) continue;
    if (proto::HasCuptiClock(static_cast<proto::ChunkKind>(block.header.kind))) continue;
    if (!IsThere(block)) continue;
    const auto shift = ScalarOf(reader, block, proto::Chunk::kTimeShiftFieldNumber);
    if (!shift) continue;
    time_mask_ = (uint64_t{1} << std::min(*shift, kMostShift)) - 1;
    return;
  }
}

// The writer finds the tick of each chunk by itself: one of few rows may look coarser than it is.
void TraceFile::FindGpuTick(BlockReader* reader) {
  constexpr int kMostBlocks = 16;
  int looked_at = 0;
  for (const codec::BlockRef& block : scan_.blocks) {
    if (static_cast<proto::ChunkKind>(block.header.kind) != proto::ChunkKind::kKernel) continue;
    if (!IsThere(block)) continue;
    const auto tick = ScalarOf(reader, block, proto::Chunk::kTickFieldNumber);
    if (!tick) continue;
    process().gpu_tick_ns = std::gcd(process().gpu_tick_ns, std::max<uint64_t>(*tick, 1));
    if (++looked_at == kMostBlocks) return;
  }
}

void TraceFile::SumHeaders() {
  std::map<uint16_t, KindTotals> totals;
  std::map<uint32_t, uint64_t> dropped;
  for (const codec::BlockRef& block : scan_.blocks) {
    const proto::BlockHeader& header = block.header;
    KindTotals& kind = totals[header.kind];
    kind.kind = header.kind;
    ++kind.blocks;
    kind.rows += header.count;
    kind.compressed_bytes += header.compressed_bytes;
    kind.raw_bytes += header.raw_bytes;
    if (IsEventKind(header.kind)) {
      process().rows += header.count;
      if (Track* track = TrackOf(header.track, 0)) track->dropped += header.dropped_before;
    } else if (!proto::IsTableKind(header.kind)) {
      ++process().unknown_blocks;
      process().unknown_rows += header.count;
    }
  }
  for (const auto& [kind, sum] : totals) process().kinds.push_back(sum);
}

void TraceFile::BuildClock() {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const codec::BlockRef& block : scan_.blocks) {
    const auto kind = static_cast<proto::ChunkKind>(block.header.kind);
    if (IsEventKind(block.header.kind) && !proto::HasCuptiClock(kind))
      first = std::min(first, FirstTime(block));
  }
  clock_.Build(snapshots_, static_cast<proto::ClockKind>(process().clock_kind),
               process().ticks_per_second, first, scan_.header.realtime_ns);
  process().clock_residual_ns = clock_.residual_ns();
  process().realtime_step_ns = clock_.realtime_step_ns();
  if (clock_.fit() == ClockMap::Fit::kGuess && process().rows != 0) {
    const std::string words =
        "no usable clock snapshot: times are right only within this process, and its offset "
        "to other processes is a guess";
    if (snapshots_.empty()) {
      AddFault(0, words);
    } else {
      // A clock that was set or faked is no damage.
      proto::Note* note = process().health.add_note();
      note->set_source("clock");
      note->set_text(words);
    }
  }
  BuildCuptiClock();
}

// Where CUPTI's clock was not read it is taken for CLOCK_REALTIME, which it is by default.
void TraceFile::BuildCuptiClock() {
  std::vector<CuptiReading> readings;
  for (const proto::ClockSnapshot& snapshot : cupti_snapshots_)
    readings.push_back({snapshot.cupti_ns(), clock_.Convert(snapshot.ticks())});
  process().has_cupti_clock = !readings.empty();
  if (readings.empty()) {
    const uint64_t realtime = scan_.header.realtime_ns;
    readings.push_back(snapshots_.empty()
                           ? CuptiReading{realtime, static_cast<int64_t>(realtime)}
                           : CuptiReading{snapshots_.front().realtime_ns(),
                                          clock_.Convert(snapshots_.front().ticks())});
  }
  const CuptiClock clock = CuptiClockOf(readings);
  cupti_clock_.Build(clock.points);
  if (process().has_cupti_clock)
    process().cupti_clock = {clock.readings, clock.residual_ns, clock.step_ns, clock.is_lost};
}

std::pair<int64_t, int64_t> TraceFile::RangeOf(const codec::BlockRef& block) const {
  ClockMap::Cursor cursor(clock_of(static_cast<proto::ChunkKind>(block.header.kind)));
  const int64_t first = cursor.Convert(FirstTime(block));
  return {first, cursor.Convert(block.header.last_time)};
}

std::vector<PlannedBlock> TraceFile::Plan() const {
  std::vector<PlannedBlock> plan;
  ClockMap::Cursor ticks(clock_), cupti(cupti_clock_);
  for (const codec::BlockRef& block : scan_.blocks) {
    const proto::BlockHeader& header = block.header;
    if (header.count == 0 || !IsEventKind(header.kind)) continue;
    const auto kind = static_cast<proto::ChunkKind>(header.kind);
    ClockMap::Cursor& cursor = proto::HasCuptiClock(kind) ? cupti : ticks;
    const int64_t first_ns = cursor.Convert(FirstTime(block));
    plan.push_back({&block, kind, header.track, header.count, first_ns,
                    std::max(first_ns, cursor.Convert(LastTime(block)))});
  }
  return plan;
}

bool TraceFile::EarliestNs(int64_t* time_ns) const {
  ClockMap::Cursor cursor(clock_);
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const codec::BlockRef& block : scan_.blocks) {
    if (IsEventKind(block.header.kind)) earliest = std::min(earliest, RangeOf(block).first);
  }
  for (const proto::CaptureMark& mark : meta_.capture_mark()) {
    if (mark.start()) {
      earliest = std::min(earliest, cursor.Convert(std::max(mark.ticks(), meta_.kept_from())));
    }
  }
  *time_ns = earliest;
  return earliest != std::numeric_limits<int64_t>::max();
}

void TraceFile::Place(int64_t shift) {
  clock_.SetShift(shift);
  cupti_clock_.SetShift(shift);
  ClockMap::Cursor cursor(clock_);
  bool any = false;
  for (const codec::BlockRef& block : scan_.blocks) {
    if (!IsEventKind(block.header.kind)) continue;
    const auto [first, last] = RangeOf(block);
    process().first_ns = any ? std::min(process().first_ns, first) : first;
    process().last_ns = any ? std::max(process().last_ns, last) : last;
    any = true;
  }
  PlaceSamples(&cursor);
  PlaceCaptures(&cursor);
  PlaceGraphMarks(&cursor);
  PlaceHandles(&cursor);
  PlaceContexts(&cursor);
  if (!any && !process().captures.empty()) {
    process().first_ns = process().captures.front().start_ns;
    process().last_ns = process().captures.back().end_ns;
  }
  PlaceLife(&cursor);
}

// The start is read from the wall clock, which PlaceAll knows.
void TraceFile::PlaceLife(ClockMap::Cursor* cursor) {
  if (!process().captures.empty()) {
    process().started_ns = process().captures.front().start_ns;
    process().ended_ns = process().captures.back().end_ns;
  }
  if (meta_.exit_ticks() != 0)
    process().ended_ns = std::max(process().ended_ns, cursor->Convert(meta_.exit_ticks()));
}

void TraceFile::PlaceSamples(ClockMap::Cursor* cursor) {
  for (const RawSample& raw : samples_) {
    process().tracks[raw.track].samples.push_back(
        {cursor->Convert(raw.ticks), raw.cpu_ns, raw.runqueue_wait_ns});
  }
  samples_.clear();
  samples_.shrink_to_fit();
}

// As coarse as the times of rows: a name that is given at once is not given before.
void TraceFile::PlaceHandles(ClockMap::Cursor* cursor) {
  for (const auto& [id, ticks] : handle_ticks_) {
    if (Track* track = TrackOf(id, 0))
      track->handle_since_ns = cursor->Convert(ticks & ~time_mask_);
  }
  handle_ticks_.clear();
}

void TraceFile::PlaceContexts(ClockMap::Cursor* cursor) {
  for (const auto& [id, ticks] : context_ticks_) {
    ContextLife& life = process().contexts.emplace_back();
    life.id = id;
    if (ticks.first != 0) life.begin_ns = cursor->Convert(ticks.first);
    if (ticks.second != 0) life.end_ns = cursor->Convert(ticks.second);
  }
  context_ticks_.clear();
}

void TraceFile::PlaceCaptures(ClockMap::Cursor* cursor) {
  if (meta_.kept_from() != 0) process().kept_from_ns = cursor->Convert(meta_.kept_from());
  std::map<uint32_t, CaptureWindow> windows;
  std::map<uint32_t, bool> has_start;
  for (const proto::CaptureMark& mark : meta_.capture_mark()) {
    CaptureWindow& window = windows[mark.capture()];
    if (mark.start()) {
      has_start[mark.capture()] = true;
      window.start_ns = cursor->Convert(mark.ticks());
      window.start_trigger = mark.trigger();
    } else {
      window.has_stop = true;
      window.end_ns = cursor->Convert(mark.ticks());
      window.stop_trigger = mark.trigger();
      window.steps = mark.steps();
    }
  }
  // What marks do not tell (a killed process has no stop), events do.
  std::map<uint32_t, std::pair<int64_t, int64_t>> seen;
  for (const codec::BlockRef& block : scan_.blocks) {
    if (!IsEventKind(block.header.kind)) continue;
    const auto [first, last] = RangeOf(block);
    const auto [range, is_new] = seen.try_emplace(block.header.capture, first, last);
    range->second.first = std::min(range->second.first, first);
    range->second.second = std::max(range->second.second, last);
    windows[block.header.capture];
  }
  for (auto& [number, window] : windows) {
    window.number = number;
    window.cuda_had_begun = captures_after_cuda_.count(number) != 0;
    const auto range = seen.find(number);
    const int64_t fallback_start = range != seen.end() ? range->second.first : window.end_ns;
    if (!has_start[number]) window.start_ns = fallback_start;
    if (!window.has_stop) {
      window.end_ns =
          std::max(window.start_ns, range != seen.end() ? range->second.second : window.start_ns);
    }
    process().recorded_ns += window.end_ns - window.start_ns;
    if (window.end_ns < process().kept_from_ns) continue;
    const int64_t begun_ns = window.start_ns;
    window.start_ns = std::max(begun_ns, process().kept_from_ns);
    window.let_go_ns = window.start_ns - begun_ns;
    process().captures.push_back(window);
  }
}

}  // namespace gpuprof::analysis
