// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tensorflow/recorder.h"

#include <sys/mman.h>

#include <atomic>

#include "inject/own_room.h"
#include "inject/ranges/started.h"
#include "inject/recorder.h"
#include "inject/tensorflow/level.h"
#include "proto/name_table.h"

namespace gpuprof::inject::tensorflow {
namespace {

using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

// The ids of the heads of names: behind those of ranges (proto/name_table.h).
constexpr uint32_t kFirstMarkName = 0x28000000;
static_assert(kFirstMarkName >= proto::kFirstRangeName + proto::kMostNames);

// This value differs in each mark, in words: it would fill the table of texts.
constexpr char kMemoryWords[] = ",ram_usage_megabytes=";
constexpr char kRootIterator[] = "Iterator::Root";

constinit proto::NameTable g_names{kFirstMarkName};
// Activities that one thread began and perhaps another will end.
ranges::StartedRanges g_started;

// Where the library's clock is on the recorder's, as this thread saw it.
struct Clock {
  uint64_t offset;    // ticks between the end that a mark tells and the moment it was recorded
  uint64_t seen;      // ticks, when that was so
  uint64_t last_end;  // of the thread's mark before
};
__thread Clock t_clock __attribute__((tls_model("initial-exec")));

// What a thread saw of late. A thread that was idle, or is new, goes by this.
std::atomic<uint64_t> g_offset{0}, g_seen{0};

// Ticks of a nanosecond, times 2^kRateShift.
constexpr int kRateShift = 30;
uint64_t g_rate = 0;

uint64_t Ticks(uint64_t ns) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ns) * g_rate >> kRateShift);
}

// Tells other threads, now and then.
void Share(const Clock& clock) {
  constexpr uint64_t kMillisecond = 1'000'000;
  if (clock.seen - g_seen.load(std::memory_order_relaxed) < Ticks(kMillisecond)) return;
  g_offset.store(clock.offset, std::memory_order_relaxed);
  g_seen.store(clock.seen, std::memory_order_release);
}

// Returns the end of a mark in ticks. It is `now` but for the time that the thread was held between
// the mark's last look at the clock and here: the smallest difference of both clocks counts. So
// marks that lie in each other do so in the trace. No two marks of a thread have the same end:
// their values are found by it.
uint64_t EndOf(uint64_t now, int64_t end_ns) {
  // How far the clocks may drift apart, as part of the time that went by.
  constexpr int kDriftShift = 11;
  constexpr uint64_t kSecond = 1'000'000'000, kQuantum = 16;
  const uint64_t offset = now - Ticks(static_cast<uint64_t>(end_ns));
  Clock& clock = t_clock;
  if (const uint64_t seen = g_seen.load(std::memory_order_acquire); seen > clock.seen) {
    clock.offset = g_offset.load(std::memory_order_relaxed);
    clock.seen = seen;
  }
  uint64_t end = now;
  const auto late = static_cast<int64_t>(offset - clock.offset);
  const auto drift = static_cast<int64_t>((now - clock.seen) >> kDriftShift);
  if (late <= drift || late > static_cast<int64_t>(Ticks(kSecond))) {
    clock.offset = offset;  // a better look, or the clock was set
    clock.seen = now;
    Share(clock);
  } else {
    end = now - static_cast<uint64_t>(late);
  }
  const uint64_t least = clock.last_end + Ticks(kQuantum) + 1;
  if (end < least && least <= now + Ticks(kSecond)) end = least;
  return clock.last_end = end;
}

uint32_t CaptureNumber() {
  return g_process.generation.load(std::memory_order_relaxed) << 16 |
         (g_process.captures.load(std::memory_order_relaxed) & 0xffff);
}

void CountUp(std::atomic<uint64_t> proto::RingFileHeader::*counter) {
  proto::RingFileHeader* file = g_process.ring_file;
  if (file != nullptr) (file->*counter).fetch_add(1, std::memory_order_relaxed);
}

// Returns the string id of a head, which is defined in the file by then.
uint32_t NameOf(RingHeader* ring, const char* head, uint32_t bytes, uint64_t now) {
  const uint32_t kept = bytes < proto::kMostNameBytes ? bytes : proto::kMostNameBytes;
  proto::NameTable::Text* text = g_names.Intern(head, kept);
  if (text == nullptr) {
    CountUp(&proto::RingFileHeader::range_names_lost);
    return proto::kNameTableFull;
  }
  const auto defined = g_names.Define(ring, text, now, WakeDrain());
  return defined == proto::NameTable::Defined::kHasNoRoom ? proto::kNameTableFull : text->id;
}

uint32_t WithoutMemoryWords(const NameParts& parts, const char* head) {
  constexpr uint32_t kBytes = sizeof(kRootIterator) - 1;
  if (parts.head_bytes != kBytes || memcmp(head, kRootIterator, kBytes) != 0)
    return parts.value_bytes;
  const void* found =
      memmem(parts.values, parts.value_bytes, kMemoryWords, sizeof(kMemoryWords) - 1);
  if (found == nullptr) return parts.value_bytes;
  return static_cast<uint32_t>(static_cast<const char*>(found) - parts.values);
}

// Writes the values and the operation, both or none.
void Write(RingHeader* ring, uint64_t end, uint64_t duration, uint32_t name, const char* values,
           uint32_t value_bytes) {
  const uint32_t payload = proto::PayloadSlots(value_bytes);
  const uint32_t before = value_bytes != 0 ? 1 + payload : 0;
  const bool is_long = duration >= proto::kLongDuration;
  const uint32_t slots = before + (is_long ? 2 : 1);
  uint64_t at = proto::RingReserve(ring, end, slots, 1, WakeDrain());
  if (at == proto::kNoRoom) return;
  const uint64_t behind = at + slots;
  const auto kind = [](RecordKind record) { return static_cast<uint8_t>(record); };
  if (value_bytes != 0) {
    proto::RingStore(proto::RingSlot(ring, at++),
                     {end, 0, kind(RecordKind::kOpValues), 0, 0, 0, value_bytes});
    for (uint32_t i = 0; i < payload; ++i, ++at) {
      const uint32_t skipped = i * proto::kRecordBytes, left = value_bytes - skipped;
      memcpy(static_cast<void*>(proto::RingSlot(ring, at)), values + skipped,
             left < proto::kRecordBytes ? left : proto::kRecordBytes);
    }
  }
  if (is_long)
    proto::RingStore(proto::RingSlot(ring, at++),
                     {end, 0, kind(RecordKind::kDuration), 0, 0, 0, duration});
  proto::RingStore(
      proto::RingSlot(ring, at),
      {end, is_long ? proto::kLongDuration : static_cast<uint32_t>(duration), kind(RecordKind::kOp),
       0, static_cast<uint16_t>(proto::OpScope::kTraceMe), name, 0});
  if (end > ring->last_time) ring->last_time = end;
  proto::RingPublish(ring, behind);
}

[[gnu::cold]] void BeginActivity(RingHeader* ring, const TraceMe& mark, uint64_t now) {
  const NameParts parts = SplitName(mark.name, mark.name_bytes, 0);
  ranges::StartedRange activity = {};
  activity.start = now;
  activity.name = NameOf(ring, mark.name, parts.head_bytes, now);
  activity.capture = CaptureNumber();
  activity.tid = ring->tid;
  if (!g_started.Add(static_cast<uint64_t>(-mark.end_ns), activity))
    CountUp(&proto::RingFileHeader::ranges_refused);
}

[[gnu::cold]] void EndActivity(RingHeader* ring, const TraceMe& mark, uint64_t now) {
  ranges::StartedRange activity = {};
  if (!g_started.Take(static_cast<uint64_t>(-mark.start_ns), CaptureNumber(), &activity)) {
    // One that an earlier capture left open is none of this capture's.
    if (activity.capture == 0) CountUp(&proto::RingFileHeader::ranges_unpaired);
    return;
  }
  const uint64_t end = EndOf(now, mark.end_ns);
  Write(ring, end, end > activity.start ? end - activity.start : 0, activity.name, nullptr, 0);
}

}  // namespace

bool PrepareRecorder() noexcept {
  if (g_names.ready()) return true;
  void* mapped = MapPages(proto::NameTable::kMemoryBytes, MAP_NORESERVE);
  if (mapped == nullptr) return false;
  constexpr uint64_t kNanoseconds = 1'000'000'000;
  g_rate = (g_settings.ticks_per_second << kRateShift) / kNanoseconds;
  if (!g_names.Use(mapped)) UnmapPages(mapped, proto::NameTable::kMemoryBytes);
  return true;
}

void RecordMark(const TraceMe& mark) noexcept {
  const HookTimer timer;
  Recorder recorder(proto::kSourceOps);
  if (!recorder.active() || !g_names.ready()) return;
  const uint64_t now = recorder.Now();
  RingHeader* ring = recorder.ring();
  if (__builtin_expect(mark.end_ns < 0, 0)) return BeginActivity(ring, mark, now);
  if (__builtin_expect(mark.start_ns < 0, 0)) return EndActivity(ring, mark, now);
  const NameParts parts = SplitName(mark.name, mark.name_bytes, proto::kMaxPayloadBytes);
  const uint32_t value_bytes = parts.values == nullptr ? 0 : WithoutMemoryWords(parts, mark.name);
  if (__builtin_expect(WarmsUp(), 0)) NoteMark(mark.name, parts);
  const uint64_t end = EndOf(now, mark.end_ns);
  const int64_t length = mark.end_ns - mark.start_ns;
  const uint32_t name = NameOf(ring, mark.name, parts.head_bytes, end);
  Write(ring, end, length > 0 ? Ticks(static_cast<uint64_t>(length)) : 0, name, parts.values,
        value_bytes);
}

void BeginFile() noexcept { g_names.BeginFile(); }

}  // namespace gpuprof::inject::tensorflow
