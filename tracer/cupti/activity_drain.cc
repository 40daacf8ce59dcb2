// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/activity_drain.h"

#include <unistd.h>

#include "tracer/base/memory.h"
#include "tracer/cupti/capture.h"

namespace gpuprof::tracer::cupti {
namespace {

using codec::PbWriter;
using proto::ChunkKind;

// Rows that make chunks long enough for zstd, and not too many for the memory.
constexpr uint64_t kManyRows = 65536;
// Entries of graphs that are written although no row waits.
constexpr size_t kManyGraphEntries = 8192;

// Fields of proto::GraphNodes and of proto::GraphModeMark.
constexpr int kGraphMark = 7;
constexpr int kMarkTicks = 1, kMarkMode = 2;

}  // namespace

ActivityDrain::ActivityDrain(const Host* host, codec::InternTables* strings)
    : host_(host), sorter_(strings, this), lives_(host) {
  sorter_.SetCode(Code());
  const uint64_t start_id = host->settings->start_id;
  sorter_.budget().SetSeed(static_cast<uint32_t>(start_id ^ start_id >> 32) ^
                           static_cast<uint32_t>(getpid()));
  sorter_.budget().SetLimit(RateBudget::kCalls, host->settings->gpu_calls_limit);
  sorter_.budget().SetLimit(RateBudget::kNodes, host->settings->gpu_nodes_limit);
}

void ActivityDrain::TakeBuffers() {
  FilledBuffer filled;
  for (const uint64_t before = Buffers()->completed(); Buffers()->Take(&filled, before);)
    Consume(filled);
}

void ActivityDrain::TakeEvents() {
  sorter_.graphs().Consume(GraphQueue());
  sorter_.TakeHandles(StreamQueue());
  sorter_.TakeContexts(ContextQueue());
}

// A graph or a stream was made before the launches that a buffer tells of: so what is known of them
// is taken when the buffer is there already.
void ActivityDrain::Consume(const FilledBuffer& filled) {
  TakeEvents();
  const uint64_t unread = sorter_.counters().unread;
  sorter_.OwnData(OwnsRecordData());
  sorter_.SetEarliest(EarliestWork());
  sorter_.Consume(filled, NextRecord, Names());
  if (sorter_.counters().unread != 0 && unread == 0)
    host_->say("CUPTI cannot read all of its records: GPU activity is missing");
  Buffers()->Return(filled);
}

void ActivityDrain::Pass(uint64_t now, BlockSink* sink) {
  const uint64_t handed_over = HandedOver();
  WriteClocks(sink);  // first, as times are placed by them
  FilledBuffer filled;
  for (const uint64_t before = Buffers()->completed(); Buffers()->Take(&filled, before);) {
    Consume(filled);
    AdaptBudget(sink);
    sorter_.Release(now, host_->settings->ticks_per_second, /*all=*/false, Names());
    if (sorter_.rows() >= kManyRows || MemoryIsShort()) WriteRows(sink);
  }
  sorter_.Release(now, host_->settings->ticks_per_second, /*all=*/false, Names());
  TakeEvents();
  if (sorter_.graphs().waiting() >= kManyGraphEntries) WriteTables(sink);
  if (sorter_.rows() == 0 && !sorter_.has_news()) {
    first_ticks_ = 0;
  } else if (first_ticks_ == 0) {
    first_ticks_ = now;
  } else if (now - first_ticks_ > host_->settings->ticks_per_second) {
    WriteRows(sink);
  }
  NoteWritten(handed_over);
}

void ActivityDrain::NoteWritten(uint64_t handed_over) {
  if (sorter_.rows() == 0 && !sorter_.has_news())
    host_->ring_file->activity_until.store(handed_over, std::memory_order_relaxed);
}

// Those that were chosen before go first, so that few are in buffers of their own.
void ActivityDrain::AdaptBudget(BlockSink* sink) {
  if (!sorter_.budget().WantsChange()) return;
  WriteRows(sink);
  sorter_.budget().Adapt();
}

void ActivityDrain::EndCapture() {
  TakeBuffers();
  sorter_.Release(0, host_->settings->ticks_per_second, /*all=*/true, Names());
}

void ActivityDrain::FlushAll(BlockSink* sink) {
  const uint64_t handed_over = HandedOver();
  WriteClocks(sink);
  TakeBuffers();
  TakeEvents();
  sorter_.graphs().GiveUpMaking();
  WriteRows(sink);
  WriteTables(sink);
  for (const auto& buffer : sorter_.buffers()) buffer->GiveMemoryBack();
  NoteWritten(handed_over);
}

void ActivityDrain::WriteRows(BlockSink* sink) {
  if (TakeCudaHadBegun()) sorter_.NoteCudaHadBegun();
  if (sorter_.rows() == 0 && !sorter_.has_news()) return;
  WriteTables(sink);
  for (const auto& buffer : sorter_.buffers()) {
    if (buffer->count() != 0) {
      codec::ChunkBuilder* const rows = buffer->Encode();
      tables_.is_whole() ? sink->WriteRowBlock(rows) : sink->LoseRowBlock(rows);
      buffer->RowsAreWritten();
      if (MemoryIsShort()) buffer->GiveMemoryBack();
    } else {
      buffer->GiveMemoryBack();
    }
  }
  sorter_.RowsAreWritten();
  first_ticks_ = 0;
}

template <typename Take>
void ActivityDrain::WriteTable(ChunkKind kind, int field, BlockSink* sink, Take take) {
  message_.clear();
  if (const uint32_t entries = take(&message_); entries != 0)
    tables_.Write(kind, field, message_, entries, sink);
}

// What rows refer to comes before them, names first of all.
void ActivityDrain::WriteTables(BlockSink* sink) {
  sink->WriteStringsBlock();
  tables_.WriteKept(sink);
  WriteTable(ChunkKind::kSignatures, codec::chunk_field::kSignatures, sink,
             [this](auto* out) { return sorter_.TakeSignatures(out); });
  WriteTable(ChunkKind::kStreams, codec::chunk_field::kStreams, sink,
             [this](auto* out) { return sorter_.TakeStreams(out); });
  WriteTable(ChunkKind::kDevices, codec::chunk_field::kDevices, sink,
             [this](auto* out) { return sorter_.TakeDevices(Own(), out); });
  WriteTable(ChunkKind::kFunctions, codec::chunk_field::kFunctions, sink,
             [this](auto* out) { return sorter_.TakeFunctions(out); });
  WriteTable(ChunkKind::kGraphNodes, codec::chunk_field::kGraphNodes, sink,
             [this](auto* out) { return TakeGraphs(out); });
  WriteThreads(sink);
}

void ActivityDrain::WriteThreads(BlockSink* sink) {
  WriteTable(ChunkKind::kThreads, codec::chunk_field::kThreads, sink, [this](auto* out) {
    return lives_.TakeMade(proto::ReadTicks(host_->settings->clock), out);
  });
}

uint32_t ActivityDrain::TakeGraphs(std::vector<uint8_t>* out) {
  uint32_t count = sorter_.graphs().Take(*GraphQueue(), out);
  PbWriter writer(out);
  GraphMark mark;
  for (; TakeGraphMark(&mark); ++count) {
    const uint64_t begin = writer.Begin(kGraphMark);
    writer.Fixed64(kMarkTicks, mark.ticks);
    writer.Varint(kMarkMode, static_cast<uint64_t>(mark.mode));
    writer.End(begin);
  }
  return count;
}

void ActivityDrain::WriteClocks(BlockSink* sink) {
  ClockReading reading;
  while (TakeClockReading(&reading)) {
    message_.clear();
    PbWriter writer(&message_);
    const uint64_t mark = writer.Begin(1);
    writer.Fixed64(1, reading.ticks);
    writer.Fixed64(2, reading.monotonic_ns);
    writer.Fixed64(3, reading.realtime_ns);
    writer.Varint(4, reading.bracket_ticks < UINT32_MAX ? reading.bracket_ticks : UINT32_MAX);
    writer.Fixed64(5, reading.raw_ns);
    writer.Fixed64(6, reading.cupti_ns);
    writer.End(mark);
    sink->WriteTableBlock(ChunkKind::kClocks, codec::chunk_field::kClocks, message_, 1);
    reading_ = reading;
  }
}

uint64_t ActivityDrain::TicksOf(uint64_t cupti_ns) const {
  if (reading_.cupti_ns == 0) return proto::ReadTicks(host_->settings->clock);
  const double ticks_per_ns = static_cast<double>(host_->settings->ticks_per_second) / 1e9;
  const auto since = static_cast<double>(static_cast<int64_t>(cupti_ns - reading_.cupti_ns));
  return reading_.ticks + static_cast<uint64_t>(static_cast<int64_t>(since * ticks_per_ns));
}

uint64_t ActivityDrain::CuptiTimeOf(uint64_t ticks) const {
  const double ns_per_tick = 1e9 / static_cast<double>(host_->settings->ticks_per_second);
  const auto since = static_cast<double>(static_cast<int64_t>(ticks - reading_.ticks));
  return reading_.cupti_ns + static_cast<uint64_t>(static_cast<int64_t>(since * ns_per_tick));
}

// By the newest reading, so that the wall clock may be set meanwhile; and far enough before it for
// what readings of two clocks and the device's own are worth.
uint64_t ActivityDrain::EarliestWork() const {
  constexpr uint64_t kSlackNs = 2'000'000;
  const uint64_t earliest = EarliestTicks();
  return reading_.cupti_ns == 0 || earliest == 0 ? 0 : CuptiTimeOf(earliest) - kSlackNs;
}

// A thread with a ring has its events of the GPU's beside the others. Lives begin at ticks, of
// which the newest reading of both clocks makes CUPTI's time.
ThreadTracks::Answer ActivityDrain::TrackAt(uint32_t tid, uint64_t time) {
  const uint64_t now = proto::ReadTicks(host_->settings->clock);
  if (reading_.cupti_ns == 0) return {lives_.Find(tid, now, now).track, 0, 0};
  const auto ns_of = [&](uint64_t ticks) { return ticks == 0 ? 0 : CuptiTimeOf(ticks); };
  const ThreadLife life = lives_.Find(tid, TicksOf(time), now);
  return {life.track, ns_of(life.since), ns_of(life.until)};
}

uint32_t ActivityDrain::TrackOf(uint32_t tid, uint64_t ticks) {
  return lives_.Find(tid, ticks, proto::ReadTicks(host_->settings->clock)).track;
}

uint32_t ActivityDrain::NewTrack() {
  return host_->next_track->fetch_add(1, std::memory_order_relaxed) + 1;
}

// How many there were in a buffer that was not read to its end nobody knows: one at least.
uint64_t ActivityDrain::dropped() const { return Dropped() + sorter_.counters().unread; }

uint64_t ActivityDrain::graph_events_refused() const {
  return GraphQueue()->refused() + sorter_.graphs().refused();
}

uint64_t ActivityDrain::stream_events_refused() const { return StreamQueue()->refused(); }

uint64_t ActivityDrain::context_events_refused() const { return ContextQueue()->refused(); }

uint64_t ActivityDrain::without_times() const {
  return sorter_.counters().without_times + sorter_.counters().unfinished;
}

}  // namespace gpuprof::tracer::cupti
