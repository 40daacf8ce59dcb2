// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python_calls/call_recorder.h"

#include <atomic>

#include "proto/ring.h"
#include "proto/ticks.h"
#include "tracer/base/map_table.h"
#include "tracer/python/frame_names.h"

namespace gpuprof::tracer {
namespace {

using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

// More calls than Python's own limit of recursion permits by default.
constexpr uint32_t kMostOpen = 1200;
// Calls that others have crossed (greenlets): more than these will never end here.
constexpr uint32_t kMostCrossed = 8;

struct Open {
  uint64_t start;
  const void* code;
  uint32_t name;
  uint32_t has_crossed;  // a call that began before it has ended before it
};

// A thread's own part. Whoever owns ring i owns state i.
struct CallThread {
  uint64_t depth;
  uint64_t hidden_at;  // not 0: the open calls have ended for us. By whoever has CPython's lock
  const void* thread;  // CPython's state of it
  uint64_t was_hidden;
  Open open[kMostOpen];
};

// Which observation and which thread a state belongs to is one number: rings are used again.
struct Binding {
  uint64_t owner;
  CallThread* state;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Binding binding = {0, nullptr};

constinit const Host* g_host = nullptr;
constinit CallThread* g_states = nullptr;
const void* (*g_own)() = nullptr;  // CPython's state of the calling thread
constinit std::atomic<uint32_t> g_number{1};
constinit std::atomic<uint64_t> g_too_deep{0}, g_unbegun{0};

void CountUp(std::atomic<uint64_t>* counter) { counter->fetch_add(1, std::memory_order_relaxed); }

// The ring's number is its place in the host's list. Null: nothing can be recorded.
[[gnu::noinline, gnu::cold]] CallThread* TakeState(RingHeader* ring, uint64_t owner) {
  const uint32_t count = g_host->ring_count->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    if (__atomic_load_n(&g_host->rings[i], __ATOMIC_ACQUIRE) != ring) continue;
    CallThread* const state = &g_states[i];
    state->depth = 0;
    state->hidden_at = 0;
    state->was_hidden = 0;
    state->thread = g_own != nullptr ? g_own() : nullptr;
    ring->open_calls.store(0, std::memory_order_relaxed);
    binding = {owner, state};
    return state;
  }
  return nullptr;
}

// What rings call when they are filling up.
struct WakeDrain {
  void operator()() const noexcept { g_host->wake_drain(); }
  bool Grow(RingHeader* ring) const noexcept { return g_host->grow_ring(ring); }
  bool AwaitRoom(const RingHeader* ring, uint64_t end) const noexcept {
    return g_host->await_room(ring, end);
  }
};

void WriteSpan(RingHeader* ring, Record record, uint64_t duration) {
  if (record.time > ring->last_time) ring->last_time = record.time;
  record.duration = static_cast<uint32_t>(duration);
  if (__builtin_expect(duration < proto::kLongDuration, 1)) {
    proto::RingWrite(ring, record, WakeDrain());
    return;
  }
  record.duration = proto::kLongDuration;
  const Record group[2] = {
      {record.time, 0, static_cast<uint8_t>(RecordKind::kDuration), 0, 0, 0, duration}, record};
  proto::RingWriteGroup(ring, group, 2, 1, WakeDrain());
}

// Ends all open calls of the thread at `end`, in this ring of its.
[[gnu::noinline, gnu::cold]] void EndHidden(RingHeader* ring, CallThread* state, uint64_t end) {
  uint64_t depth = state->depth < kMostOpen ? state->depth : kMostOpen;
  state->depth = 0;
  state->hidden_at = 0;
  state->was_hidden = 1;
  ring->open_calls.store(0, std::memory_order_release);
  while (depth-- > 0) {
    const Open& open = state->open[depth];
    WriteSpan(ring,
              {end, 0, static_cast<uint8_t>(RecordKind::kPythonCall), proto::kFlagIncomplete, 0,
               open.name, depth},
              end > open.start ? end - open.start : 0);
  }
}

CallThread* StateOf(RingHeader* ring) {
  const uint64_t owner = uint64_t{g_number.load(std::memory_order_relaxed)} << 32 | ring->track;
  CallThread* const state =
      __builtin_expect(binding.owner == owner, 1) ? binding.state : TakeState(ring, owner);
  if (state != nullptr && __builtin_expect(state->hidden_at != 0, 0))
    EndHidden(ring, state, state->hidden_at);
  return state;
}

// Writes the open calls from `from` on into the header, for the end of a capture and for the dead.
void Show(RingHeader* ring, const CallThread& state, uint64_t from) {
  for (uint64_t i = from; i < state.depth && i < proto::kMaxOpenCalls; ++i) {
    ring->open_call[i].start = state.open[i].start;
    ring->open_call[i].name = state.open[i].name;
  }
  ring->open_calls.store(static_cast<uint32_t>(state.depth), std::memory_order_release);
}

void Push(RingHeader* ring, CallThread* state, const void* code, proto::NameTable::Text* text) {
  if (__builtin_expect(state->depth >= kMostOpen, 0)) {
    CountUp(&g_too_deep);
    ++state->depth;
    return;
  }
  // Defined at the begin: a call that never ends has a name too.
  const auto defined = FrameNames().Define(ring, text, ring->last_time, WakeForNames{g_host});
  const uint32_t name =
      defined == proto::NameTable::Defined::kHasNoRoom ? proto::kNameTableFull : text->id;
  const uint64_t place = state->depth;
  Open& open = state->open[place];
  open.code = code;
  open.name = name;
  open.has_crossed = 0;
  state->depth = place + 1;
  const bool is_shown = place < proto::kMaxOpenCalls;
  if (__builtin_expect(is_shown, 1)) {
    ring->open_call[place].name = name;
    ring->open_call[place].sequence = 0;
  }
  open.start = CallTicks();  // last, so that our own work is outside of the call
  if (__builtin_expect(is_shown, 1)) ring->open_call[place].start = open.start;
  ring->open_calls.store(static_cast<uint32_t>(place + 1), std::memory_order_release);
}

// The call at `place` has ended, and others that began after it are still open: the program
// switches between stacks (greenlets). They move up. Of calls that will never end, only some stay.
[[gnu::noinline, gnu::cold]] void KeepCrossed(CallThread* state, uint64_t place) {
  uint64_t crossed = 0;
  for (uint64_t i = place + 1; i < state->depth; ++i) state->open[i].has_crossed = 1;
  for (uint64_t i = 0; i < state->depth; ++i)
    crossed += i == place ? 0 : state->open[i].has_crossed;
  uint64_t excess = crossed > kMostCrossed ? crossed - kMostCrossed : 0;
  uint64_t to = 0;
  for (uint64_t i = 0; i < state->depth; ++i) {
    if (i == place) continue;
    if (state->open[i].has_crossed != 0 && excess != 0) {
      --excess;
      CountUp(&g_too_deep);
      continue;
    }
    state->open[to++] = state->open[i];
  }
  state->depth = to;
}

// Returns the place of the newest open call of a code object; kMostOpen: there is none.
uint64_t PlaceOf(const CallThread& state, const void* code) {
  for (uint64_t i = state.depth; i-- > 0;) {
    if (state.open[i].code == code) return i;
  }
  return kMostOpen;
}

void Pop(RingHeader* ring, CallThread* state, const void* code, uint64_t end) {
  if (__builtin_expect(state->depth > kMostOpen, 0)) {
    --state->depth;  // was counted as too deep
    return;
  }
  const uint64_t place = PlaceOf(*state, code);
  if (__builtin_expect(place == kMostOpen, 0)) {
    // Or it was hidden in between.
    if (state->was_hidden == 0) CountUp(&g_unbegun);
    return;
  }
  const Open open = state->open[place];
  // First closed, then told: a death in between loses the call, and never doubles it.
  if (__builtin_expect(place + 1 == state->depth, 1)) {
    state->depth = place;
    ring->open_calls.store(static_cast<uint32_t>(place), std::memory_order_release);
  } else {
    KeepCrossed(state, place);
    Show(ring, *state, 0);
  }
  WriteSpan(ring, {end, 0, static_cast<uint8_t>(RecordKind::kPythonCall), 0, 0, open.name, place},
            end - open.start);
}

}  // namespace

uint64_t CallTicks() { return proto::ReadTicks(g_host->settings->clock); }

bool CallRecorderInit(const Host* host) {
  if (g_states == nullptr)
    g_states = static_cast<CallThread*>(MapTable(proto::kMaxRings * sizeof(CallThread)));
  g_host = host;
  return g_states != nullptr;
}

void CallRecorderBeginNext() {
  const uint32_t count = g_host->ring_count->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    RingHeader* const ring = __atomic_load_n(&g_host->rings[i], __ATOMIC_ACQUIRE);
    if (ring != nullptr) ring->open_calls.store(0, std::memory_order_relaxed);
  }
}

void CallRecorderEnd() { g_number.fetch_add(1, std::memory_order_relaxed); }

void CallRecorderAfterFork() {
  g_number.fetch_add(1, std::memory_order_relaxed);
  g_too_deep.store(0, std::memory_order_relaxed);
  g_unbegun.store(0, std::memory_order_relaxed);
}

void CallBegins(const void* code, proto::NameTable::Text* text) {
  RingHeader* const ring = g_host->enter(proto::kSourcePythonCalls);
  if (ring == nullptr) return;
  if (CallThread* const state = StateOf(ring)) Push(ring, state, code, text);
  g_host->leave();
}

void CallEnds(const void* code) {
  const uint64_t end = CallTicks();  // first, so that our own work is outside of the call
  RingHeader* const ring = g_host->enter(proto::kSourcePythonCalls);
  if (ring == nullptr) return;
  if (CallThread* const state = StateOf(ring)) Pop(ring, state, code, end);
  g_host->leave();
}

void CallsAreHidden(uint64_t since) {
  RingHeader* const ring = g_host->enter(proto::kSourcePythonCalls);
  if (ring == nullptr) return;
  CallThread* const state = StateOf(ring);
  if (state != nullptr && state->depth != 0) EndHidden(ring, state, since);
  g_host->leave();
}

void CallsOfThreadAreHidden(const void* thread) {
  const uint64_t now = CallTicks();
  const uint32_t count = g_host->ring_count->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    CallThread& state = g_states[i];
    RingHeader* const ring = __atomic_load_n(&g_host->rings[i], __ATOMIC_ACQUIRE);
    if (ring == nullptr || state.thread != thread || state.depth == 0 || state.hidden_at != 0)
      continue;
    for (uint64_t j = 0; j < state.depth && j < proto::kMaxOpenCalls; ++j)
      ring->open_call[j].sequence = now;
    state.hidden_at = now;
  }
}

void CallRecorderKnowThreads(const void* (*own)()) { g_own = own; }

void GcPauseEnds(uint64_t start, uint32_t generation, uint64_t collected, uint64_t uncollectable) {
  const uint64_t end = CallTicks();
  RingHeader* const ring = g_host->enter(proto::kSourcePythonGc);
  if (ring == nullptr) return;
  WriteSpan(ring,
            {end, 0, static_cast<uint8_t>(RecordKind::kGcPause), 0,
             static_cast<uint16_t>(generation), collected, uncollectable},
            end - start);
  g_host->leave();
}

CallCounters ReadCallCounters() {
  return {g_too_deep.load(std::memory_order_relaxed), g_unbegun.load(std::memory_order_relaxed)};
}

}  // namespace gpuprof::tracer
