// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/recorder.h"

#include <linux/futex.h>
#include <string.h>

#include "inject/held_signals.h"
#include "inject/raw_syscall.h"
#include "inject/ring_file.h"
#include "inject/ring_room.h"
#include "inject/ring_users.h"
#include "inject/text.h"
#include "inject/thread_exit.h"

namespace gpuprof::inject {

using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

// Constant-initialised: the library constructor runs before dynamic initialisers would.
constinit ProcessState g_process = {};
RingHeader* g_rings[proto::kMaxRings];
tracer::Settings g_settings;
uint64_t g_ring_memory = 32u << 20;
constinit std::atomic<uint32_t> g_program_started{0};
constinit std::atomic<uint32_t> g_namespaces{0};
__thread ThreadState t_thread __attribute__((tls_model("initial-exec")));

static constinit uint64_t g_clock_ticks = 0;

void CountReentered(const ThreadState& thread) noexcept {
  if (thread.tool != 0) return;
  if (thread.ring == nullptr ||
      thread.generation != g_process.generation.load(std::memory_order_relaxed)) {
    // A signal handler while the thread's ring is being made.
    CountThreadEdge();
    return;
  }
  // Handlers interrupt each other here: no guard is left to take.
  thread.ring->reentered.fetch_add(1, std::memory_order_relaxed);
}

RingHeader* AcquireRing() noexcept {
  ThreadState& thread = t_thread;
  const uint32_t generation = g_process.generation.load(std::memory_order_relaxed);
  const bool known = thread.generation == generation;
  if (known && thread.ring != nullptr) return thread.ring;
  thread.ring = nullptr;
  // Being made by another thread: this one's next event finds it.
  const bool too_early = g_process.ring_file_state.load(std::memory_order_acquire) == 1;
  const uint8_t refused = known ? thread.refused : 0;
  // The end of a thread that never got a ring is an event that it lost as the others.
  const bool too_late = thread.exiting >= kLastExitRound && refused != kNoRing;
  if (too_early || too_late || refused == kThreadOver) {
    CountThreadEdge();
    return nullptr;
  }
  if (refused == 0) {
    const RingAcquisition acquisition;
    if (!acquisition.may_go_on()) return nullptr;
    const HeldSignals held;
    thread.ring = OpenRing(raw::GetTid());
    thread.generation = generation;
    thread.refused = thread.ring == nullptr ? kNoRing : 0;
    if (thread.ring != nullptr) NoteRingUser(&thread);
    WatchThreadExit();
  }
  if (thread.ring == nullptr && g_process.ring_file != nullptr) {
    g_process.ring_file->no_ring.fetch_add(1, std::memory_order_relaxed);
  }
  return thread.ring;
}

void ReleaseRing() noexcept {
  ThreadState& thread = t_thread;
  RingHeader* ring = thread.ring;
  // A signal handler must not find the ring any more once it is closed: it may be another thread's.
  thread.refused = kThreadOver;
  thread.ring = nullptr;
  asm volatile("" ::: "memory");
  if (ring != nullptr &&
      thread.generation == g_process.generation.load(std::memory_order_relaxed)) {
    CloseRing(ring);
  }
  if (ring != nullptr) ForgetRingUser(&thread);
}

void HookTimer::Calibrate() noexcept {
  for (int i = 0; i < 20; ++i) {
    const uint64_t start = proto::ReadTicks(g_process.clock);
    const uint64_t ticks = proto::ReadTicks(g_process.clock) - start;
    if (i == 0 || ticks < g_clock_ticks) g_clock_ticks = ticks;
  }
}

// Of each kTimeHookOneIn hooks of a thread one, each as likely as the others: their number is known
// as well as if every n-th were timed.
void HookTimer::Begin() noexcept {
  ThreadState& thread = t_thread;
  const bool is_first = thread.hooks_until_timed == 0;
  static std::atomic<uint32_t> drawn{0};
  uint64_t mixed =
      (drawn.fetch_add(1, std::memory_order_relaxed) + g_settings.start_id) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9u;
  const auto place = static_cast<uint16_t>((mixed >> 32) % proto::kTimeHookOneIn);
  const uint16_t before = thread.timed_place;
  thread.timed_place = place;
  if (is_first) {
    // This is hook 0 of the first round.
    thread.hooks_until_timed = place;
    if (place != 0) return;
    thread.hooks_until_timed = proto::kTimeHookOneIn;
  } else {
    thread.hooks_until_timed = proto::kTimeHookOneIn - before + place;
  }
  start_ = proto::ReadTicks(g_process.clock);
}

// A hook that took half a millisecond stood still: its thread had lost the processor, which is not
// our doing. One that took tenths of that did something that is done once, the first stack for one:
// taken for what hundreds of others did it would be more than all of them.
void HookTimer::Note(uint64_t ticks) noexcept {
  const uint64_t microsecond = g_settings.ticks_per_second / 1'000'000;
  const uint64_t stood_still = 500 * microsecond;
  const uint64_t most = 50 * microsecond;
  if (ticks >= stood_still) return;
  // Still inside our code, for a signal handler that forks (interrupted_hook.h).
  const uint8_t busy = t_thread.busy;
  t_thread.busy = 1;
  asm volatile("" ::: "memory");
  if (proto::RingFileHeader* file = g_process.ring_file; file != nullptr) {
    ticks -= ticks < g_clock_ticks ? ticks : g_clock_ticks;
    if (ticks > most) ticks = most;
    file->hooks_timed.fetch_add(1, std::memory_order_relaxed);
    file->hook_ticks.fetch_add(ticks, std::memory_order_relaxed);
    file->hook_ticks_squared.fetch_add(ticks * ticks, std::memory_order_relaxed);
  }
  asm volatile("" ::: "memory");
  t_thread.busy = busy;
}

void WakeDrain::operator()() const noexcept {
  if (g_process.drain_wanted.exchange(1) != 0) return;
  raw::Call(SYS_futex, raw::Arg(&g_process.drain_wanted), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

bool WakeDrain::Grow(RingHeader* ring) const noexcept { return GrowRing(ring); }

bool WakeDrain::AwaitRoom(const RingHeader* ring, uint64_t end) const noexcept {
  return inject::AwaitRoom(ring, end);
}

void Recorder::WriteWithText(const char* text, Record record) noexcept {
  constexpr uint32_t kMostSlots = 16;
  Record group[kMostSlots + 2];
  size_t bytes = Length(text);
  if (bytes > kMostSlots * proto::kRecordBytes) bytes = kMostSlots * proto::kRecordBytes;
  const uint32_t slots = proto::PayloadSlots(bytes);
  group[0] = {record.time, 0, static_cast<uint8_t>(RecordKind::kText), 0, 0, 0, bytes};
  if (slots > 0) group[slots] = {};
  memcpy(static_cast<void*>(&group[1]), text, bytes);
  group[slots + 1] = record;
  ring_->last_time = record.time;
  proto::RingWriteGroup(ring_, group, slots + 2, 1, WakeDrain());
}

uint64_t Recorder::WriteStackAhead(uint64_t now, const void* frame) noexcept {
  if (g_process.stack_depth == 0 || g_process.can_unwind.load(std::memory_order_acquire) == 0)
    return 0;
  StackChange change;
  if (!Walk(frame, &change)) return 0;
  const uint64_t at = proto::RingReserve(ring_, now, change.slots(), 0, WakeDrainOnly());
  if (at == proto::kNoRoom) return 0;
  const uint64_t end = StoreStack(at, now, proto::kFlagAhead, change);
  proto::RingPublish(ring_, end);
  return end;
}

void Recorder::WriteWait(const Record& record, uint64_t duration, uint32_t owner, const void* frame,
                         uint64_t stack_ahead) noexcept {
  Record prefixes[3];
  uint32_t count = 0;
  const auto add = [&](RecordKind kind, uint64_t a, uint64_t b) {
    prefixes[count++] = {record.time, 0, static_cast<uint8_t>(kind), 0, 0, a, b};
  };
  if (owner != 0) add(RecordKind::kWaitOwner, owner, 0);
  Record wait = record;
  wait.duration = static_cast<uint32_t>(duration);
  if (duration >= proto::kLongDuration) {
    wait.duration = proto::kLongDuration;
    add(RecordKind::kDuration, 0, duration);
  }
  if (g_process.stack_depth == 0) return WriteAfter(prefixes, count, wait);
  // A signal handler may have written another stack meanwhile.
  const bool is_last =
      stack_ahead != 0 && ring_->head.load(std::memory_order_relaxed) == stack_ahead;
  if (!is_last && frame == nullptr) return WriteAfter(prefixes, count, wait);
  if (!is_last) return WriteStackAnd(prefixes, count, wait, frame);
  add(RecordKind::kStack, ring_->last_stack_frames, 0);
  wait.flags |= proto::kFlagHasStack;
  WriteAfter(prefixes, count, wait);
}

void Recorder::WriteAfter(const Record* prefixes, uint32_t prefix_count,
                          const Record& record) noexcept {
  ring_->last_time = record.time;
  const uint64_t at = proto::RingReserve(ring_, record.time, prefix_count + 1, 1, WakeDrain());
  if (at == proto::kNoRoom) return;
  for (uint32_t i = 0; i < prefix_count; ++i) {
    proto::RingStore(proto::RingSlot(ring_, at + i), prefixes[i]);
  }
  proto::RingStore(proto::RingSlot(ring_, at + prefix_count), record);
  proto::RingPublish(ring_, at + prefix_count + 1);
}

inline bool Recorder::Walk(const void* frame, StackChange* change) noexcept {
  const uint32_t frames =
      g_process.tracer->capture_stack(change->pcs, g_process.stack_depth, frame);
  if (frames == 0 || frames > proto::kMaxStackFrames) return false;
  // Only the innermost frames that changed since this thread's previous stack go into the ring.
  uint32_t shared = 0;
  const uint32_t last = ring_->last_stack_frames;
  while (shared < frames && shared < last &&
         change->pcs[frames - 1 - shared] == ring_->last_stack[last - 1 - shared])
    ++shared;
  change->frames = frames;
  change->shared = shared;
  return true;
}

inline uint64_t Recorder::StoreStack(uint64_t at, uint64_t time, uint8_t flags,
                                     const StackChange& change) noexcept {
  const uint32_t frames = change.frames, shared = change.shared, fresh = frames - shared;
  const uint32_t last = ring_->last_stack_frames;
  proto::RingStore(proto::RingSlot(ring_, at),
                   {time, 0, static_cast<uint8_t>(RecordKind::kStack), flags,
                    static_cast<uint16_t>(fresh), shared, fresh * sizeof(uint64_t)});
  // The previous stack, seen from the outside in, now gets the changed frames too.
  if (last != frames) {
    memmove(ring_->last_stack + fresh, ring_->last_stack + (last - shared),
            shared * sizeof(uint64_t));
    ring_->last_stack_frames = frames;
  }
  constexpr uint32_t kWords = proto::kRecordBytes / sizeof(uint64_t);
  const uint32_t slots = change.slots();
  for (uint32_t i = 0; i < (slots - 1) * kWords; ++i) {
    auto* words = reinterpret_cast<uint64_t*>(proto::RingSlot(ring_, at + 1 + i / kWords));
    words[i % kWords] = i < fresh ? change.pcs[i] : 0;
    if (i < fresh) ring_->last_stack[i] = change.pcs[i];
  }
  return at + slots;
}

void Recorder::WriteStackAnd(const Record* prefixes, uint32_t prefix_count, const Record& record,
                             const void* frame) noexcept {
  if (g_process.can_unwind.load(std::memory_order_acquire) == 0) {
    Record stackless = record;
    stackless.flags |= proto::kFlagNoUnwinder;
    return WriteAfter(prefixes, prefix_count, stackless);
  }
  StackChange change;
  if (!Walk(frame, &change)) return WriteAfter(prefixes, prefix_count, record);
  ring_->last_time = record.time;
  const uint32_t slots = prefix_count + change.slots() + 1;
  uint64_t at = proto::RingReserve(ring_, record.time, slots, 1, WakeDrain());
  if (at == proto::kNoRoom) return;
  for (uint32_t i = 0; i < prefix_count; ++i) {
    proto::RingStore(proto::RingSlot(ring_, at++), prefixes[i]);
  }
  at = StoreStack(at, record.time, 0, change);
  Record event = record;
  event.flags |= proto::kFlagHasStack;
  proto::RingStore(proto::RingSlot(ring_, at), event);
  proto::RingPublish(ring_, at + 1);
}

}  // namespace gpuprof::inject
