// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/own_threads.h"

#include "inject/raw_syscall.h"

namespace gpuprof::inject {
namespace {

bool Lives(int tid) { return tid != 0 && raw::Call(SYS_tgkill, g_process.pid, tid, 0) == 0; }

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
  uint32_t count = g_process.unnamed_threads.load();
  for (const std::atomic<int32_t>& slot : g_process.own_threads) count += Lives(slot.load());
  return count;
}

bool IsOwnThread(int tid) noexcept {
  for (const std::atomic<int32_t>& slot : g_process.own_threads)
    if (slot.load() == tid) return true;
  return false;
}

}  // namespace gpuprof::inject
