// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The top of a stack is found without asking libc. glibc keeps the control block of a thread that
// was created at the top of the thread's stack, be the stack its own or the program's. The loader
// tells where the first thread's stack began; the control block of that one lies elsewhere, and
// anything may be mapped below it. Between a frame and the top every page is then tried once with a
// system call that reads a word; a page that cannot be read means that the frame is on another
// stack. What was tried is remembered in 24 bytes of thread-local memory.

#include "tracer/stack/stack_bounds.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>

extern "C" void* __libc_stack_end;  // the first thread's stack pointer at its first instruction

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMostTried = 16u << 20;  // 4096 system calls, once a thread
constexpr uint32_t kMostFailures = 8;

struct Known {
  uint64_t lo;
  uint64_t hi;
  uint64_t failures;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Known known = {0, 0, 0};

long RawSyscall(long number, long a, long b, long c, long d) noexcept {
#if defined(__x86_64__)
  long result;
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#else
#error "no system call sequence for this processor"
#endif
}

// The kernel reads the new mask before it looks at the (here invalid) way to apply it: EFAULT or
// EINVAL, and no effect.
bool PageReadable(uint64_t address) noexcept {
  constexpr long kInvalidHow = -1;
  constexpr long kFault = -14;
  return RawSyscall(SYS_rt_sigprocmask, kInvalidHow, static_cast<long>(address & ~(kPage - 1)), 0,
                    8) != kFault;
}

bool AllReadable(uint64_t lo, uint64_t hi) noexcept {
  for (uint64_t page = lo & ~(kPage - 1); page < hi; page += kPage) {
    if (!PageReadable(page)) return false;
  }
  return true;
}

// The thread pointer of the process's first thread; 0: that one has captured nothing yet.
std::atomic<uint64_t> first_thread = 0;

// Whether this is the first thread of the process. A child forked by another thread has that one's
// stack, and a thread pointer that is not known to be the first's.
bool IsFirstThread(uint64_t thread_pointer) noexcept {
  const uint64_t known_first = first_thread.load(std::memory_order_relaxed);
  if (known_first != 0) return known_first == thread_pointer;
  if (RawSyscall(SYS_gettid, 0, 0, 0, 0) != RawSyscall(SYS_getpid, 0, 0, 0, 0)) return false;
  first_thread.store(thread_pointer, std::memory_order_relaxed);
  return true;
}

// Where the calling thread's own stack ends, when `sp` may be on it; 0: `sp` is on another.
uint64_t TopAbove(uint64_t sp) noexcept {
  const auto pointer = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  const uint64_t top =
      IsFirstThread(pointer) ? reinterpret_cast<uint64_t>(__libc_stack_end) : pointer;
  return top > sp && top - sp <= kMostTried ? top & ~uint64_t{7} : 0;
}

bool Learn(uint64_t sp) noexcept {
  if (known.failures >= kMostFailures) return false;
  const uint64_t page = sp & ~(kPage - 1);
  const bool extends = known.hi != 0 && sp < known.lo && known.lo - sp <= kMostTried;
  const uint64_t end = extends ? known.lo : TopAbove(sp);
  if (end == 0 || !AllReadable(page, end)) {
    ++known.failures;
    return false;
  }
  // In this order: a signal handler that captures in between sees a range that is smaller, never
  // one untried.
  if (!extends) {
    known.hi = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    known.lo = page;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    known.hi = end;
  } else {
    known.lo = page;
  }
  return true;
}

[[gnu::noinline]] StackBounds SlowBoundsOf(uint64_t sp) noexcept {
  if (Learn(sp)) return {sp, known.hi, false};
  stack_t alternative = {};
  if (RawSyscall(SYS_sigaltstack, 0, reinterpret_cast<long>(&alternative), 0, 0) == 0) {
    const uint64_t lo = reinterpret_cast<uint64_t>(alternative.ss_sp);
    if (sp >= lo && sp - lo < alternative.ss_size) {
      return {sp, (lo + alternative.ss_size) & ~uint64_t{7}, false};
    }
  }
  return {sp, (sp & ~(kPage - 1)) + kPage, true};
}

}  // namespace

StackBounds BoundsOf(uint64_t sp) noexcept {
  if (__builtin_expect(sp >= known.lo && sp < known.hi, 1)) return {sp, known.hi, false};
  return SlowBoundsOf(sp);
}

bool StackHasRoom(uint64_t sp, uint64_t bytes) noexcept { return AllReadable(sp - bytes, sp); }

bool ThreadHasRoom(uint64_t bytes) noexcept {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (syscall(SYS_gettid) != getpid()) return StackHasRoom(here, bytes);
  // The first thread's stack grows up to its limit. Without one it lies within a gigabyte of its
  // end all the same: further away is a stack of somebody's making, whose size is not known.
  constexpr uint64_t kWithoutLimit = uint64_t{1} << 30;
  rlimit limit = {};
  const auto end = reinterpret_cast<uint64_t>(__libc_stack_end);
  return getrlimit(RLIMIT_STACK, &limit) == 0 && end > here &&
         std::min<uint64_t>(limit.rlim_cur, kWithoutLimit) > end - here + 2 * bytes;
}

}  // namespace gpuprof::tracer
