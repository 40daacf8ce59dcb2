// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hidden definitions of what the static libunwind calls around its locks, on application threads.
//
// Mutexes: bound to libc's they would pass through our own hooks, and a lock of ours that is busy
// would count as an event of the program that was not recorded. Plain mutexes only, as libunwind
// makes them; the word is the first of the mutex: 0 free, 1 held, 2 held and waited for.
//
// The signal mask: libc's function never blocks the signals that libc keeps for itself, so that
// giving back a mask through it would unblock them on libc's own threads. One of these waits for
// timers (SIGEV_THREAD) with their signal blocked: let in, it kills the process.

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<int>* WordOf(pthread_mutex_t* mutex) {
  static_assert(sizeof(std::atomic<int>) <= sizeof(pthread_mutex_t));
  return reinterpret_cast<std::atomic<int>*>(mutex);
}

constexpr long kKernelMaskBytes = 8;

}  // namespace

extern "C" {

int sigprocmask(int how, const sigset_t* set, sigset_t* old) {
  return static_cast<int>(syscall(SYS_rt_sigprocmask, how, set, old, kKernelMaskBytes));
}

int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* /*attributes*/) {
  WordOf(mutex)->store(0);
  return 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  std::atomic<int>* word = WordOf(mutex);
  int seen = 0;
  if (word->compare_exchange_strong(seen, 1)) return 0;
  const int saved = errno;
  while (word->exchange(2) != 0) syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0);
  errno = saved;
  return 0;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  std::atomic<int>* word = WordOf(mutex);
  const int saved = errno;
  if (word->exchange(0) == 2) syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  errno = saved;
  return 0;
}

}  // extern "C"
