// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ring_room.h"

#include <signal.h>
#include <time.h>

#include "inject/control_thread.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

// The drain frees a quarter of a ring at a time, which a busy thread fills in milliseconds.
constexpr long kLookNs = 50'000;
// The drain writes to a disk, which may be slow, and loads its code before its first pass. A busy
// machine lets both wait. Longer than this without progress is a disk that hangs, or a drain that
// cannot start.
constexpr uint64_t kStandstillNs = 1'000'000'000;

// When the drain last looked before somebody waited for it in vain (RingFileHeader::pass_ticks; 0:
// it never had). Nobody waits again until it has looked once more.
constexpr uint64_t kNotInVain = ~uint64_t{0};
std::atomic<uint64_t> g_vain_pass{kNotInVain};

// The kernel's own layout, see rt_sigaction(2).
struct KernelAction {
  uint64_t handler;
  uint64_t flags;
  uint64_t restorer;
  uint64_t mask;
};

// Returns the code to which signal handlers return; 0: the process has no handler. libc gives all
// handlers the same.
uint64_t ReadRestorer() {
  constexpr int kSignals = 64;
  for (int number = 1; number <= kSignals; ++number) {
    KernelAction action = {};
    if (raw::Call(SYS_rt_sigaction, number, 0, raw::Arg(&action), sizeof(action.mask)) != 0)
      continue;
    if (action.handler > 1 && action.restorer != 0) return action.restorer;
  }
  return 0;
}

// Looked for at each wait until there is one: a wait lasts longer than 64 system calls.
uint64_t Restorer() {
  static std::atomic<uint64_t> known{0};
  uint64_t restorer = known.load(std::memory_order_relaxed);
  if (restorer != 0) return restorer;
  restorer = ReadRestorer();
  known.store(restorer, std::memory_order_relaxed);
  return restorer;
}

bool IsInHandler() {
  stack_t stack = {};
  raw::Call(SYS_sigaltstack, 0, raw::Arg(&stack));
  if ((stack.ss_flags & SS_ONSTACK) != 0) return true;
  if (g_process.can_unwind.load(std::memory_order_acquire) == 0) return false;
  const uint64_t restorer = Restorer();
  if (restorer == 0) return false;
  uint64_t pcs[proto::kMaxStackFrames];
  const uint32_t frames =
      g_process.tracer->capture_stack(pcs, proto::kMaxStackFrames, __builtin_frame_address(0));
  for (uint32_t i = 0; i < frames; ++i)
    if (pcs[i] == restorer) return true;
  return false;
}

bool IsRecording() {
  return (g_process.session.load(std::memory_order_relaxed) != 0 || SessionIsDue()) &&
         g_process.recording.load(std::memory_order_relaxed) != 0;
}

// A hook that was interrupted by a handler that forked goes on in the child with a copy of a ring,
// which nobody empties.
bool IsEmptied(const proto::RingHeader* ring) {
  return t_thread.ring == ring &&
         t_thread.generation == g_process.generation.load(std::memory_order_relaxed);
}

bool MayWait(const proto::RingFileHeader* file, const proto::RingHeader* ring) {
  if (file == nullptr || !IsEmptied(ring) || !IsRecording() || t_thread.forks != 0) return false;
  return g_vain_pass.load(std::memory_order_relaxed) !=
         file->pass_ticks.load(std::memory_order_relaxed);
}

bool HasRoom(const proto::RingHeader* ring, uint64_t end) {
  return end - ring->tail.load(std::memory_order_acquire) <= ring->capacity;
}

}  // namespace

bool AwaitRoom(const proto::RingHeader* ring, uint64_t end) noexcept {
  if (g_process.waits_for_room == 0) return false;
  proto::RingFileHeader* file = g_process.ring_file;
  if (!MayWait(file, ring) || IsInHandler()) return false;
  if (SessionIsDue() && !AskForSession()) return false;
  const uint64_t began = proto::ReadTicks(g_process.clock);
  uint64_t tail = ring->tail.load(std::memory_order_acquire);
  uint64_t moved_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  bool has_room = false;
  while (!(has_room = HasRoom(ring, end)) && IsRecording()) {
    const timespec look = {0, kLookNs};
    raw::Call(SYS_nanosleep, raw::Arg(&look), 0);
    const uint64_t now_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
    if (const uint64_t now_tail = ring->tail.load(std::memory_order_acquire); now_tail != tail) {
      tail = now_tail;
      moved_ns = now_ns;
    } else if (now_ns - moved_ns > kStandstillNs) {
      g_vain_pass.store(file->pass_ticks.load(std::memory_order_relaxed),
                        std::memory_order_relaxed);
      break;
    }
  }
  file->room_waits.fetch_add(1, std::memory_order_relaxed);
  file->room_wait_ticks.fetch_add(proto::ReadTicks(g_process.clock) - began,
                                  std::memory_order_relaxed);
  return has_room;
}

void ForgetVainWaits() noexcept { g_vain_pass.store(kNotInVain); }

}  // namespace gpuprof::inject
