// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The open ops of a thread are in its ring's header, where they outlive a SIGKILL; what only this
// process can use is in a table here, a few pages a ring, found through 24 bytes of thread-local
// memory.

#include "tracer/torch/op_recorder.h"

#include <atomic>
#include <cstring>

#include "proto/contract.h"
#include "proto/ring.h"
#include "proto/ticks.h"
#include "tracer/base/map_table.h"
#include "tracer/torch/async_ranges.h"
#include "tracer/torch/input_shapes.h"
#include "tracer/torch/op_names.h"
#include "tracer/torch/sequence_number.h"
#include "tracer/torch/shape_window.h"

namespace gpuprof::tracer {
namespace {

using proto::OpScope;
using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

// A thread's own part. Whoever owns ring i owns state i.
struct OpThread {
  const void* open[proto::kMaxOpenOps];
  uint8_t has_crossed[proto::kMaxOpenOps];  // an op that began before it has ended before it
  NameCache names;
};

// Open ops of a thread that may have crossed others. More than these will never end here.
constexpr uint32_t kMostCrossed = 8;

// Which observation and which thread of the process a state belongs to is one number: rings, and in
// a forked child their addresses too, are used again.
struct Binding {
  uint64_t owner;
  OpThread* state;
  uint32_t until_timed;  // callbacks before the next one that is timed
  // The thread reads the inputs of an operation: those in it are PyTorch's answer, and no events.
  bool is_reading;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Binding binding = {0, nullptr, 0, false};

struct Observation {
  RingHeader* (*enter)(uint32_t source);
  void (*leave)();
  OpFunctions functions;
  const Host* host;
  OpThread* states;
  proto::ClockKind clock;
};
constinit Observation observation = {};
constinit std::atomic<bool> observing = false;
constinit std::atomic<uint32_t> observation_number = 0;

constinit AsyncRanges async_ranges = {};

constinit TorchCounters counters = {};
void CountUp(uint64_t* counter, uint64_t by = 1) {
  __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

// The ring's number is its place in the host's list. Null: nothing can be recorded.
[[gnu::noinline, gnu::cold]] OpThread* TakeState(RingHeader* ring, uint64_t owner) {
  const uint32_t count = observation.host->ring_count->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    if (__atomic_load_n(&observation.host->rings[i], __ATOMIC_ACQUIRE) != ring) continue;
    OpThread* state = &observation.states[i];
    state->names = {};
    ring->open_ops.store(0, std::memory_order_relaxed);
    binding.state = state;
    binding.owner = owner;
    return state;
  }
  return nullptr;
}

OpThread* StateOf(RingHeader* ring) {
  const uint64_t owner =
      uint64_t{observation_number.load(std::memory_order_relaxed)} << 32 | ring->track;
  return __builtin_expect(binding.owner == owner, 1) ? binding.state : TakeState(ring, owner);
}

// What rings call when they are filling up.
struct WakeDrain {
  void operator()() const noexcept { observation.host->wake_drain(); }
  bool Grow(proto::RingHeader* ring) const noexcept { return observation.host->grow_ring(ring); }
  bool AwaitRoom(const proto::RingHeader* ring, uint64_t end) const noexcept {
    return observation.host->await_room(ring, end);
  }
};

uint64_t Now() { return proto::ReadTicks(observation.clock); }

// What the callbacks cost is measured where they run: one in so many is timed. An odd number, so
// that begins and ends both come up.
constexpr uint32_t kTimeOneIn = 61;
constinit std::atomic<uint64_t> timed_ticks = 0;
constinit std::atomic<uint64_t> timed_callbacks = 0;

class CallbackTimer {
 public:
  CallbackTimer() {
    if (__builtin_expect(binding.until_timed-- != 0, 1)) return;
    binding.until_timed = kTimeOneIn - 1;
    start_ = Now();
  }
  ~CallbackTimer() {
    if (__builtin_expect(start_ == 0, 1)) return;
    const uint64_t spent = Now() - start_;
    // Longer than 0.1 ms: the thread was not running.
    if (spent > observation.host->settings->ticks_per_second / 10'000) return;
    timed_ticks.fetch_add(spent, std::memory_order_relaxed);
    timed_callbacks.fetch_add(1, std::memory_order_relaxed);
  }
  CallbackTimer(const CallbackTimer&) = delete;
  CallbackTimer& operator=(const CallbackTimer&) = delete;

 private:
  uint64_t start_ = 0;
};

// Returns the start of the op. 0: it has no place among the open ones.
uint64_t OpenOpOn(RingHeader* ring, OpThread* state, const void* op, OpScope scope) {
  uint64_t start = 0;
  const uint32_t depth = ring->open_ops.load(std::memory_order_relaxed);
  if (__builtin_expect(depth < proto::kMaxOpenOps, 1)) {
    proto::OpenOp& open = ring->open_op[depth];
    // Named at the begin: an op that never ends has a name too.
    open.name =
        NameId(ring, &state->names, observation.functions.name(op), ring->last_time, WakeDrain());
    open.scope = static_cast<uint32_t>(scope);
    open.sequence = SequenceNumberOf(op, scope);
    state->open[depth] = op;
    state->has_crossed[depth] = 0;
    open.start = start = Now();  // last, so that our own work is outside of the op
  } else {
    CountUp(&counters.too_deep);
  }
  ring->open_ops.store(depth + 1, std::memory_order_release);
  return start;
}

// Returns whether a ring would be less than half full with `slots` more. A new ring grows.
bool IsHalfEmpty(const RingHeader* ring, uint32_t slots) {
  const uint64_t head = ring->head.load(std::memory_order_relaxed);
  const uint64_t capacity = head <= ring->capacity ? ring->most : ring->capacity;
  return head + slots - ring->tail.load(std::memory_order_acquire) <= capacity / 2;
}

// Writes what an op that began at `start` says of its inputs. The other half of a ring is kept for
// events: these may not be lost for shapes.
void WriteInputs(RingHeader* ring, uint64_t start, const char* text, uint32_t bytes) {
  const uint32_t payload = proto::PayloadSlots(bytes);
  if (!IsHalfEmpty(ring, 1 + payload)) return;
  uint64_t at = proto::RingReserve(ring, start, 1 + payload, 1, WakeDrain());
  if (at == proto::kNoRoom) return;
  proto::RingStore(proto::RingSlot(ring, at++),
                   {start, 0, static_cast<uint8_t>(RecordKind::kOpValues), 0, 0, 0, bytes});
  for (uint32_t i = 0; i < payload; ++i, ++at) {
    const uint32_t skipped = i * proto::kRecordBytes, left = bytes - skipped;
    std::memcpy(static_cast<void*>(proto::RingSlot(ring, at)), text + skipped,
                left < proto::kRecordBytes ? left : proto::kRecordBytes);
  }
  if (start > ring->last_time) ring->last_time = start;
  proto::RingPublish(ring, at);
}

// Begins an op in a window. Its inputs are read before the guard and before the op's start: the
// reading is PyTorch's own code, and no part of the op.
[[gnu::noinline, gnu::cold]] void BeginWithInputs(const void* op, OpScope scope) {
  char text[proto::kMaxPayloadBytes];
  binding.is_reading = true;
  const uint32_t bytes = ReadInputs(op, text, sizeof text);
  binding.is_reading = false;
  if (RingHeader* ring = observation.enter(proto::kSourceOps)) {
    if (OpThread* state = StateOf(ring)) {
      const uint64_t start = OpenOpOn(ring, state, op, scope);
      if (bytes != 0 && start != 0) WriteInputs(ring, start, text, bytes);
    }
    observation.leave();
  }
  if (bytes != 0 && NoteInputsRead()) observation.host->request_tick();
}

// The place of an op among the open ones; kMaxOpenOps: it is not there. Usually the last.
uint32_t PlaceOf(const OpThread& state, const void* op, uint32_t depth) {
  for (uint32_t i = depth; i-- > 0;) {
    if (state.open[i] == op) return i;
  }
  return proto::kMaxOpenOps;
}

void WriteOp(RingHeader* ring, const proto::OpenOp& open, uint32_t place, uint64_t end) {
  const uint64_t duration = end - open.start;
  ring->last_time = end;
  Record record = {end,
                   static_cast<uint32_t>(duration),
                   static_cast<uint8_t>(RecordKind::kOp),
                   0,
                   static_cast<uint16_t>(open.scope),
                   open.name,
                   proto::OpPlace(place, open.sequence)};
  if (__builtin_expect(duration < proto::kLongDuration, 1)) {
    proto::RingWrite(ring, record, WakeDrain());
    return;
  }
  record.duration = proto::kLongDuration;
  const Record group[2] = {{end, 0, static_cast<uint8_t>(RecordKind::kDuration), 0, 0, 0, duration},
                           record};
  proto::RingWriteGroup(ring, group, 2, 1, WakeDrain());
}

// The op at `place` has ended, and others that began after it are still open: ranges that cross ops
// instead of nesting (an annotation that begins or ends under a TorchDispatchMode). They move up.
// Some have ended on another thread, or never will: of those that cross, only the newest are kept.
[[gnu::noinline, gnu::cold]] void KeepCrossed(RingHeader* ring, OpThread* state, uint32_t place,
                                              uint32_t kept) {
  uint32_t crossed = 0;
  for (uint32_t i = 0; i < place; ++i) crossed += state->has_crossed[i];
  crossed += kept - place - 1;
  uint32_t excess = crossed > kMostCrossed ? crossed - kMostCrossed : 0;
  if (excess != 0) CountUp(&counters.unpaired, excess);
  uint32_t to = 0;
  for (uint32_t i = 0; i < kept; ++i) {
    if (i == place) continue;
    const uint8_t has_crossed = i > place ? 1 : state->has_crossed[i];
    if (has_crossed != 0 && excess != 0) {
      --excess;
      continue;
    }
    ring->open_op[to] = ring->open_op[i];
    state->open[to] = state->open[i];
    state->has_crossed[to] = has_crossed;
    ++to;
  }
  ring->open_ops.store(to, std::memory_order_release);
}

void CloseOpOn(RingHeader* ring, OpThread* state, const void* op, uint64_t end) {
  const uint32_t depth = ring->open_ops.load(std::memory_order_relaxed);
  const uint32_t kept = depth < proto::kMaxOpenOps ? depth : proto::kMaxOpenOps;
  const uint32_t place = PlaceOf(*state, op, kept);
  if (__builtin_expect(place == proto::kMaxOpenOps, 0)) {
    if (depth > proto::kMaxOpenOps) {
      ring->open_ops.store(depth - 1, std::memory_order_release);  // was counted as too deep
    } else {
      CountUp(&counters.unpaired);
    }
    return;
  }
  const proto::OpenOp open = ring->open_op[place];
  // First closed, then told: a death in between loses the op, and never doubles it.
  ring->open_ops.store(place, std::memory_order_release);
  if (__builtin_expect(place + 1 != kept, 0)) KeepCrossed(ring, state, place, kept);
  WriteOp(ring, open, place, end);
}

bool IsAsync(const void* op) {
  return observation.functions.is_async != nullptr && observation.functions.is_async(op);
}

uint32_t AsyncOwner() { return observation_number.load(std::memory_order_relaxed); }

// A mark of gloo lasts until its thread has done the work. Other backends have a device for it, and
// end their marks when it is asked to.
[[gnu::noinline, gnu::cold]] void BeginAsync(const void* op) {
  constexpr char kGloo[] = "gloo:";
  const bool is_kept = strncmp(observation.functions.name(op), kGloo, sizeof kGloo - 1) == 0 &&
                       async_ranges.Begin(op, AsyncOwner(), Now());
  if (!is_kept) CountUp(&counters.async);
}

[[gnu::noinline, gnu::cold]] void EndAsync(const void* op, uint64_t end) {
  const uint64_t start = async_ranges.End(op, AsyncOwner());
  RingHeader* const ring = start != 0 ? observation.enter(proto::kSourceOps) : nullptr;
  if (ring == nullptr) return;
  if (OpThread* state = StateOf(ring)) {
    proto::OpenOp mark = {};
    mark.name =
        NameId(ring, &state->names, observation.functions.name(op), ring->last_time, WakeDrain());
    mark.scope = static_cast<uint32_t>(OpScope::kUser);
    mark.start = start;
    WriteOp(ring, mark, ring->open_ops.load(std::memory_order_relaxed), end);
  }
  observation.leave();
}

template <OpScope kScope>
ContextPointer BeginOp(const void* op) {
  constexpr bool kHasInputs = kScope == OpScope::kFunction || kScope == OpScope::kBackward;
  if (observing.load(std::memory_order_relaxed)) {
    const CallbackTimer timer;
    if (__builtin_expect(binding.is_reading, 0)) return {};
    if (kHasInputs && __builtin_expect(WantsInputs(), 0)) {
      BeginWithInputs(op, kScope);
      return {};
    }
    if (kScope == OpScope::kUser && __builtin_expect(IsAsync(op), 0)) {
      BeginAsync(op);
      return {};
    }
    if (RingHeader* ring = observation.enter(proto::kSourceOps)) {
      if (OpThread* state = StateOf(ring)) OpenOpOn(ring, state, op, kScope);
      observation.leave();
    }
  }
  return {};
}

template <OpScope kScope>
void EndOp(const void* op, void*) {
  if (!observing.load(std::memory_order_relaxed)) return;
  const uint64_t end = Now();  // first, so that our own work is outside of the op
  const CallbackTimer timer;
  if (__builtin_expect(binding.is_reading, 0)) return;
  if (kScope == OpScope::kUser && __builtin_expect(IsAsync(op), 0)) return EndAsync(op, end);
  if (RingHeader* ring = observation.enter(proto::kSourceOps)) {
    if (OpThread* state = StateOf(ring)) CloseOpOn(ring, state, op, end);
    observation.leave();
  }
}

}  // namespace

bool OpRecorderInit(const Host* host, const OpFunctions& functions) {
  if (!NamesInit()) return false;
  if (observation.states == nullptr) {
    void* memory = MapTable(proto::kMaxRings * sizeof(OpThread));
    if (memory == nullptr) return false;
    observation.states = static_cast<OpThread*>(memory);
  }
  observation.host = host;
  observation.enter = host->enter;
  observation.leave = host->leave;
  observation.functions = functions;
  observation.clock = host->settings->clock;
  return true;
}

uint32_t OpRecorderCostNs() {
  const uint64_t timed = timed_callbacks.load(std::memory_order_relaxed);
  const uint64_t rate =
      observation.host != nullptr ? observation.host->settings->ticks_per_second : 0;
  if (timed == 0 || rate == 0) return 0;
  const double ticks =
      static_cast<double>(timed_ticks.load(std::memory_order_relaxed)) / static_cast<double>(timed);
  return static_cast<uint32_t>(2 * ticks / static_cast<double>(rate) * 1e9);
}

OpCallbacks CallbacksFor(OpScope scope) {
  switch (scope) {
    case OpScope::kFunction:
      return {BeginOp<OpScope::kFunction>, EndOp<OpScope::kFunction>};
    case OpScope::kBackward:
      return {BeginOp<OpScope::kBackward>, EndOp<OpScope::kBackward>};
    case OpScope::kTorchScript:
      return {BeginOp<OpScope::kTorchScript>, EndOp<OpScope::kTorchScript>};
    default:
      return {BeginOp<OpScope::kUser>, EndOp<OpScope::kUser>};
  }
}

void OpRecorderBegin() {
  // What an earlier capture left open ended unseen. No callback runs now.
  const uint32_t count = observation.host->ring_count->load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) {
    RingHeader* ring = __atomic_load_n(&observation.host->rings[i], __ATOMIC_ACQUIRE);
    if (ring != nullptr) ring->open_ops.store(0, std::memory_order_relaxed);
  }
  observation_number.fetch_add(1, std::memory_order_relaxed);
  observing.store(true, std::memory_order_release);
}

void OpRecorderEnd() { observing.store(false, std::memory_order_release); }

void OpRecorderAfterFork() {
  // The child's rings are new, perhaps at old addresses.
  observation_number.fetch_add(1, std::memory_order_relaxed);
  NamesBeginFile();
  SequenceNumbersAfterFork();
  counters = {};
}

TorchCounters ReadOpCounters() {
  TorchCounters result = counters;
  result.names_lost = NamesLost();
  return result;
}

}  // namespace gpuprof::tracer
