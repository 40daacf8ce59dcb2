// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/drain.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "proto/container.h"
#include "tracer/base/memory.h"
#include "tracer/clock_snapshot.h"
#include "tracer/disk_room.h"
#include "tracer/jax/sessions.h"
#include "tracer/process_facts.h"
#include "tracer/torch/torch_observer.h"

namespace gpuprof::tracer {
namespace {

using proto::ChunkKind;
using proto::RingHeader;
using proto::RingState;

constexpr uint32_t kMostStackNodes = 1u << 19;
// So many are written again at times, and found in the processor's own cache until then: of
// `import torch` this costs 1 % more bytes and an eighth less time than eight times as many.
constexpr uint32_t kManyStackNodes = 1u << 16;
// A node takes 3 to 4 bytes in a file: the stacks take a quarter of a segment at most.
constexpr uint64_t kSegmentBytesPerNode = 16;
constexpr uint32_t kMostStrings = 1u << 16;
constexpr uint64_t kMostStringBytes = 4u << 20;
constexpr uint64_t kNanosecondsPerQuantum = 16;

constexpr uint64_t kPathBytes = 700;

// Fields of Chunk, by table.
constexpr int kStringsField = 8, kStacksField = 9, kModulesField = 10, kClocksField = 11,
              kThreadsField = 12, kMetaField = 13;

// The bundle's file of this process with this suffix.
void TracePath(const Settings& settings, const char* suffix, char (&path)[kPathBytes]) {
  char* end = stpcpy(stpcpy(stpcpy(path, settings.bundle), "/"), settings.file_stem);
  stpcpy(end, suffix);
}

}  // namespace

Drain::Drain(const Host* host, SessionCounts* counts)
    : host_(host),
      counts_(counts),
      tables_(kMostStackNodes, kMostStrings, kMostStringBytes),
      activities_(host, &tables_),
      jax_(host, &tables_),
      kernels_(&tables_) {
  counts_->Reset();
}

bool Drain::Open() {
  char path[kPathBytes];
  TracePath(*host_->settings, proto::kTraceSuffix, path);
  header_.pid = getpid();
  header_.start_id = host_->settings->start_id;
  header_.realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  header_.ticks_kind = static_cast<uint32_t>(host_->settings->clock);
  if (!writer_.Create(path, header_, host_->settings->given_trace)) {
    host_->cannot_record(proto::Obstacle::kFile, errno);
    return false;
  }
  if (host_->settings->flight_bytes != 0) {
    char stem[kPathBytes];
    TracePath(*host_->settings, "", stem);
    const auto ticks_of_cupti = [this](uint64_t ns) { return activities_.TicksOf(ns); };
    flight_ = std::make_unique<FlightRecorder>(stem, host_->settings->flight_bytes, header_,
                                               ticks_of_cupti);
  }
  message_.clear();
  AppendProcessFacts(*host_->settings, &message_);
  WriteTable(ChunkKind::kMeta, kMetaField, 1);
  WriteTitle();
  writer_.KeepRoom(kRoomOfLastWords);
  return true;
}

void Drain::WriteTitle() {
  message_.clear();
  if (AppendTitle(host_->settings->arguments, &command_line_, &message_))
    WriteTable(ChunkKind::kMeta, kMetaField, 1);
}

uint32_t Drain::TimeShift() const {
  if (host_->settings->exact_heap_times != 0) return 0;
  const uint64_t quantum =
      host_->settings->ticks_per_second * kNanosecondsPerQuantum / 1'000'000'000u;
  uint32_t shift = 0;
  while ((uint64_t{2} << shift) <= quantum) ++shift;
  return shift;
}

// Returns the steps in windows of a limited recording so far.
uint64_t Drain::RecordedSteps() const {
  const BudgetFacts* budget = host_->budget;
  return budget == nullptr ? 0 : budget->recorded_steps.load(std::memory_order_relaxed);
}

void Drain::BeginCapture(uint32_t number, const char* trigger) {
  capture_ = number;
  is_capturing_ = true;
  told_memory_ = false;
  message_.clear();
  steps_before_ = RecordedSteps();
  AppendCaptureMark(number, true, Now(), trigger, 0, &message_);
  WriteTable(ChunkKind::kMeta, kMetaField, 1);
  WriteTables(/*all=*/true);
}

void Drain::EndCapture(const char* trigger) {
  Pass();
  const uint64_t now = Now();
  const uint32_t count = host_->ring_count->load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < count && slot < tracks_.size(); ++slot) {
    const RingHeader* ring = __atomic_load_n(&host_->rings[slot], __ATOMIC_ACQUIRE);
    if (ring != nullptr && tracks_[slot].sorter != nullptr)
      tracks_[slot].sorter->AddOpenSpans(ring, now);
  }
  activities_.EndCapture();
  FlushAll();
  host_->ring_file->spans_told.store(now, std::memory_order_relaxed);
  CountLosses();
  message_.clear();
  AppendCaptureMark(capture_, false, now, trigger, RecordedSteps() - steps_before_, &message_);
  process_cpu_ns_ = ProcessCpu();
  is_capturing_ = false;
  WriteTable(ChunkKind::kMeta, kMetaField, 1);
  WriteTables(/*all=*/true);
}

void Drain::Abandon() {
  writer_.Abandon();
  if (flight_ != nullptr) flight_->Abandon();
}

bool Drain::CanWriteHere() {
  return writer_.CanWriteHere() && (flight_ == nullptr || flight_->CanWriteHere());
}

// False: it is left to whoever finishes the trace, which takes a ring file. Where that found no
// place on the disk, the segments that do not fit, or cannot be read, are lost.
bool Drain::JoinFlight() {
  if (flight_ == nullptr) return true;
  char path[kPathBytes];
  TracePath(*host_->settings, proto::kRingSuffix, path);
  const bool has_ring_file = flight_->folder()->Has(path);
  const uint64_t lost_before = flight_->rows_lost();
  // Without a ring file nobody else can tell what was lost: the last words go first.
  if (!has_ring_file) writer_.KeepRoom(kRoomOfLastHealth);
  const bool joined = flight_->JoinInto(&writer_, /*leaves_holes=*/!has_ring_file);
  if (!joined && has_ring_file) return false;
  writer_.KeepRoom(0);
  if (joined && is_health_written_ && flight_->rows_lost() == lost_before) return true;
  const uint64_t lost = (joined ? 0 : flight_->Drop()) + flight_->rows_lost();
  rows_let_go_ = flight_->rows_let_go();
  flight_.reset();
  writer_.CountLost(lost);
  CountLosses();
  WriteHealth();
  writer_.KeepRoom(0);
  return true;
}

bool Drain::Finish(proto::ExitWay way, int32_t status) {
  if (!writer_.is_open()) return true;
  writer_.KeepRoom(0);
  // What the trace cannot tell of its losses the ring file's header does, as long as there is no
  // end: whoever finishes it adds them.
  if (!JoinFlight() || (RowsLost() != 0 && !is_health_written_)) {
    // Every ring is empty by now, those outside of the ring file, too: nothing goes with them.
    if (way != proto::ExitWay::kExec) host_->ring_file->rings_outside.store(0);
    writer_.Close();
    return false;
  }
  // What a limited recording cost is known as far as the process went on.
  if (host_->budget != nullptr) WriteHealth();
  message_.clear();
  AppendExit(way, status, Now(), &message_);
  WriteTable(ChunkKind::kMeta, kMetaField, 1);
  proto::EndMarker marker = {};
  marker.exit_way = static_cast<uint32_t>(way);
  marker.exit_status = status;
  const bool ended = writer_.WriteEnd(marker);
  writer_.Close();
  return ended;
}

// Into rows of their own: they go into the snapshot and not into the trace.
void Drain::CollectOpenSpans(uint64_t now) {
  open_spans_.clear();
  if (!is_capturing_) return;  // the capture's end has told of them
  const uint32_t count = host_->ring_count->load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < count && slot < tracks_.size(); ++slot) {
    const RingHeader* ring = __atomic_load_n(&host_->rings[slot], __ATOMIC_ACQUIRE);
    const Track& track = tracks_[slot];
    if (ring == nullptr || track.sorter == nullptr || ring->track != track.number) continue;
    auto spans = std::make_unique<codec::RecordSorter>(track.number, TimeShift(), &tables_);
    spans->TakeStackOf(*track.sorter);
    spans->AddOpenSpans(ring, now);
    if (spans->rows() != 0) open_spans_.push_back(std::move(spans));
  }
}

bool Drain::PrepareSnapshot(Snapshot* snapshot) {
  Pass();
  FlushAll();
  CollectOpenSpans(Now());
  WriteTables(/*all=*/true);
  snapshot_health_ = message_;  // it comes last
  char path[kPathBytes];
  TracePath(*host_->settings, proto::kTraceSuffix, path);
  snapshot->header = header_;
  snapshot->capture = capture_;
  snapshot->now = Now();
  snapshot->open_spans = &open_spans_;
  snapshot->health = &snapshot_health_;
  if (snapshot->files.Add(path, writer_.file_bytes(), writer_.rows_in_file()) &&
      (flight_ == nullptr || flight_->AddTo(&snapshot->files))) {
    return true;
  }
  errno = ENAMETOOLONG;
  return false;
}

// Where goes what passes: events, and tables that tell of the present. A flight recorder lets the
// oldest of it go.
codec::TraceWriter* Drain::PassingWriter() {
  return flight_ != nullptr ? flight_->Writer() : &writer_;
}

uint64_t Drain::RowsLost() const {
  return flight_ != nullptr ? flight_->rows_lost() : writer_.rows_lost();
}

int Drain::WriteErrorNumber() const {
  if (writer_.last_error() == EIDRM) return EIDRM;  // that is why no segment can be begun, too
  const int error = flight_ != nullptr ? flight_->last_error() : 0;
  return error != 0 ? error : writer_.last_error();  // tables are in the trace itself
}

void Drain::NoteCpu(uint64_t ns, bool ended) {
  drain_cpu_ns_ = cpu_before_ns_ + ns;
  if (ended) cpu_before_ns_ = drain_cpu_ns_;
}

void Drain::KeepCoarseClock(bool is_kept) {
  if (!is_kept && clock_refreshed_ != 0) {
    RefreshClock(Now());
    clock_refreshed_ = 0;
  }
  is_clock_kept_ = is_kept;
  if (!is_kept) host_->ring_file->coarse_ticks.store(0, std::memory_order_relaxed);
}

void Drain::RefreshClock(uint64_t now) {
  if (!is_clock_kept_) return;
  if (clock_refreshed_ != 0) coarse_step_ = std::max(coarse_step_, now - clock_refreshed_);
  clock_refreshed_ = now;
  host_->ring_file->coarse_ticks.store(now, std::memory_order_relaxed);
}

double Drain::Pass() {
  const uint64_t now = Now();
  host_->ring_file->pass_ticks.store(now, std::memory_order_relaxed);
  RefreshClock(now);
  double growth = 0;
  const uint32_t count = host_->ring_count->load(std::memory_order_acquire);
  if (tracks_.size() < count) tracks_.resize(count);
  for (uint32_t slot = 0; slot < count && slot < proto::kMaxRings; ++slot) {
    RingHeader* ring = __atomic_load_n(&host_->rings[slot], __ATOMIC_ACQUIRE);
    if (ring != nullptr) DrainRing(slot, ring, now, &growth);
    if (relief_.IsDue(MemoryIsShort(), MemoryBytes())) GiveMemoryBack();
  }
  activities_.Pass(now, this);
  jax_.Pass(capture_, TimeShift(), this, this);
  kernels_.Pass(now, TimeShift(), /*keeps=*/flight_ != nullptr, this, this);
  // A segment tells by itself who the threads are and how the clocks run, and what was compiled.
  if (flight_ != nullptr && flight_->TakeBegun()) {
    WriteTables(/*all=*/true);
    kernels_.WriteAgain(now, TimeShift(), this, this);
  }
  CountLosses();
  return growth;
}

void Drain::DrainRing(uint32_t slot, RingHeader* ring, uint64_t now, double* growth) {
  const auto state = static_cast<RingState>(ring->state.load(std::memory_order_acquire));
  if (state != RingState::kOwned && state != RingState::kClosed) return;
  Track& track = tracks_[slot];
  if (track.number != ring->track || track.sorter == nullptr) {
    track.number = ring->track;
    track.sorter = std::make_unique<codec::RecordSorter>(ring->track, TimeShift(), &tables_);
    track.position = ring->tail.load(std::memory_order_relaxed);
    track.first_ticks = 0;
  }
  const uint64_t head = ring->head.load(std::memory_order_acquire);
  const double grown = static_cast<double>(head - track.position) / ring->capacity;
  if (grown > *growth) *growth = grown;
  if (head != track.position) {
    records_ += head - track.position;
    // In portions, so that a thread that fills its ring meanwhile soon finds room again.
    uint64_t portion = ring->capacity / proto::kWakeShare;
    // A segment ends with a whole block: several must fit. A record takes 1 to 4 bytes there.
    if (flight_ != nullptr) portion = std::min(portion, flight_->segment_bytes() / 8);
    while (track.position != head) {
      if (track.first_ticks == 0) track.first_ticks = now;
      const uint64_t rows_before = track.sorter->rows();
      track.position =
          track.sorter->Consume(ring, track.position, head, nullptr, track.position + portion);
      CountEvents(track.sorter->rows() - rows_before);
      const uint64_t held = track.position - ring->tail.load(std::memory_order_relaxed);
      if (held >= portion || track.sorter->full()) Flush(&track, ring);
    }
  }
  const bool due =
      track.first_ticks != 0 && now - track.first_ticks > host_->settings->ticks_per_second;
  if (due || (state == RingState::kClosed && track.first_ticks != 0)) Flush(&track, ring);
  if (state == RingState::kClosed) Retire(&track, ring, now);
}

void Drain::Flush(Track* track, RingHeader* ring) {
  if (track->first_ticks == 0 && track->position == ring->tail.load(std::memory_order_relaxed))
    return;
  const bool has_all_names = WriteInternTables();
  for (std::unique_ptr<codec::ChunkBuilder>& builder : track->sorter->builders()) {
    if (builder == nullptr || builder->count() == 0) continue;
    if (builder->kind() == ChunkKind::kOp) op_rows_ += builder->count();
    if (has_all_names) {
      PassingWriter()->WriteEvents(builder.get(), capture_, track->position);
    } else {
      PassingWriter()->LoseEvents(builder.get());
    }
  }
  track->sorter->Release(ring, track->position);
  track->first_ticks = 0;
}

// The thread has gone and its ring is empty: the next thread may have it.
void Drain::Retire(Track* track, RingHeader* ring, uint64_t now) {
  message_.clear();
  AppendRingThread(*ring, now, &message_);
  WriteTable(ChunkKind::kThreads, kThreadsField, 1);
  activities_.ThreadEnded(*ring);
  corrupt_ += track->sorter->corrupt_records();
  retired_dropped_ += ring->dropped.load(std::memory_order_relaxed);
  retired_reentered_ += ring->reentered.load(std::memory_order_relaxed);
  ring->dropped.store(0, std::memory_order_relaxed);
  ring->dropped_told = 0;
  ring->reentered.store(0, std::memory_order_relaxed);
  ring->room_until = 0;
  // Of a thread that ended in its wait while nothing was recorded.
  ring->open_wait_start.store(0, std::memory_order_relaxed);
  track->sorter.reset();
  track->number = 0;
  ring->state.store(static_cast<uint32_t>(RingState::kFree), std::memory_order_release);
}

void Drain::FlushAll() {
  const uint32_t count = host_->ring_count->load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < count && slot < tracks_.size(); ++slot) {
    RingHeader* ring = __atomic_load_n(&host_->rings[slot], __ATOMIC_ACQUIRE);
    Track& track = tracks_[slot];
    if (ring == nullptr || track.sorter == nullptr) continue;
    track.first_ticks = 1;
    Flush(&track, ring);
  }
  activities_.FlushAll(this);
}

void Drain::GiveMemoryBack() {
  FlushAll();
  for (Track& track : tracks_) {
    if (track.sorter != nullptr) track.sorter->DropBuilders();
  }
  relief_.Given(MemoryBytes());
}

// False: rows may refer to what is not in the trace. A full disk may have room again later: entries
// that could not be written are offered once more.
bool Drain::WriteInternTables() {
  bool is_whole = true;
  message_.clear();
  uint32_t entries = tables_.TakeStrings(&message_);
  if (entries != 0 && !WriteTable(ChunkKind::kStrings, kStringsField, entries)) {
    tables_.ReturnStrings();
    is_whole = false;
  }
  return WriteStacks() && is_whole;
}

// Each segment of a flight recorder holds the stacks that its rows name, so that old stacks go with
// old segments. Of many different stacks only the newest are written again.
bool Drain::WriteStacks() {
  uint32_t many = kManyStackNodes;
  if (flight_ != nullptr) {
    flight_->Writer();
    if (segment_of_stacks_ != flight_->begun()) tables_.OfferStacksAgain();
    segment_of_stacks_ = flight_->begun();
    many = static_cast<uint32_t>(
        std::clamp<uint64_t>(flight_->segment_bytes() / kSegmentBytesPerNode, 1, many));
  }
  message_.clear();
  const uint32_t entries = tables_.TakeStacks(&message_);
  if (entries != 0 && !WriteTable(ChunkKind::kStacks, kStacksField, entries)) {
    tables_.ReturnStacks();
    return false;
  }
  tables_.ForgetStacksIfMany(many);
  return true;
}

bool Drain::WriteTable(ChunkKind kind, int field, uint32_t entries) {
  const bool passes = kind == ChunkKind::kClocks || kind == ChunkKind::kThreads ||
                      kind == ChunkKind::kHealth || kind == ChunkKind::kStacks;
  codec::TraceWriter* writer = passes ? PassingWriter() : &writer_;
  return writer->WriteTable(kind, capture_, field, message_.data(), message_.size(), entries);
}

bool Drain::WriteTableBlock(ChunkKind kind, int field, const std::vector<uint8_t>& message,
                            uint32_t entries) {
  const bool passes = kind == ChunkKind::kClocks || kind == ChunkKind::kThreads;
  codec::TraceWriter* writer = passes ? PassingWriter() : &writer_;
  return writer->WriteTable(kind, capture_, field, message.data(), message.size(), entries);
}

// No ring holds these rows: what is written is all there is. Tables that rings feed have more rows
// in the rings.
void Drain::WriteRowBlock(codec::ChunkBuilder* rows) {
  if (!has_all_names_) return LoseRowBlock(rows);
  CountEvents(rows->count());
  const bool has_ring = proto::FindTable(rows->kind())->feed == proto::Feed::kRing;
  PassingWriter()->WriteEvents(rows, capture_, has_ring ? 0 : ~uint64_t{0});
}

uint32_t Drain::TrackOf(uint32_t tid, uint64_t ticks) { return activities_.TrackOf(tid, ticks); }

// A thread that ended by a bare system call ran no destructor.
void Drain::CloseDeadThreads() {
  const uint32_t count = host_->ring_count->load(std::memory_order_acquire);
  const pid_t pid = getpid();
  for (uint32_t slot = 0; slot < count && slot < proto::kMaxRings; ++slot) {
    RingHeader* ring = __atomic_load_n(&host_->rings[slot], __ATOMIC_ACQUIRE);
    if (ring == nullptr || ring->state.load() != static_cast<uint32_t>(RingState::kOwned)) continue;
    if (syscall(SYS_tgkill, pid, ring->tid, 0) != 0 && errno == ESRCH) {
      ring->state.store(static_cast<uint32_t>(RingState::kClosed), std::memory_order_release);
    }
  }
}

void Drain::UpdateModules() {
  message_.clear();
  const uint32_t modules = modules_.Update(host_->settings->clock, &message_);
  if (modules == 0) return;
  RefreshClock(Now());
  WriteTable(ChunkKind::kModules, kModulesField, modules);
}

void Drain::CheckDisk() {
  if (!is_capturing_ || told_disk_ == capture_) return;
  const Settings& settings = *host_->settings;
  const DiskRoom room = LookAtDisk(settings.bundle, settings.keep_free, settings.bundle_limit);
  if (room == DiskRoom::kEnough) return;
  told_disk_ = capture_;
  host_->say(
      room == DiskRoom::kKeepFree
          ? "the disk of the bundle is nearly full, so the capture ends here: free some room, "
            "or name another disk with -o (--keep-free)"
          : "the bundle has reached its limit, so the capture ends here (--bundle-limit)");
  host_->request_stop();
}

void Drain::WriteTables(bool all) {
  proto::RingFileHeader* file = host_->ring_file;
  CheckDisk();
  CloseDeadThreads();
  WriteTitle();
  for (const char* framework :
       {TorchFramework(), host_->tensorflow->framework.load(std::memory_order_acquire),
        jax::Framework()})
    if (framework != nullptr) AddFramework(framework);
  WriteInternTables();
  message_.clear();
  AppendClockSnapshot(host_->settings->clock, &message_);
  WriteTable(ChunkKind::kClocks, kClocksField, 1);
  file->latest_ticks = Now();
  file->latest_monotonic_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  file->latest_realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  UpdateModules();
  message_.clear();
  if (const uint32_t threads = threads_.Append(*host_, Now(), all, &message_); threads != 0) {
    WriteTable(ChunkKind::kThreads, kThreadsField, threads);
  }
  WriteHealth();
}

void Drain::AddFramework(const char* framework) {
  for (const char*& told : frameworks_) {
    if (told == framework) return;
    if (told != nullptr) continue;
    told = framework;
    break;
  }
  message_.clear();
  AppendFramework(framework, &message_);
  WriteTable(ChunkKind::kMeta, kMetaField, 1);
}

}  // namespace gpuprof::tracer
