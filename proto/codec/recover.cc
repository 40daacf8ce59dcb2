// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ring file and cut trace in, whole trace out. Written so that it can be killed anywhere and run
// again: every block says up to which ring position its rows reach, and the ring file goes last.

#include "proto/codec/recover.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

#include "proto/codec/process_alive.h"
#include "proto/codec/record_sorter.h"
#include "proto/codec/ring_file.h"
#include "proto/codec/segments.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_state.h"
#include "proto/codec/trace_writer.h"
#include "proto/contract.h"
#include "proto/file_size_signal.h"

namespace gpuprof::codec {
namespace {

using proto::ChunkKind;
using proto::RingHeader;

constexpr uint32_t kMostStackNodes = 1u << 20;
constexpr uint32_t kMostStrings = 1u << 20;
constexpr uint64_t kMostStringBytes = 32u << 20;
// Recovery keeps every tick: it cannot know what the recorder would have rounded to, and has little
// to write.
constexpr uint32_t kTimeShift = 0;
// In a block's ring_end: nothing of this track and kind is left in the ring, open spans included.
constexpr uint64_t kAllOfRing = ~uint64_t{0};

class Recovery {
 public:
  Recovery(const std::string& stem, int wait_status)
      : stem_(stem),
        trace_path_(stem + proto::kTraceSuffix),
        ring_path_(stem + proto::kRingSuffix),
        wait_status_(wait_status),
        tables_(kMostStackNodes, kMostStrings, kMostStringBytes) {}

  RecoverResult Run(LockWait* wait, bool only_near = false);

 private:
  RecoverResult RemoveUnused();
  RecoverResult FailDamagedRing(const std::string& error);
  bool Fail(const std::string& error);
  bool WriteFailed();
  bool OpenRing(LockWait* wait, bool* is_there);
  bool CheckDead(bool has_ring_file = true);
  void SurveyRings();
  bool OpenTrace();
  bool FinishTrace();
  bool WriteIdentity();
  bool WriteClocks();
  bool WriteRings();
  bool WriteRing(const RingHeader* ring);
  bool WriteRows(RecordSorter* sorter, uint64_t ring_end);
  bool WriteTables();
  bool WriteThreads();
  bool WriteEnd();
  bool Table(ChunkKind kind, int field, const std::vector<uint8_t>& message, uint32_t entries);
  void ExitOf(uint32_t* way, int32_t* status) const;
  uint32_t capture() const;

  std::string stem_;
  std::string trace_path_;
  std::string ring_path_;
  int wait_status_;
  RecoverResult result_;
  RingFile rings_;
  TraceState state_;
  InternTables tables_;
  TraceWriter writer_;
  RecoveredLosses losses_;
  bool has_news_ = false;  // a record or an open span in some ring
  uint64_t now_ = 0;       // the newest moment that anything in the ring file tells of
};

bool Recovery::Fail(const std::string& error) {
  result_.error = error;
  return false;
}

bool Recovery::WriteFailed() {
  return Fail(trace_path_ + ": " + std::strerror(writer_.last_error()) +
              "; what was not written yet is still in " + ring_path_ +
              ". Make room, or make the file writable, and run `gpuprof recover`");
}

uint32_t Recovery::capture() const {
  const uint32_t of_ring = rings_.header().capture.load(std::memory_order_relaxed);
  return std::max({of_ring & 0xffff, state_.capture, 1u});
}

// False with is_there unset: somebody else has finished it, or there never was a ring file.
bool Recovery::OpenRing(LockWait* wait, bool* is_there) {
  switch (rings_.Open(ring_path_, wait, &result_.error)) {
    case RingFile::OpenResult::kOpen:
      *is_there = true;
      return true;
    case RingFile::OpenResult::kMissing:
      *is_there = false;
      return true;
    default:
      return false;
  }
}

bool Recovery::CheckDead(bool has_ring_file) {
  // The name counts: a header may not be there yet, or may lie.
  int32_t pid = rings_.has_header() ? rings_.header().pid : 0;
  uint64_t start_id = rings_.has_header() ? rings_.header().start_id : 0;
  const std::string name = ring_path_.substr(ring_path_.rfind('/') + 1);
  int named_pid = 0;
  uint64_t named_start = 0;
  if (std::sscanf(name.c_str(), "p%d-%" SCNx64, &named_pid, &named_start) == 2) {
    pid = named_pid;
    start_id = named_start;
  }
  const RingUse use = FindRingUse(pid, start_id, has_ring_file);
  // A ring file that the process does not map is of an image before.
  if (use == RingUse::kGone || (use == RingUse::kUnmapped && has_ring_file)) return true;
  const std::string process = "process " + std::to_string(pid);
  return Fail(ring_path_ + ": " +
              (use != RingUse::kHidden
                   ? process + " still runs; its trace is finished when it ends"
                   : process + " may still run and may not be looked into; ask as its user"));
}

// When the newest span began that has not ended; 0: none.
uint64_t NewestOpenSpan(const RingHeader& ring) {
  uint64_t newest = ring.open_wait_start.load(std::memory_order_relaxed);
  const uint32_t depth = ring.open_ops.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < std::min(depth, proto::kMaxOpenOps); ++i) {
    newest = std::max(newest, ring.open_op[i].start);
  }
  const uint32_t ranges = ring.open_ranges.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < std::min(ranges, proto::kMaxOpenRanges); ++i) {
    newest = std::max(newest, ring.open_range[i].start);
  }
  const uint32_t calls = ring.open_calls.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < std::min(calls, proto::kMaxOpenCalls); ++i) {
    newest = std::max(newest, ring.open_call[i].start);
  }
  return newest;
}

// How long before its end the process last had all that CUPTI recorded in its trace.
uint64_t ActivityMissing(const proto::RingFileHeader& header, uint64_t end) {
  const uint64_t until = header.activity_until.load(std::memory_order_relaxed);
  if (until == 0 || header.ticks_per_second == 0) return 0;
  const double ticks = end > until ? static_cast<double>(end - until) : 1;
  constexpr double kMost = 1e18;  // of a damaged header
  return static_cast<uint64_t>(
      std::min(kMost, std::ceil(ticks * 1e9 / static_cast<double>(header.ticks_per_second))));
}

// What the headers tell, before any record is read.
void Recovery::SurveyRings() {
  const proto::RingFileHeader& header = rings_.header();
  now_ = std::max({header.snapshot_ticks, header.latest_ticks,
                   header.pass_ticks.load(std::memory_order_relaxed)});
  losses_.no_ring = header.no_ring.load(std::memory_order_relaxed);
  losses_.table_full = header.table_full.load(std::memory_order_relaxed);
  losses_.unpaired = header.ranges_unpaired.load(std::memory_order_relaxed);
  losses_.spans = header.ranges_refused.load(std::memory_order_relaxed);
  losses_.names_lost = header.range_names_lost.load(std::memory_order_relaxed);
  losses_.values_lost = header.range_values_lost.load(std::memory_order_relaxed);
  losses_.thread_edges = header.thread_edges.load(std::memory_order_relaxed);
  losses_.rows_unwritten = header.rows_unwritten.load(std::memory_order_relaxed);
  losses_.activity_missing_ns = ActivityMissing(header, now_);
  losses_.trouble.assign(header.trouble, strnlen(header.trouble, sizeof(header.trouble)));
  losses_.damaged_rings = rings_.damaged_rings();
  losses_.room_waits = header.room_waits.load(std::memory_order_relaxed);
  losses_.room_wait_ticks = header.room_wait_ticks.load(std::memory_order_relaxed);
  losses_.namespaces = header.namespaces.load(std::memory_order_relaxed);
  losses_.begin_end_cpu_ns = header.begin_end_cpu_ns.load(std::memory_order_relaxed);
  losses_.rings_outside = header.rings_outside.load(std::memory_order_relaxed);
  losses_.dropped = header.dropped_elsewhere.load(std::memory_order_relaxed);
  losses_.reentered = header.reentered_elsewhere.load(std::memory_order_relaxed);
  for (size_t i = 0; i < rings_.rings(); ++i) {
    const RingHeader* ring = rings_.LoadHeader(i);
    if (ring == nullptr) {
      ++losses_.damaged_rings;
      continue;
    }
    losses_.dropped += ring->dropped.load(std::memory_order_relaxed);
    losses_.reentered += ring->reentered.load(std::memory_order_relaxed);
    has_news_ |=
        ring->head.load(std::memory_order_relaxed) != ring->tail.load(std::memory_order_relaxed);
    now_ = std::max(now_, ring->last_time);
    if (header.spans_told.load(std::memory_order_relaxed) != 0) continue;
    const uint64_t newest = NewestOpenSpan(*ring);
    has_news_ |= newest != 0;
    now_ = std::max(now_, newest);
  }
}

bool Recovery::OpenTrace() {
  const uint64_t blocks = rings_.header().trace_blocks.load(std::memory_order_relaxed);
  if (state_.exists && state_.readable_bytes != 0) {
    tables_.SetNextStackNode(state_.next_stack_node);
    tables_.SetNextTextId(state_.next_text_id);
    if (!writer_.Continue(trace_path_.c_str(), state_.readable_bytes, state_.next_sequence,
                          state_.blocks, state_.rows)) {
      return WriteFailed();
    }
    for (const BlockRef& block : state_.block) writer_.IndexBlock(block.header, block.offset);
    writer_.ExpectBlocks(blocks);
    return true;
  }
  if (state_.exists) unlink(trace_path_.c_str());
  const proto::RingFileHeader& ring = rings_.header();
  proto::FileHeader header = {};
  header.pid = ring.pid;
  header.start_id = ring.start_id;
  header.realtime_ns = ring.snapshot_realtime_ns;
  header.ticks_kind = static_cast<uint32_t>(ring.clock_kind);
  if (!writer_.Create(trace_path_.c_str(), header)) return WriteFailed();
  writer_.ExpectBlocks(blocks);
  return true;
}

bool Recovery::Table(ChunkKind kind, int field, const std::vector<uint8_t>& message,
                     uint32_t entries) {
  return writer_.WriteTable(kind, capture(), field, message.data(), message.size(), entries) ||
         WriteFailed();
}

// Who the process was, where no tracer lived to say so.
bool Recovery::WriteIdentity() {
  if (state_.has_meta) return true;
  const proto::RingFileHeader& header = rings_.header();
  std::vector<uint8_t> message;
  PbWriter meta(&message);
  meta.Varint(1, static_cast<uint64_t>(int64_t{header.pid}));
  meta.Varint(2, static_cast<uint64_t>(int64_t{header.ppid}));
  meta.Fixed64(3, header.start_id);
  meta.Bytes(4, header.executable, strnlen(header.executable, sizeof header.executable));
  meta.Varint(9, header.clock_kind);
  meta.Varint(10, header.ticks_per_second);
  meta.Varint(12, header.heap_mode);
  meta.Varint(13, header.heap_period);
  if (header.is_forked != 0) meta.Varint(23, 1);
  return Table(ChunkKind::kMeta, chunk_field::kMeta, message, 1);
}

bool Recovery::WriteClocks() {
  const proto::RingFileHeader& header = rings_.header();
  std::vector<uint8_t> message;
  PbWriter clocks(&message);
  uint32_t snapshots = 0;
  const auto add = [&](uint64_t ticks, uint64_t monotonic_ns, uint64_t realtime_ns) {
    const uint64_t snapshot = clocks.Begin(1);
    clocks.Fixed64(1, ticks);
    clocks.Fixed64(2, monotonic_ns);
    clocks.Fixed64(3, realtime_ns);
    clocks.End(snapshot);
    ++snapshots;
  };
  if (!state_.has_clocks)
    add(header.snapshot_ticks, header.snapshot_monotonic_ns, header.snapshot_realtime_ns);
  if (header.latest_ticks > header.snapshot_ticks)
    add(header.latest_ticks, header.latest_monotonic_ns, header.latest_realtime_ns);
  return snapshots == 0 || Table(ChunkKind::kClocks, chunk_field::kClocks, message, snapshots);
}

bool Recovery::WriteTables() {
  std::vector<uint8_t> message;
  const uint32_t strings = tables_.TakeStrings(&message);
  if (strings != 0 && !Table(ChunkKind::kStrings, chunk_field::kStrings, message, strings))
    return false;
  message.clear();
  const uint32_t nodes = tables_.TakeStacks(&message);
  return nodes == 0 || Table(ChunkKind::kStacks, chunk_field::kStacks, message, nodes);
}

// The first failure ends it: a later block of the same kind would claim the rows of the one that
// failed.
bool Recovery::WriteRows(RecordSorter* sorter, uint64_t ring_end) {
  if (!WriteTables()) return false;
  for (const auto& builder : sorter->builders()) {
    if (builder->count() == 0) continue;
    if (!writer_.WriteEvents(builder.get(), capture(), ring_end)) return WriteFailed();
  }
  return true;
}

bool Recovery::WriteRing(const RingHeader* ring) {
  uint64_t skip_until[proto::kRingKinds] = {};
  for (int i = 0; i < proto::kRingKinds; ++i) {
    const auto kind = static_cast<uint16_t>(proto::RingKindAt(i));
    const auto found = state_.ring_end.find({ring->track, kind});
    if (found != state_.ring_end.end()) skip_until[i] = found->second;
  }
  RecordSorter sorter(ring->track, kTimeShift, &tables_);
  sorter.Resume(ring);
  const uint64_t head = ring->head.load(std::memory_order_relaxed);
  uint64_t position = ring->tail.load(std::memory_order_relaxed);
  while ((position = sorter.Consume(ring, position, head, skip_until)) < head) {
    if (!WriteRows(&sorter, position)) return false;
  }
  if (rings_.header().spans_told.load(std::memory_order_relaxed) == 0)
    sorter.AddOpenSpans(ring, std::max(now_, sorter.last_time()), skip_until);
  losses_.corrupt += sorter.corrupt_records();
  losses_.cut_stacks += sorter.cut_stacks();
  return WriteRows(&sorter, kAllOfRing);
}

bool Recovery::WriteRings() {
  for (size_t i = 0; i < rings_.rings(); ++i) {
    if (rings_.LoadHeader(i) == nullptr) continue;  // the survey has counted it
    const RingHeader* ring = rings_.LoadRing(i);
    if (ring == nullptr) {
      ++losses_.damaged_rings;
    } else if (!WriteRing(ring)) {
      return false;
    }
  }
  // Strings may be all that a ring held.
  return WriteTables();
}

// Names of threads, which no later table could tell. Their CPU times died with them.
bool Recovery::WriteThreads() {
  std::vector<uint8_t> message;
  PbWriter threads(&message);
  threads.Fixed64(1, now_);
  uint32_t count = 0;
  for (size_t i = 0; i < rings_.rings(); ++i) {
    const RingHeader* ring = rings_.LoadHeader(i);
    if (ring == nullptr) continue;
    // Half of it is the next thread's already; the one before was told of when it gave the ring
    // back.
    const uint32_t state = ring->state.load(std::memory_order_relaxed);
    if (state == static_cast<uint32_t>(proto::RingState::kClaimed)) continue;
    const uint64_t thread = threads.Begin(2);
    threads.Varint(1, ring->track);
    threads.Varint(2, static_cast<uint64_t>(int64_t{ring->tid}));
    threads.Bytes(3, ring->name, strnlen(ring->name, sizeof ring->name));
    threads.End(thread);
    ++count;
  }
  return count == 0 || Table(ChunkKind::kThreads, chunk_field::kThreads, message, count);
}

// What the process noted itself; else what its parent was told, as a shell would give it.
void Recovery::ExitOf(uint32_t* way, int32_t* status) const {
  const proto::RingFileHeader& header = rings_.header();
  *way = header.exit_way.load(std::memory_order_relaxed);
  *status = header.exit_status.load(std::memory_order_relaxed);
  if (*way != static_cast<uint32_t>(proto::ExitWay::kUnknown)) return;
  *status = -1;
  if (wait_status_ >= 0 && WIFEXITED(wait_status_)) *status = WEXITSTATUS(wait_status_);
  if (wait_status_ >= 0 && WIFSIGNALED(wait_status_)) *status = 128 + WTERMSIG(wait_status_);
}

bool Recovery::WriteEnd() {
  losses_.stacks_refused = tables_.stacks_refused();
  losses_.strings_refused = tables_.strings_refused();
  const std::vector<uint8_t> health = MergeHealth(state_.health, losses_);
  if (!Table(ChunkKind::kHealth, chunk_field::kHealth, health, 1)) return false;
  proto::EndMarker end = {};
  ExitOf(&end.exit_way, &end.exit_status);
  end.recovered = 1;
  std::vector<uint8_t> message;
  PbWriter meta(&message);
  meta.Varint(16, end.exit_way);
  meta.Varint(17, static_cast<uint64_t>(int64_t{end.exit_status}));
  // The drain looked last at this time: the process lived then.
  meta.Fixed64(25, rings_.header().pass_ticks.load(std::memory_order_relaxed));
  if (!Table(ChunkKind::kMeta, chunk_field::kMeta, message, 1)) return false;
  return writer_.WriteEnd(end) || WriteFailed();
}

bool Recovery::FinishTrace() {
  return OpenTrace() && WriteIdentity() && WriteClocks() && WriteRings() && WriteThreads() &&
         WriteEnd();
}

// What the segments hold is good without the ring. The ring file stays, so that every reader tells
// of it.
RecoverResult Recovery::FailDamagedRing(const std::string& error) {
  if (!CheckDead()) return result_;
  if (JoinSegments(stem_, 0, &result_.error)) Fail(error);
  return result_;
}

// A trace begins after the ring file's header: without one beside a trace, the header is lost.
std::string LostHeader(const std::string& stem) {
  TraceState state;
  std::string error;
  const std::string trace_path = stem + proto::kTraceSuffix;
  const bool is_finished = ReadTraceState(trace_path, &state, &error) && state.has_end;
  if (is_finished || (!state.exists && !HasSegments(stem))) return "";
  return stem + proto::kRingSuffix +
         ": its header is empty: cut or damaged, and the last records cannot be read";
}

// A death before the header was whole: nothing was ever recorded.
RecoverResult Recovery::RemoveUnused() {
  result_.nothing_to_do = access(trace_path_.c_str(), F_OK) != 0;
  result_.ok = rings_.Remove();
  return result_;
}

RecoverResult Recovery::Run(LockWait* wait, bool only_near) {
  bool is_there = false;
  if (!OpenRing(wait, &is_there))
    return rings_.is_damaged() && !only_near ? FailDamagedRing(std::string(result_.error))
                                             : result_;
  const bool is_near = is_there && rings_.has_header() && !rings_.is_blank() &&
                       SharesProcessNumbers(rings_.header());
  if (only_near && !is_near) {
    Fail(ring_path_ + ": made on another host, or among other process numbers");
    return result_;
  }
  if (!is_there && HasSegments(stem_)) {
    // It may never have had one, where the disk was full.
    if (!CheckDead(/*has_ring_file=*/false)) return result_;
    return FailDamagedRing(
        ring_path_ + ": missing; the last records and the number of losses are missing with it");
  }
  if (!is_there) {
    result_.ok = true;
    result_.nothing_to_do = access(trace_path_.c_str(), F_OK) != 0;
    return result_;
  }
  if (!CheckDead()) return result_;
  if (rings_.is_blank()) {
    const std::string lost = LostHeader(stem_);
    return lost.empty() ? RemoveUnused() : FailDamagedRing(lost);
  }
  const uint64_t blocks = rings_.header().trace_blocks.load(std::memory_order_relaxed);
  const bool may_have_segments =
      rings_.header().segments != static_cast<uint32_t>(proto::RingSegments::kNone);
  if (may_have_segments && !JoinSegments(stem_, blocks, &result_.error)) return result_;
  if (!ReadTraceState(trace_path_, &state_, &result_.error)) return result_;
  SurveyRings();
  result_.nothing_to_do = !state_.exists && !has_news_ && !losses_.any();
  // With an end marker the process had finished and only failed to remove the ring file.
  if (!result_.nothing_to_do && !state_.has_end && !FinishTrace()) return result_;
  result_.rows_added = writer_.rows_written();
  result_.corrupt_records = losses_.corrupt;
  writer_.Close();
  result_.ok = rings_.Remove() || Fail(ring_path_ + " cannot be removed: " + std::strerror(errno));
  return result_;
}

}  // namespace

std::string CheckRingFile(const std::string& path) {
  RingFile rings;
  std::string error;
  const RingFile::OpenResult opened = rings.OpenToLook(path, &error);
  if (opened == RingFile::OpenResult::kMissing) return "";
  if (opened != RingFile::OpenResult::kOpen) return error;
  if (rings.is_blank()) {
    return LostHeader(path.substr(0, path.size() - std::strlen(proto::kRingSuffix)));
  }
  uint32_t damaged = rings.damaged_rings();
  for (size_t i = 0; i < rings.rings(); ++i) {
    if (rings.LoadHeader(i) == nullptr) ++damaged;
  }
  if (damaged == 0) return "";
  return "cut or damaged: the last records of " + std::to_string(damaged) +
         (damaged == 1 ? " thread" : " threads") + " cannot be read";
}

RecoverResult Recover(const std::string& stem, int exit_status, LockWait* wait) {
  const proto::NoFileSizeSignal guard;
  LockWait own;
  return Recovery(stem, exit_status).Run(wait != nullptr ? wait : &own);
}

RecoverResult RecoverNear(const std::string& stem) {
  const proto::NoFileSizeSignal guard;
  LockWait none{0};
  return Recovery(stem, -1).Run(&none, /*only_near=*/true);
}

}  // namespace gpuprof::codec
