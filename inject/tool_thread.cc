// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tool_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <atomic>

#include "inject/own_room.h"
#include "inject/own_threads.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

// SIGCANCEL and SIGSETXID in a kernel's signal set; libc's headers name neither.
constexpr uint64_t kCancelSignal = uint64_t{1} << (32 - 1);
constexpr uint64_t kSetIdsSignal = uint64_t{1} << (33 - 1);

// libc tells EAGAIN for a lack of memory, too.
bool HasMemoryFor(size_t bytes) {
  const long address = raw::Call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (raw::IsError(address)) return false;
  raw::Call(SYS_munmap, address, static_cast<long>(bytes));
  return true;
}

// Each kind of thread, known by its main function, has one stack at a time. libc keeps the stack of
// a thread that has ended for the next one, so it is noted once, however often a program is
// attached to.
using Main = void* (*)(void*);
constinit std::atomic<Main> g_with_stack[4] = {};

bool HasStack(Main main) {
  for (const std::atomic<Main>& kind : g_with_stack)
    if (kind.load() == main) return true;
  return false;
}

void NoteHasStack(Main main) {
  for (std::atomic<Main>& kind : g_with_stack) {
    Main none = nullptr;
    if (kind.compare_exchange_strong(none, main) || none == main) return;
  }
}

}  // namespace

int StartToolThread(void* (*main)(void*), void* argument, size_t stack_bytes) noexcept {
  // The program's handlers never run on it. But not the two that libc keeps for itself are blocked:
  // setuid() and its relatives send SIGSETXID to every thread of the process and wait for its
  // answer, ours included.
  uint64_t all = ~(kCancelSignal | kSetIdsSignal);
  uint64_t old = 0;
  raw::Call(SYS_rt_sigprocmask, SIG_SETMASK, raw::Arg(&all), raw::Arg(&old), sizeof(all));
  const uint8_t busy = t_thread.busy;
  const uint8_t tool = t_thread.tool;
  t_thread.busy = 1;
  if (tool == 0) t_thread.tool = kProgramsThread;
  pthread_attr_t attributes;
  pthread_t thread;
  int error = ENOMEM;
  if (real.pthread_attr_init(&attributes) == 0) {
    real.pthread_attr_setstacksize(&attributes, stack_bytes);
    real.pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    g_process.may_have_threads.store(1);
    const int64_t stack =
        HasStack(main) ? 0 : static_cast<int64_t>(stack_bytes + proto::kPageBytes);
    NoteMapped(stack, false);
    NoteThread(1);
    error = real.pthread_create(&thread, &attributes, main, argument);
    if (error != 0) NoteThread(-1);
    error == 0 ? NoteHasStack(main) : NoteMapped(-stack, false);
    real.pthread_attr_destroy(&attributes);
  }
  t_thread.busy = busy;
  t_thread.tool = tool;
  raw::Call(SYS_rt_sigprocmask, SIG_SETMASK, raw::Arg(&old), 0, sizeof(old));
  return error == EAGAIN && !HasMemoryFor(stack_bytes + proto::kPageBytes) ? ENOMEM : error;
}

void EnterToolThread(const char* name) noexcept {
  t_thread.busy = 1;
  t_thread.tool = kToolThread;
  raw::Call(SYS_prctl, PR_SET_NAME, raw::Arg(name));
  NoteOwnThread();
  g_process.unnamed_threads.fetch_sub(1);
}

}  // namespace gpuprof::inject
