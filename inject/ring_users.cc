// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ring_users.h"

#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/uio.h>
#include <time.h>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {
namespace {

std::atomic<const ThreadState*> g_users[proto::kMaxRings];
std::atomic<uint32_t> g_count{0};  // slots taken so far; beyond kMaxRings: a user has none
// The calling thread's slot, and one more; 0: none. The slot may be another's by now.
__thread uint32_t t_slot __attribute__((tls_model("initial-exec"))) = 0;
// Threads that are making rings. Each adds itself before it looks at `recording`. Who ends the
// recording clears `recording` before it looks here: one of the two sees the other.
std::atomic<uint32_t> g_making{0};

void SleepMs(long ms) {
  const timespec moment = {0, ms * 1'000'000};
  raw::Call(SYS_nanosleep, raw::Arg(&moment), 0);
}

// Has every thread's writes seen: one that read "recording" before has shown that it is busy.
void Synchronize() {
  raw::Call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  if (raw::Call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) SleepMs(20);
}

// The thread may have ended, and its memory may be gone: the kernel reads it.
bool IsBusy(const ThreadState* thread) {
  uint8_t busy = 0;
  const iovec to = {&busy, 1};
  const iovec from = {const_cast<uint8_t*>(&thread->busy), 1};
  const long n =
      raw::Call(SYS_process_vm_readv, raw::GetPid(), raw::Arg(&to), 1, raw::Arg(&from), 1, 0);
  return n == 1 && busy != 0;
}

bool AreQuiet() {
  if (g_making.load() != 0) return false;
  const uint32_t count = g_count.load();
  if (count > proto::kMaxRings) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const ThreadState* thread = g_users[i].load();
    if (thread != nullptr && thread != &t_thread && IsBusy(thread)) return false;
  }
  return true;
}

}  // namespace

RingAcquisition::RingAcquisition() noexcept {
  g_making.fetch_add(1);
  may_go_on_ = g_process.recording.load() != 0;
}

RingAcquisition::~RingAcquisition() noexcept { g_making.fetch_sub(1); }

// Threads may come and go without end: once all slots were in use, one that is free again is looked
// for.
void NoteRingUser(const ThreadState* thread) noexcept {
  if (t_slot != 0 && g_users[t_slot - 1].load() == thread) return;  // of an earlier trace
  uint32_t count = g_count.load();
  while (count < proto::kMaxRings && !g_count.compare_exchange_weak(count, count + 1)) continue;
  if (count < proto::kMaxRings) {
    t_slot = count + 1;
    g_users[count].store(thread);
    return;
  }
  for (uint32_t slot = 0; slot < proto::kMaxRings; ++slot) {
    const ThreadState* none = nullptr;
    if (!g_users[slot].compare_exchange_strong(none, thread)) continue;
    t_slot = slot + 1;
    return;
  }
  g_count.store(proto::kMaxRings + 1);  // who this is nobody knows
}

void ForgetRingUser(const ThreadState* thread) noexcept {
  if (t_slot != 0) g_users[t_slot - 1].compare_exchange_strong(thread, nullptr);
  t_slot = 0;
}

bool AwaitQuietRings() noexcept {
  constexpr int kLooks = 1000;
  Synchronize();
  for (int looks = 0; looks < kLooks; ++looks) {
    if (AreQuiet()) return true;
    SleepMs(1);
  }
  return false;
}

void ForgetRingUsers() noexcept {
  const uint32_t count = g_count.exchange(0);
  for (uint32_t i = 0; i < count && i < proto::kMaxRings; ++i) g_users[i].store(nullptr);
  g_making.store(0);
}

}  // namespace gpuprof::inject
