// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/ranges.h"

#include <sys/mman.h>

#include <atomic>

#include "inject/ranges/named.h"
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
// Of a thread's open ranges that have values at the same time; those of others are counted.
constexpr uint32_t kMostWithValues = 32;
// What a started range is called that found no room: its end is then no surprise.
constexpr uint64_t kRefused = uint64_t{1} << 63;

struct Pushed {
  uint64_t start;
  Text* domain;
  uint32_t name;       // string id
  uint32_t domain_id;  // string id
  uint64_t style;
  uint64_t payload;
  uint16_t payload_type;
  uint16_t values;  // its place among the thread's, plus 1; 0: it has none
  uint32_t depth;
};

// A thread's own part: whoever owns ring i owns threads[i].
struct ThreadRanges {
  uint32_t count;
  uint32_t refused;  // pushes beyond kMostOpen whose pops are still to come
  Pushed open[kMostOpen];
  proto::NameCache names;
  uint32_t values_used;  // a bit for each of `values`
  KeptValues values[kMostWithValues];
};
static_assert(kMostWithValues == 32);

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
    own->count = own->refused = own->values_used = 0;
    __builtin_memset(static_cast<void*>(&own->names), 0, sizeof(own->names));
    ring->open_ranges.store(0, std::memory_order_relaxed);
    t_ranges = {owner, own};
    return own;
  }
  return nullptr;
}

// Records of the range's values, in front of its own. Returns how many.
[[gnu::noinline]] uint32_t PutValues(const KeptValues& values, const Record& range, Record* group) {
  const auto kind = static_cast<uint32_t>(range.detail) & 0xf;
  const uint64_t domain = range.a >> 32 << 32;
  for (uint32_t i = 0; i < values.count; ++i) {
    const KeptValue& value = values.value[i];
    const uint32_t detail = kind | static_cast<uint32_t>(value.type) << 4 | i << 8;
    group[i] = {range.time,
                static_cast<uint32_t>(range.b >> 32),
                static_cast<uint8_t>(RecordKind::kRangeValue),
                0,
                static_cast<uint16_t>(detail),
                domain | value.name,
                value.bits};
  }
  return values.count;
}

void Write(RingHeader* ring, uint64_t end, uint64_t duration, uint16_t detail, uint64_t a,
           uint64_t b, uint64_t style, uint64_t payload, const KeptValues* values = nullptr,
           uint8_t flags = 0) {
  Record group[kMostValues + 3];
  uint32_t records = 0;
  if (__builtin_expect(values != nullptr, 0))
    records = PutValues(*values, {end, 0, 0, 0, detail, a, b}, group);
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

// Those that find no room are counted.
[[gnu::noinline]] void Keep(RingHeader* ring, const Values& values, KeptValues* kept) {
  for (uint32_t i = 0; i < values.count; ++i) {
    if (kept->count == kMostValues) return CountValuesLost(values.count - i);
    const Value& value = values.value[i];
    const bool is_text = value.type == proto::RangeValue::kText;
    const uint64_t bits = is_text ? IdOf(ring, value.text) : value.bits;
    kept->value[kept->count++] = {bits, IdOf(ring, value.name), value.type};
  }
}

// `place`: of the range's, 0 while it has none.
[[gnu::noinline]] void KeepPushed(RingHeader* ring, ThreadRanges* own, const Values& values,
                                  uint16_t* place) {
  if (values.count == 0) return;
  if (*place == 0) {
    if (~own->values_used == 0) return CountValuesLost(values.count);
    const auto free = static_cast<uint32_t>(__builtin_ctz(~own->values_used));
    own->values_used |= uint32_t{1} << free;
    own->values[free].count = 0;
    *place = static_cast<uint16_t>(free + 1);
  }
  Keep(ring, values, &own->values[*place - 1]);
}

void WriteStarted(RingHeader* ring, const StartedRange& range, uint64_t end, const KeptValues& kept,
                  uint8_t flags) {
  const uint32_t begun_by = range.tid == ring->tid ? 0 : static_cast<uint32_t>(range.tid);
  // Clocks of two processors may differ by a little.
  const uint64_t start = range.start < end ? range.start : end;
  Write(ring, end, end - start, Detail(RangeKind::kStartEnd, range.payload_type),
        Names(range.name, range.domain), begun_by, range.style, range.payload,
        kept.count != 0 ? &kept : nullptr, flags);
}

void WriteNameTo(RingHeader* ring, uint64_t now, const Named& named, uint8_t flags) {
  const uint32_t name_id = IdOf(ring, named.name);
  const auto type = static_cast<uint32_t>(proto::NvtxPayload::kUint64);
  Write(ring, now, 0, Detail(named.kind, type), Names(name_id, IdOf(ring, named.domain)), 0, 0,
        named.number, nullptr, flags);
}

}  // namespace

bool PrepareRanges() noexcept {
  if (!PrepareMessages()) return false;
  if (g_ranges.load(std::memory_order_acquire) != nullptr) return true;
  const long mapped = raw::Call(SYS_mmap, 0, sizeof(Ranges), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw::IsError(mapped)) return false;
  raw::Call(SYS_madvise, mapped, sizeof(Ranges), MADV_WIPEONFORK);
  Ranges* none = nullptr;
  if (!g_ranges.compare_exchange_strong(none, reinterpret_cast<Ranges*>(mapped)))
    raw::Call(SYS_munmap, mapped, sizeof(Ranges));
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
  open.payload_type = static_cast<uint16_t>(event.payload_type);
  open.values = 0;
  // Read at the begin too, and their memory may be gone at the end.
  if (__builtin_expect(event.values != nullptr, 0))
    KeepPushed(ring, own, *event.values, &open.values);
  open.start = recorder.Now();  // last, so that our own work is outside of the range
  const uint32_t depth = open.depth;
  ++own->count;
  Mirror(ring, *own, own->count - 1);
  ring->open_ranges.store(own->count, std::memory_order_release);
  return static_cast<int>(depth);
}

int Pop(Text* domain, const Values* more) noexcept {
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
  if (__builtin_expect(more != nullptr, 0)) KeepPushed(ring, own, *more, &own->open[place].values);
  const Pushed range = own->open[place];
  // First closed, then told: a death in between loses the range, and never doubles it.
  --own->count;
  for (uint32_t i = place; i < own->count; ++i) own->open[i] = own->open[i + 1];
  Mirror(ring, *own, place);
  ring->open_ranges.store(own->count, std::memory_order_release);
  Write(ring, end, end - range.start, Detail(RangeKind::kPushPop, range.payload_type),
        Names(range.name, range.domain_id), uint64_t{range.depth} << 32, range.style, range.payload,
        range.values != 0 ? &own->values[range.values - 1] : nullptr);
  if (__builtin_expect(range.values != 0, 0))
    own->values_used &= ~(uint32_t{1} << (range.values - 1));
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
  KeptValues kept;
  kept.count = 0;
  if (__builtin_expect(event.values != nullptr, 0)) Keep(ring, *event.values, &kept);
  range.values = kept.count;
  range.start = recorder.Now();
  const KeptValue* values = kept.count != 0 ? kept.value : nullptr;
  if (g_ranges.load(std::memory_order_acquire)->started.Add(id, range, values)) return id;
  CountUp(&proto::RingFileHeader::ranges_refused);
  return kRefused;
}

void End(uint64_t id, const Values* more) noexcept {
  Recorder recorder(kSources);
  if (!recorder.active() || id == kRefused) return;
  const uint64_t end = recorder.Now();
  RingHeader* ring = recorder.ring();
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  StartedRange range;
  if (ranges == nullptr || RangesOf(ring, end) == nullptr) return;
  KeptValues kept;
  range.capture = 0;
  if (!ranges->started.Take(id, CaptureNumber(), &range, kept.value)) {
    // One that an earlier capture left open was counted then.
    if (range.capture == 0) CountUp(&proto::RingFileHeader::ranges_unpaired);
    return;
  }
  kept.count = range.values;
  if (__builtin_expect(more != nullptr, 0)) Keep(ring, *more, &kept);
  WriteStarted(ring, range, end, kept, 0);
}

[[gnu::cold]] void EndStarted() noexcept {
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  if (ranges == nullptr) return;
  Recorder recorder(kSources);
  if (!recorder.active()) return;
  const uint64_t end = recorder.Now();
  StartedRange range;
  KeptValues kept;
  for (uint32_t place = 0; ranges->started.TakeNext(&place, CaptureNumber(), &range, kept.value);) {
    kept.count = range.values;
    WriteStarted(recorder.ring(), range, end, kept, proto::kFlagIncomplete);
  }
}

[[gnu::cold]] void CountStarted() noexcept {
  Ranges* ranges = g_ranges.load(std::memory_order_acquire);
  if (ranges == nullptr) return;
  uint64_t count = 0;
  for (uint32_t place = 0; ranges->started.TakeNext(&place, CaptureNumber(), nullptr, nullptr);)
    ++count;
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
  KeptValues kept;
  kept.count = 0;
  if (__builtin_expect(event.values != nullptr, 0)) Keep(ring, *event.values, &kept);
  Write(ring, now, 0, Detail(RangeKind::kMark, event.payload_type),
        Names(name, IdOf(ring, event.domain)), 0, event.style, event.payload,
        kept.count != 0 ? &kept : nullptr);
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
