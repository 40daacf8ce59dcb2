// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/ranges.h"
#include "inject/own_room.h"

#include <sys/mman.h>

#include <atomic>

#include "inject/ranges/named.h"
#include "inject/ranges/payloads.h"
#include "inject/ranges/started.h"
#include "inject/raw_syscall.h"
#include "inject/recorder.h"

namespace gpuprof::inject::ranges {
namespace {

using proto::RangeKind;
using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

constexpr uint32_t kMostOpen = 128;
// What a started range is called that found no room: its end is then no surprise.
constexpr uint64_t kRefused = uint64_t{1} << 63;

struct Pushed {
  uint64_t start;
  Text* domain;
  uint32_t name;       // string id
  uint32_t domain_id;  // string id
  uint64_t style;
  uint64_t payload;
  uint32_t payload_type;
  uint32_t depth;
};

// A thread's own part: whoever owns ring i owns threads[i].
struct ThreadRanges {
  uint32_t count;
  uint32_t refused;  // pushes beyond kMostOpen whose pops are still to come
  Pushed open[kMostOpen];
  proto::NameCache names;
};

// The kernel wipes it in forked children.
struct Ranges {
  StartedRanges started;
  ThreadRanges threads[proto::kMaxRings];
};
std::atomic<Ranges*> g_ranges{nullptr};
std::atomic<uint64_t> g_next_id{1};

// Rings, and in a forked child their addresses too, are used again: whose a state is, is one
// number.
struct Owned {
  uint64_t owner;
  ThreadRanges* ranges;
};
__thread Owned t_ranges __attribute__((tls_model("initial-exec")));

// In the ring file, where the counts outlive the process. Without one nothing is recorded either.
void CountUp(std::atomic<uint64_t> proto::RingFileHeader::*counter, uint64_t count = 1) {
  proto::RingFileHeader* file = g_process.ring_file;
  if (file != nullptr) (file->*counter).fetch_add(count, std::memory_order_relaxed);
}

uint32_t CaptureNumber() {
  return g_process.generation.load(std::memory_order_relaxed) << 16 |
         (g_process.captures.load(std::memory_order_relaxed) & 0xffff);
}

// Null: there is no place for this ring.
[[gnu::noinline, gnu::cold]] ThreadRanges* TakeOver(RingHeader* ring, uint64_t owner) {
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  const uint32_t count = g_process.ring_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; ranges != nullptr && i < count && i < proto::kMaxRings; ++i) {
    if (__atomic_load_n(&g_rings[i], __ATOMIC_ACQUIRE) != ring) continue;
    ThreadRanges* own = &ranges->threads[i];
    own->count = own->refused = 0;
    __builtin_memset(static_cast<void*>(&own->names), 0, sizeof(own->names));
    ring->open_ranges.store(0, std::memory_order_relaxed);
    t_ranges = {owner, own};
    return own;
  }
  return nullptr;
}

void Write(RingHeader* ring, uint64_t end, uint64_t duration, uint16_t detail, uint64_t a,
           uint64_t b, uint64_t style, uint64_t payload, uint8_t flags = 0) {
  Record group[3];
  uint32_t records = 0;
  const auto prefix = [&](RecordKind kind, uint64_t first, uint64_t second) {
    group[records++] = {end, 0, static_cast<uint8_t>(kind), 0, 0, first, second};
  };
  if (style != 0 || payload != 0) prefix(RecordKind::kRangeAttributes, style, payload);
  if (duration >= proto::kLongDuration) {
    prefix(RecordKind::kDuration, 0, duration);
    duration = proto::kLongDuration;
  }
  group[records++] = {end,
                      static_cast<uint32_t>(duration),
                      static_cast<uint8_t>(RecordKind::kRange),
                      flags,
                      detail,
                      a,
                      b};
  ring->last_time = end;
  proto::RingWriteGroup(ring, group, records, 1, WakeDrain());
}

uint16_t Detail(RangeKind kind, uint32_t payload_type) {
  return static_cast<uint16_t>(static_cast<uint32_t>(kind) | payload_type << 4);
}

uint64_t Names(uint32_t name, uint32_t domain) { return uint64_t{domain} << 32 | name; }

// What the dead leave: the ring's copy of the stack from `place` on.
void Mirror(RingHeader* ring, const ThreadRanges& own, uint32_t place) {
  for (; place < own.count && place < proto::kMaxOpenRanges; ++place) {
    const Pushed& open = own.open[place];
    ring->open_range[place] = {open.start, open.name, open.domain_id, open.depth, 0};
  }
}

// The place of the innermost open range of the domain; `count`: there is none.
uint32_t Innermost(const ThreadRanges& own, const Text* domain) {
  for (uint32_t i = own.count; i-- > 0;) {
    if (own.open[i].domain == domain) return i;
  }
  return own.count;
}

// `now`: of the call, where the clock was read already, else 0. Names are told before the call's
// own row, and are no later than it.
ThreadRanges* RangesOf(RingHeader* ring, uint64_t now = 0) {
  const uint64_t owner = uint64_t{CaptureNumber()} << 32 | ring->track;
  if (__builtin_expect(t_ranges.owner == owner, 1)) return t_ranges.ranges;
  ThreadRanges* own = TakeOver(ring, owner);
  if (own == nullptr) return nullptr;
  TellNames(CaptureNumber(), ring, now != 0 ? now : proto::ReadTicks(g_process.clock));
  return own;
}

[[gnu::noinline]] uint64_t PutPayloads(RingHeader* ring, const Payloads& payloads,
                                       PayloadPlace place, uint64_t time) {
  place.capture = CaptureNumber();
  return WritePayloads(ring, payloads, place, time);
}

// Returns the moment at which the event's range begins.
uint64_t Begin(const Recorder& recorder, const Event& event, const PayloadPlace& place) {
  if (__builtin_expect(event.payloads == nullptr, 1)) return recorder.Now();
  return PutPayloads(recorder.ring(), *event.payloads, place, 0);
}

void WriteStarted(RingHeader* ring, const StartedRange& range, uint64_t end, uint8_t flags) {
  const uint32_t begun_by = range.tid == ring->tid ? 0 : static_cast<uint32_t>(range.tid);
  // Clocks of two processors may differ by a little.
  const uint64_t start = range.start < end ? range.start : end;
  Write(ring, end, end - start, Detail(RangeKind::kStartEnd, range.payload_type),
        Names(range.name, range.domain), begun_by, range.style, range.payload, flags);
}

void WriteNameTo(RingHeader* ring, uint64_t now, const Named& named, uint8_t flags) {
  const uint32_t name_id = IdOf(ring, named.name);
  const auto type = static_cast<uint32_t>(proto::NvtxPayload::kUint64);
  Write(ring, now, 0, Detail(named.kind, type), Names(name_id, IdOf(ring, named.domain)), 0, 0,
        named.number, flags);
}

}  // namespace

bool PrepareRanges() noexcept {
  if (!PrepareMessages()) return false;
  if (g_ranges.load(std::memory_order_acquire) != nullptr) return true;
  void* mapped = MapPages(sizeof(Ranges), MAP_NORESERVE);
  if (mapped == nullptr) return false;
  raw::Call(SYS_madvise, raw::Arg(mapped), sizeof(Ranges), MADV_WIPEONFORK);
  Ranges* none = nullptr;
  if (!g_ranges.compare_exchange_strong(none, static_cast<Ranges*>(mapped)))
    UnmapPages(mapped, sizeof(Ranges));
  return true;
}

int Push(const Event& event) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active()) return kNoTracking;
  RingHeader* ring = recorder.ring();
  ThreadRanges* own = RangesOf(ring);
  if (own == nullptr) return kNoTracking;
  if (__builtin_expect(own->count == kMostOpen, 0)) {
    ++own->refused;
    CountUp(&proto::RingFileHeader::ranges_refused);
    return kNoTracking;
  }
  const uint32_t around = Innermost(*own, event.domain);
  Pushed& open = own->open[own->count];
  open.depth = around == own->count ? 0 : own->open[around].depth + 1;
  open.domain = event.domain;
  // Named at the begin: the text may be gone at the end.
  open.name = IdOf(ring, &own->names, event.message);
  open.domain_id = IdOf(ring, event.domain);
  open.style = event.style;
  open.payload = event.payload;
  open.payload_type = event.payload_type;
  const uint32_t depth = open.depth;
  // Last, so that our own work is outside of the range.
  open.start = Begin(recorder, event, {RangeKind::kPushPop, false, depth, open.domain_id});
  ++own->count;
  Mirror(ring, *own, own->count - 1);
  ring->open_ranges.store(own->count, std::memory_order_release);
  return static_cast<int>(depth);
}

int Pop(Text* domain, const Payloads* more) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active()) return kNoTracking;
  const uint64_t end = recorder.Now();  // first, so that our own work is outside of the range
  RingHeader* ring = recorder.ring();
  ThreadRanges* own = RangesOf(ring, end);
  if (own == nullptr) return kNoTracking;
  if (__builtin_expect(own->refused != 0, 0)) {
    --own->refused;
    return kNoTracking;
  }
  const uint32_t place = Innermost(*own, domain);
  if (place == own->count) {
    CountUp(&proto::RingFileHeader::ranges_unpaired);
    return kNoTracking;
  }
  const Pushed range = own->open[place];
  if (__builtin_expect(more != nullptr, 0))
    PutPayloads(ring, *more, {RangeKind::kPushPop, true, range.depth, range.domain_id}, end);
  // First closed, then told: a death in between loses the range, and never doubles it.
  --own->count;
  for (uint32_t i = place; i < own->count; ++i) own->open[i] = own->open[i + 1];
  Mirror(ring, *own, place);
  ring->open_ranges.store(own->count, std::memory_order_release);
  Write(ring, end, end - range.start, Detail(RangeKind::kPushPop, range.payload_type),
        Names(range.name, range.domain_id), uint64_t{range.depth} << 32, range.style,
        range.payload);
  return static_cast<int>(range.depth);
}

bool IsStarted(uint64_t id) noexcept {
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  return ranges != nullptr && ranges->started.Has(id, CaptureNumber());
}

uint64_t Start(const Event& event, uint64_t id) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active()) return id;
  RingHeader* ring = recorder.ring();
  ThreadRanges* own = RangesOf(ring);
  if (own == nullptr) return id;
  if (id == 0) id = g_next_id.fetch_add(1, std::memory_order_relaxed);
  StartedRange range;
  range.name = IdOf(ring, &own->names, event.message);
  range.domain = IdOf(ring, event.domain);
  range.style = event.style;
  range.payload = event.payload;
  range.payload_type = event.payload_type;
  range.capture = CaptureNumber();
  range.tid = ring->tid;
  range.start = Begin(recorder, event, {RangeKind::kStartEnd, false, 0, range.domain});
  if (g_ranges.load(std::memory_order_acquire)->started.Add(id, range)) return id;
  CountUp(&proto::RingFileHeader::ranges_refused);
  return kRefused;
}

void End(uint64_t id, const Payloads* more) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active() || id == kRefused) return;
  const uint64_t end = recorder.Now();
  RingHeader* ring = recorder.ring();
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  StartedRange range;
  if (ranges == nullptr || RangesOf(ring, end) == nullptr) return;
  range.capture = 0;
  if (!ranges->started.Take(id, CaptureNumber(), &range)) {
    // One that an earlier capture left open was counted then.
    if (range.capture == 0) CountUp(&proto::RingFileHeader::ranges_unpaired);
    return;
  }
  if (__builtin_expect(more != nullptr, 0))
    PutPayloads(ring, *more, {RangeKind::kStartEnd, true, 0, range.domain}, end);
  WriteStarted(ring, range, end, 0);
}

[[gnu::cold]] void EndStarted() noexcept {
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  if (ranges == nullptr) return;
  Recorder recorder(kSources);
  if (!recorder.active()) return;
  const uint64_t end = recorder.Now();
  StartedRange range;
  for (uint32_t place = 0; ranges->started.TakeNext(&place, CaptureNumber(), &range);)
    WriteStarted(recorder.ring(), range, end, proto::kFlagIncomplete);
}

[[gnu::cold]] void CountStarted() noexcept {
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  if (ranges == nullptr) return;
  uint64_t count = 0;
  for (uint32_t place = 0; ranges->started.TakeNext(&place, CaptureNumber(), nullptr);) ++count;
  if (count != 0) CountUp(&proto::RingFileHeader::ranges_refused, count);
}

void Mark(const Event& event) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active()) return;
  const uint64_t now = recorder.Now();
  RingHeader* ring = recorder.ring();
  ThreadRanges* own = RangesOf(ring, now);
  if (own == nullptr) return;
  const uint32_t name = IdOf(ring, &own->names, event.message);
  const uint32_t domain = IdOf(ring, event.domain);
  if (__builtin_expect(event.payloads != nullptr, 0))
    PutPayloads(ring, *event.payloads, {RangeKind::kMark, false, 0, domain}, now);
  Write(ring, now, 0, Detail(RangeKind::kMark, event.payload_type), Names(name, domain), 0,
        event.style, event.payload);
}

void WriteName(RangeKind kind, Text* domain, uint64_t number, Text* name) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active() || RangesOf(recorder.ring()) == nullptr) return;
  WriteNameTo(recorder.ring(), recorder.Now(), {kind, domain, number, name}, 0);
}

void WriteNamed(RingHeader* ring, uint64_t now, const Named& named) noexcept {
  WriteNameTo(ring, now, named, proto::kFlagEarlier);
}

void CountNameLost() noexcept { CountUp(&proto::RingFileHeader::range_names_lost); }

void CountValuesLost(uint64_t count) noexcept {
  CountUp(&proto::RingFileHeader::range_values_lost, count);
}

void BeginCapture() noexcept {
  const uint32_t count = g_process.ring_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    RingHeader* ring = __atomic_load_n(&g_rings[i], __ATOMIC_ACQUIRE);
    if (ring != nullptr) ring->open_ranges.store(0, std::memory_order_relaxed);
  }
}

void BeginFile() noexcept { MessagesBeginFile(); }

}  // namespace gpuprof::inject::ranges
