// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/own_threads.h"

#include <sys/stat.h>
#include <time.h>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {
namespace {

bool Lives(int tid) { return tid != 0 && raw::Call(SYS_tgkill, g_process.pid, tid, 0) == 0; }

uint32_t CountNotedThreads() {
  uint32_t count = 0;
  for (const std::atomic<int32_t>& slot : g_process.own_threads) count += Lives(slot.load());
  return count;
}

}  // namespace

void NoteOwnThread() noexcept {
  const int tid = raw::GetTid();
  // A slot of a thread that has ended is free. Two threads that begin at once take different ones.
  for (std::atomic<int32_t>& slot : g_process.own_threads) {
    int32_t held = slot.load();
    if (!Lives(held) && slot.compare_exchange_strong(held, tid)) return;
  }
}

uint32_t CountOwnThreads() noexcept {
  return g_process.unnamed_threads.load() + CountNotedThreads();
}

void AwaitNotedThreads() noexcept {
  if (t_thread.tool != 0) return;
  constexpr timespec kLook = {0, 200'000};
  for (int looks = 5'000; looks > 0 && g_process.unnamed_threads.load() != 0; --looks)
    raw::Call(SYS_nanosleep, raw::Arg(&kLook), 0);
}

uint32_t CountProgramThreads() noexcept {
  // A thread of gpuprof may begin or end between the kernel's answer and ours.
  for (int looks = 0; looks < 100; ++looks) {
    AwaitNotedThreads();
    const uint32_t own = CountNotedThreads();
    struct stat status;
    const bool is_told = raw::Call(SYS_stat, raw::Arg("/proc/self/task"), raw::Arg(&status)) == 0;
    if (!is_told || status.st_nlink < 3) return 0;
    const auto all = static_cast<uint32_t>(status.st_nlink - 2);
    if (g_process.unnamed_threads.load() == 0 && CountNotedThreads() == own && all > own)
      return all - own;
  }
  return 0;
}

bool IsOwnThread(int tid) noexcept {
  for (const std::atomic<int32_t>& slot : g_process.own_threads)
    if (slot.load() == tid) return true;
  return false;
}

}  // namespace gpuprof::inject
