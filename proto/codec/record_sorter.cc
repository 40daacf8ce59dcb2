// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records in, rows out. Hot path of the drain thread; also recovery's way of reading a dead
// process's ring. Trusts no field: positions are masked, sizes bounded, and a range that stops
// making sense is given up and counted rather than guessed at.

#include "proto/codec/record_sorter.h"

#include <array>
#include <cstring>
#include <string_view>

#include "proto/codec/value_list.h"

namespace gpuprof::codec {

using proto::ChunkKind;
using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

struct RecordSorter::Range {
  const Record* records;
  uint64_t mask;
  uint64_t end;

  const Record& at(uint64_t position) const { return records[position & mask]; }

  // Copies the payload behind `position`; `to` has room for whole slots.
  void CopyPayload(uint64_t position, uint64_t slots, void* to) const {
    char* out = static_cast<char*>(to);
    for (uint64_t i = 1; i <= slots; ++i, out += proto::kRecordBytes) {
      std::memcpy(out, &at(position + i), proto::kRecordBytes);
    }
  }
};

namespace {

// What interning returns when its table is full: each time anew, as it counts.
constexpr uint32_t kOverflowId = 1;
constexpr uint32_t kMostDepth = 0xffff;  // what op.operation has room for

// The table that a record's row goes to, by record kind; kMeta: it makes no row.
constexpr std::array<ChunkKind, 256> MakeRowKinds() {
  std::array<ChunkKind, 256> kinds{};
  kinds.fill(ChunkKind::kMeta);
  const auto set = [&kinds](RecordKind record, ChunkKind kind) {
    kinds[static_cast<size_t>(record)] = kind;
  };
  set(RecordKind::kHeapAlloc, ChunkKind::kHeap);
  set(RecordKind::kHeapFree, ChunkKind::kHeap);
  set(RecordKind::kWait, ChunkKind::kWait);
  set(RecordKind::kOp, ChunkKind::kOp);
  set(RecordKind::kTensor, ChunkKind::kTensor);
  set(RecordKind::kThread, ChunkKind::kThreadEvent);
  set(RecordKind::kProcess, ChunkKind::kProcessEvent);
  set(RecordKind::kMapping, ChunkKind::kMapping);
  set(RecordKind::kRange, ChunkKind::kRange);
  set(RecordKind::kLaunch, ChunkKind::kLaunch);
  set(RecordKind::kFileRead, ChunkKind::kFileRead);
  set(RecordKind::kSample, ChunkKind::kSample);
  set(RecordKind::kPythonCall, ChunkKind::kPython);
  set(RecordKind::kGcPause, ChunkKind::kGcPause);
  return kinds;
}
constexpr std::array<ChunkKind, 256> kRowKinds = MakeRowKinds();

bool IsSaneCapacity(uint32_t capacity) {
  return capacity != 0 && (capacity & (capacity - 1)) == 0 &&
         capacity <= proto::kMaxRingBytes / proto::kRecordBytes;
}

// Of waits and mappings.
uint64_t Operation(uint32_t kind, uint8_t flags) { return (kind & 0xff) | uint64_t{flags} << 8; }

uint64_t OpOperation(uint32_t scope, uint8_t flags, uint64_t depth) {
  return (scope & 0xff) | uint64_t{flags} << 8 | (depth < kMostDepth ? depth : kMostDepth) << 16;
}

}  // namespace

RecordSorter::RecordSorter(uint32_t track, uint32_t time_shift, Interner* interner)
    : track_(track), time_shift_(time_shift), interner_(interner) {}

RecordSorter::~RecordSorter() = default;

ChunkBuilder* RecordSorter::MakeBuilder(ChunkKind kind) {
  builders_.push_back(std::make_unique<ChunkBuilder>(kind, track_, time_shift_));
  return by_kind_[proto::RingKindIndex(kind)] = builders_.back().get();
}

void RecordSorter::DropBuilders() {
  builders_.clear();
  for (ChunkBuilder*& builder : by_kind_) builder = nullptr;
}

bool RecordSorter::full() const {
  for (const auto& builder : builders_) {
    if (builder->count() >= proto::kRowsPerChunk) return true;
  }
  return false;
}

uint64_t RecordSorter::memory_bytes() const {
  uint64_t bytes = sizeof(*this);
  for (const auto& builder : builders_) bytes += builder->memory_bytes();
  return bytes;
}

// True: the builder is full.
inline bool RecordSorter::Row(ChunkKind kind, std::span<const uint64_t> row, uint64_t start) {
  ChunkBuilder* builder = by_kind_[proto::RingKindIndex(kind)];
  if (__builtin_expect(builder == nullptr, 0)) builder = MakeBuilder(kind);
  builder->Append(row, start);
  if (__builtin_expect(dropped_ != 0, 0)) {
    builder->AddDropped(dropped_);
    dropped_ = 0;
  }
  ++rows_;
  return builder->count() >= proto::kRowsPerChunk;
}

inline void RecordSorter::EndEvent() {
  has_stack_ = has_duration_ = false;
  text_bytes_ = 0;
  owner_ = 0;
  total_allocated_ = total_reserved_ = 0;
  range_style_ = range_payload_ = 0;
}

inline uint64_t RecordSorter::DurationOf(const Record& record) {
  if (__builtin_expect(record.duration != proto::kLongDuration, 1)) return record.duration;
  return has_duration_ ? long_duration_ : proto::kLongDuration;
}

// Frames that are not known are the outermost ones: the stack ends before them.
inline uint32_t RecordSorter::StackId() {
  if (!has_stack_) return 0;
  if (last_stack_id_ > kOverflowId) return last_stack_id_;
  uint32_t frames = 0;
  while (frames < last_stack_frames_ && last_stack_[frames] != 0) ++frames;
  const uint32_t id = interner_->InternStack(last_stack_, frames);
  if (frames < last_stack_frames_) {
    ++cut_stacks_;
  } else {
    last_stack_id_ = id;
  }
  return id;
}

// True: the builder is full.
inline bool RecordSorter::Event(const Record& record, ChunkKind kind) {
  const uint64_t time = record.time;
  const uint32_t detail = record.detail;
  switch (static_cast<RecordKind>(record.kind)) {
    case RecordKind::kHeapAlloc:
    case RecordKind::kHeapFree: {
      const bool is_free = record.kind == static_cast<uint8_t>(RecordKind::kHeapFree);
      const uint8_t function = static_cast<uint8_t>(detail & 0x7f);
      const uint64_t row[] = {time, proto::HeapOperation(is_free, function, record.flags), record.a,
                              is_free ? 0 : record.b, is_free ? 0 : StackId()};
      return Row(kind, row, time);
    }
    case RecordKind::kWait: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {
          time, duration, Operation(detail, record.flags), record.a, record.b, StackId(), owner_};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kOp: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {time, duration, record.a,
                              OpOperation(detail, record.flags, proto::OpDepthOfPlace(record.b)),
                              proto::OpSequenceOfPlace(record.b)};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kTensor: {
      const uint64_t row[] = {time, detail, record.a, record.b, total_allocated_, total_reserved_};
      return Row(kind, row, time);
    }
    case RecordKind::kMapping: {
      const uint64_t row[] = {time, Operation(detail, record.flags), record.a, record.b, StackId()};
      return Row(kind, row, time);
    }
    case RecordKind::kRange: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {time,
                              duration,
                              static_cast<uint32_t>(record.a),
                              OpOperation(detail, record.flags, record.b >> 32),
                              record.a >> 32,
                              range_style_,
                              range_payload_,
                              static_cast<uint32_t>(record.b)};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kLaunch: {
      const uint64_t row[] = {time, record.a, record.b, StackId()};
      return Row(kind, row, time);
    }
    case RecordKind::kFileRead: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {time, duration, static_cast<uint32_t>(record.a), record.b,
                              record.a >> 32};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kSample: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {time,   duration,  static_cast<uint32_t>(record.a),
                              detail, StackId(), record.a >> 32};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kPythonCall: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {time, duration, static_cast<uint32_t>(record.a),       0,
                              0,    0,        OpOperation(0, record.flags, record.b)};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kGcPause: {
      const uint64_t duration = DurationOf(record);
      const uint64_t row[] = {time, duration, detail, record.a, record.b};
      return Row(kind, row, time - duration);
    }
    case RecordKind::kThread: {
      const uint64_t row[] = {time, detail, record.a, record.b};
      return Row(kind, row, time);
    }
    default: {
      const uint64_t text = text_bytes_ != 0 ? interner_->InternText(payload_, text_bytes_) : 0;
      const uint64_t row[] = {time, detail, record.a, record.b, text};
      return Row(kind, row, time);
    }
  }
}

// `pcs` are the frames that differ; the outermost record.a frames are those of the stack before.
bool RecordSorter::TakeStack(const Record& record, uint64_t end, const void* pcs) {
  const uint64_t frames = record.detail;
  const uint64_t shared = record.a;
  if (record.b != frames * sizeof(uint64_t) || shared > proto::kMaxStackFrames ||
      frames + shared > proto::kMaxStackFrames) {
    return false;
  }
  if ((record.flags & proto::kFlagAhead) == 0) has_stack_ = true;
  last_stack_end_ = end;
  if (frames == 0 && shared == last_stack_frames_) return true;  // the same again
  last_stack_id_ = 0;
  if (shared <= last_stack_frames_) {
    std::memmove(last_stack_ + frames, last_stack_ + last_stack_frames_ - shared,
                 shared * sizeof(uint64_t));
  } else {
    std::memset(last_stack_ + frames, 0, shared * sizeof(uint64_t));
  }
  std::memcpy(last_stack_, pcs, frames * sizeof(uint64_t));
  last_stack_frames_ = static_cast<uint32_t>(frames + shared);
  return true;
}

// Makes a row of an extended payload's record, and a row of each 8 bytes behind the record. Adds
// the payload to `slots`. False: nonsense.
bool RecordSorter::Payload(const Record& record, const Range& range, uint64_t position,
                           const uint64_t* skip_until, uint64_t* slots) {
  if (record.b > proto::kMaxPayloadBytes) return false;
  const uint64_t payload_slots = proto::PayloadSlots(record.b);
  if (payload_slots >= range.end - position) return false;
  *slots += payload_slots;
  if (record.time > last_time_) last_time_ = record.time;
  constexpr ChunkKind kKind = ChunkKind::kRangePayload;
  if (skip_until != nullptr && position + *slots <= skip_until[proto::RingKindIndex(kKind)]) {
    dropped_ = 0;  // the file has these rows, and the count with them
    return true;
  }
  uint64_t words[proto::kMaxPayloadBytes / sizeof(uint64_t)];
  range.CopyPayload(position, payload_slots, words);
  const uint64_t depth = record.duration < kMostDepth ? record.duration : kMostDepth;
  const uint64_t row[] = {record.time, record.detail | depth << 16, record.a >> 32,
                          static_cast<uint32_t>(record.a), record.b};
  Row(kKind, row, record.time);
  for (uint64_t i = 0; i < (record.b + 7) / 8; ++i) {
    const uint64_t word[] = {record.time, 0, 0, 0, words[i]};
    Row(kKind, word, record.time);
  }
  return true;
}

// Makes a row of each value that an op says of itself.
bool RecordSorter::Values(const Record& record, const Range& range, uint64_t position,
                          const uint64_t* skip_until, uint64_t* slots) {
  if (record.b > proto::kMaxPayloadBytes) return false;
  const uint64_t payload_slots = proto::PayloadSlots(record.b);
  if (payload_slots >= range.end - position) return false;
  *slots += payload_slots;
  if (record.time > last_time_) last_time_ = record.time;
  constexpr ChunkKind kKind = ChunkKind::kOpValue;
  if (skip_until != nullptr && position + *slots <= skip_until[proto::RingKindIndex(kKind)]) {
    dropped_ = 0;  // the file has these rows, and the count with them
    return true;
  }
  char text[proto::kMaxPayloadBytes];
  range.CopyPayload(position, payload_slots, text);
  const auto id = [this](std::string_view part) -> uint64_t {
    return interner_->InternText(part.data(), static_cast<uint32_t>(part.size()));
  };
  std::string_view list(text, record.b), key, value;
  while (TakeValue(&list, &key, &value)) {
    int64_t number = 0;
    const bool is_number = IsWholeNumber(value, &number);
    const uint64_t row[] = {record.time, id(key),
                            is_number ? static_cast<uint64_t>(number) : uint64_t{0},
                            is_number ? uint64_t{0} : id(value)};
    Row(kKind, row, record.time);
  }
  return true;
}

// Makes rows of a record that stands for many. Adds its payload to `slots`. False: nonsense.
bool RecordSorter::Rows(const Record& record, const Range& range, uint64_t position,
                        const uint64_t* skip_until, uint64_t* slots) {
  return static_cast<RecordKind>(record.kind) == RecordKind::kOpValues
             ? Values(record, range, position, skip_until, slots)
             : Payload(record, range, position, skip_until, slots);
}

// Records that are not events. Adds the payload to `slots`. False: nonsense.
bool RecordSorter::Prefix(const Record& record, const Range& range, uint64_t position,
                          uint64_t* slots) {
  const RecordKind kind = static_cast<RecordKind>(record.kind);
  alignas(uint64_t) char payload[proto::kMaxPayloadBytes];
  if (proto::HasPayload(kind)) {
    if (record.b > proto::kMaxPayloadBytes) return false;
    const uint32_t payload_slots = proto::PayloadSlots(record.b);
    if (payload_slots >= range.end - position) return false;
    range.CopyPayload(position, payload_slots, payload);
    *slots += payload_slots;
  }
  const uint32_t bytes = static_cast<uint32_t>(record.b);
  switch (kind) {
    case RecordKind::kStack:
      return TakeStack(record, position + *slots, payload);
    case RecordKind::kText:
      std::memcpy(payload_, payload, bytes);
      text_bytes_ = bytes;
      return true;
    case RecordKind::kString:
      if (record.a > UINT32_MAX) return false;
      interner_->DefineString(static_cast<uint32_t>(record.a), payload, bytes);
      return true;
    case RecordKind::kDuration:
      long_duration_ = record.b;
      has_duration_ = true;
      return true;
    case RecordKind::kWaitOwner:
      owner_ = record.a;
      return true;
    case RecordKind::kRangeAttributes:
      range_style_ = record.a;
      range_payload_ = record.b;
      return true;
    case RecordKind::kTensorTotals:
      total_allocated_ = record.a;
      total_reserved_ = record.b;
      return true;
    case RecordKind::kDropped:
      dropped_ += record.a;
      return true;
    default:
      return false;
  }
}

uint64_t RecordSorter::Consume(const RingHeader* ring, uint64_t position, uint64_t end,
                               const uint64_t* skip_until, uint64_t enough) {
  const uint32_t capacity = ring->capacity;
  if (position >= end) return end;
  if (!IsSaneCapacity(capacity) || end - position > capacity) {
    corrupt_ += end - position;
    return end;
  }
  const Range range{proto::RingRecords(ring), capacity - 1, end};
  if (!has_prefix() && full()) return position;
  while (position < end) {
    const Record record = range.at(position);
    const ChunkKind kind = kRowKinds[record.kind];
    uint64_t slots = 1;
    if (__builtin_expect(kind == ChunkKind::kMeta, 0)) {
      const bool is_payload = record.kind == static_cast<uint8_t>(RecordKind::kRangePayload) ||
                              record.kind == static_cast<uint8_t>(RecordKind::kOpValues);
      if (!(is_payload ? Rows(record, range, position, skip_until, &slots)
                       : Prefix(record, range, position, &slots))) {
        corrupt_ += end - position;
        EndEvent();
        return end;
      }
      position += slots;
      if (!is_payload) continue;
      EndEvent();
      if (full() || position >= enough) break;
      continue;
    }
    ++position;
    if (record.time > last_time_) last_time_ = record.time;
    if (skip_until != nullptr && position <= skip_until[proto::RingKindIndex(kind)]) {
      dropped_ = 0;  // told with this row, which is in the file
      EndEvent();
      continue;
    }
    const bool is_full = Event(record, kind);
    EndEvent();
    if (__builtin_expect(is_full || position >= enough, 0)) break;
  }
  return position;
}

void RecordSorter::Release(RingHeader* ring, uint64_t position) {
  if (ring->tail.load(std::memory_order_relaxed) == position) return;
  proto::RingStack& freed = ring->freed_stack;
  // Death between these lines leaves a position that is not the tail: recovery then knows no stack,
  // and says so.
  freed.position = ~uint64_t{0};
  std::atomic_signal_fence(std::memory_order_seq_cst);
  freed.written_at = last_stack_end_;
  freed.frames = last_stack_frames_;
  std::memcpy(freed.pc, last_stack_, last_stack_frames_ * sizeof(uint64_t));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  freed.position = position;
  ring->tail.store(position, std::memory_order_release);
}

void RecordSorter::Resume(const RingHeader* ring) {
  const proto::RingStack& freed = ring->freed_stack;
  last_stack_frames_ = last_stack_id_ = 0;
  last_stack_end_ = 0;
  if (freed.position != ring->tail.load(std::memory_order_relaxed)) return;
  if (freed.frames > proto::kMaxStackFrames) return;
  last_stack_frames_ = static_cast<uint32_t>(freed.frames);
  last_stack_end_ = freed.written_at;
  std::memcpy(last_stack_, freed.pc, last_stack_frames_ * sizeof(uint64_t));
}

void RecordSorter::TakeStackOf(const RecordSorter& other) {
  last_stack_frames_ = other.last_stack_frames_;
  last_stack_end_ = other.last_stack_end_;
  last_stack_id_ = other.last_stack_id_;
  std::memcpy(last_stack_, other.last_stack_, last_stack_frames_ * sizeof(uint64_t));
}

void RecordSorter::AddOpenRanges(const RingHeader* ring, uint64_t now) {
  uint32_t left = ring->open_ranges.load(std::memory_order_acquire);
  if (left > proto::kMaxOpenRanges) left = proto::kMaxOpenRanges;
  while (left-- > 0) {
    const proto::OpenRange open = ring->open_range[left];
    if (open.start == 0 || open.start > now) continue;
    constexpr auto kKind = static_cast<uint32_t>(proto::RangeKind::kPushPop);
    const uint64_t row[] = {now,         now - open.start,
                            open.name,   OpOperation(kKind, proto::kFlagIncomplete, open.depth),
                            open.domain, 0,
                            0,           0};
    Row(ChunkKind::kRange, row, open.start);
  }
}

void RecordSorter::AddOpenCalls(const RingHeader* ring, uint64_t now) {
  uint32_t depth = ring->open_calls.load(std::memory_order_acquire);
  if (depth > proto::kMaxOpenCalls) depth = proto::kMaxOpenCalls;
  while (depth-- > 0) {
    const proto::OpenOp open = ring->open_call[depth];
    const uint64_t end = open.sequence != 0 && open.sequence < now ? open.sequence : now;
    if (open.start == 0 || open.start > end) continue;
    const uint64_t row[] = {
        end, end - open.start, open.name, 0, 0, 0, OpOperation(0, proto::kFlagIncomplete, depth)};
    Row(ChunkKind::kPython, row, open.start);
  }
}

void RecordSorter::AddOpenSpans(const RingHeader* ring, uint64_t now, const uint64_t* skip_until) {
  const auto is_done = [skip_until](ChunkKind kind) {
    return skip_until != nullptr && skip_until[proto::RingKindIndex(kind)] == ~uint64_t{0};
  };
  uint32_t depth = ring->open_ops.load(std::memory_order_acquire);
  if (depth > proto::kMaxOpenOps) depth = proto::kMaxOpenOps;
  if (is_done(ChunkKind::kOp)) depth = 0;
  while (depth-- > 0) {
    const proto::OpenOp open = ring->open_op[depth];
    if (open.start == 0 || open.start > now) continue;
    const uint64_t row[] = {now, now - open.start, open.name,
                            OpOperation(open.scope, proto::kFlagIncomplete, depth), open.sequence};
    Row(ChunkKind::kOp, row, open.start);
  }
  if (!is_done(ChunkKind::kRange)) AddOpenRanges(ring, now);
  if (!is_done(ChunkKind::kPython)) AddOpenCalls(ring, now);
  const uint64_t start = ring->open_wait_start.load(std::memory_order_acquire);
  if (start == 0 || start > now || is_done(ChunkKind::kWait)) return;
  const uint32_t kind = ring->open_wait_kind.load(std::memory_order_acquire);
  const uint64_t object = ring->open_wait_object.load(std::memory_order_acquire);
  const uint64_t caller = ring->open_wait_caller.load(std::memory_order_acquire);
  const uint64_t stack = ring->open_wait_stack.load(std::memory_order_acquire);
  const uint64_t owner = ring->open_wait_owner.load(std::memory_order_acquire);
  if (ring->open_wait_start.load(std::memory_order_relaxed) != start) return;  // it just ended
  has_stack_ = stack != 0 && stack == last_stack_end_;
  const auto limited = static_cast<uint8_t>(kind >> 8 & proto::kFlagLimited);
  const auto flags = static_cast<uint8_t>(proto::kFlagIncomplete | limited);
  const uint64_t row[] = {now,       now - start, Operation(kind, flags), object, caller,
                          StackId(), owner};
  Row(ChunkKind::kWait, row, start);
  EndEvent();
}

}  // namespace gpuprof::codec
