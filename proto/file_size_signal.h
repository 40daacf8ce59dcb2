// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// While one lives, a write beyond the file size limit (ulimit -f) fails in the calling thread
// instead of killing the process: SIGXFSZ is blocked, and one that came meanwhile is taken away.
//
// Any thread, also a program's inside a hook; keeps errno. Has no cancellation point: a thread that
// is cancelled while a hook holds all signals back would wait for ever in libc's sigtimedwait().

#pragma once

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace gpuprof::proto {

class NoFileSizeSignal {
 public:
  NoFileSizeSignal() noexcept {
    const int error = errno;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    sigset_t before;
    // On Linux of the calling thread alone, and in libc itself: pthread_sigmask once was not.
    was_blocked_ =
        sigprocmask(SIG_BLOCK, &signal_, &before) != 0 || sigismember(&before, SIGXFSZ) == 1;
    errno = error;
  }
  ~NoFileSizeSignal() noexcept {
    if (was_blocked_) return;
    const int error = errno;
    const timespec at_once = {};
    while (syscall(SYS_rt_sigtimedwait, &signal_, nullptr, &at_once, kKernelSetBytes) > 0) continue;
    sigprocmask(SIG_UNBLOCK, &signal_, nullptr);
    errno = error;
  }
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  static constexpr size_t kKernelSetBytes = 8;
  sigset_t signal_;
  bool was_blocked_ = false;
};

}  // namespace gpuprof::proto
