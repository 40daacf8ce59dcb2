// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// System calls that block: sleeps, waits for messages, events and children, and futexes that a
// program waits on by itself. Reads are hooked in files.cc. Recorded with the locks, if they last:
// shorter ones are no waits, and write nothing. All are cancellation points. Our guard is never
// held across the real call.

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>

#include "inject/hook_list.h"
#include "inject/hooks/blocking.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

using proto::WaitKind;

// The shortest that is recorded: 100 us.
constexpr uint64_t kShortestPerSecond = 10'000;

// Out of line, as everything here: the calls are many, and each takes long by its nature.
struct Place {
  uint64_t start;
  uint32_t capture;
  WaitKind kind;
  const void* object;
  const void* caller;
  const void* frame;  // the hook's
};

[[gnu::noinline]] void Begin(Place* place) {
  place->capture = g_process.captures.load(std::memory_order_relaxed);
  place->start = proto::ReadTicks(g_process.clock);
}

[[gnu::noinline]] void End(const Place& place) {
  const uint64_t end = proto::ReadTicks(g_process.clock);
  const uint64_t length = end - place.start;
  if (length * kShortestPerSecond < g_settings.ticks_per_second) return;
  // It began in an earlier capture.
  if (g_process.captures.load(std::memory_order_relaxed) != place.capture) return;
  const int saved = errno;
  {
    Recorder recorder(proto::kSourceLocks);
    if (recorder.active()) {
      recorder.WriteWait(
          {end, 0, static_cast<uint8_t>(proto::RecordKind::kWait), 0,
           static_cast<uint16_t>(place.kind), reinterpret_cast<uint64_t>(place.object),
           reinterpret_cast<uint64_t>(place.caller)},
          length, 0, place.frame, 0);
    }
  }
  errno = saved;
}

template <typename Call>
inline auto Blocking(WaitKind kind, const void* object, const void* caller, const void* frame,
                     Call call) {
  Place place = {0, 0, kind, object, caller, frame};
  Begin(&place);
  const auto result = call();
  End(place);
  return result;
}

// Our own threads, and calls within our own code, wait for nothing of the program's.
inline bool IsWanted() { return Recording(proto::kSourceLocks) && t_thread.busy == 0; }

const void* Object(long number) { return reinterpret_cast<const void*>(number); }

}  // namespace

namespace gpuprof::inject {

bool IsFutexWait(long number, long operation) noexcept {
  if (number != SYS_futex || !IsWanted()) return false;
  const long command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

long WaitOnFutex(const void* caller, const void* frame, long a, long b, long c, long d, long e,
                 long f) noexcept {
  return Blocking(WaitKind::kFutex, Object(a), caller, frame,
                  [=] { return real.syscall(SYS_futex, a, b, c, d, e, f); });
}

void EndInputWait(int descriptor, uint64_t start, uint32_t capture, const void* caller,
                  const void* frame) noexcept {
  End({start, capture, WaitKind::kInput, Object(descriptor), caller, frame});
}

}  // namespace gpuprof::inject

#define GPUPROF_BLOCKING(kind, object, call)                                   \
  if (__builtin_expect(!IsWanted(), 1)) return call;                           \
  return Blocking(WaitKind::kind, Object(object), __builtin_return_address(0), \
                  __builtin_frame_address(0), [=] { return call; })

extern "C" {

GPUPROF_EXPORT int nanosleep(const timespec* time, timespec* left) {
  GPUPROF_BLOCKING(kSleep, 0, real.nanosleep(time, left));
}

GPUPROF_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                   timespec* left) {
  GPUPROF_BLOCKING(kSleep, 0, real.clock_nanosleep(clock, flags, time, left));
}

GPUPROF_EXPORT int usleep(unsigned microseconds) {
  GPUPROF_BLOCKING(kSleep, 0, real.usleep(microseconds));
}

GPUPROF_EXPORT unsigned sleep(unsigned seconds) {
  GPUPROF_BLOCKING(kSleep, 0, real.sleep(seconds));
}

GPUPROF_EXPORT int poll(struct pollfd* files, unsigned long count, int timeout) {
  GPUPROF_BLOCKING(kEvents, 0, real.poll(files, count, timeout));
}

GPUPROF_EXPORT int ppoll(struct pollfd* files, unsigned long count, const timespec* timeout,
                         const sigset_t* mask) {
  GPUPROF_BLOCKING(kEvents, 0, real.ppoll(files, count, timeout, mask));
}

GPUPROF_EXPORT int select(int count, fd_set* read, fd_set* write, fd_set* except,
                          struct timeval* timeout) {
  GPUPROF_BLOCKING(kEvents, 0, real.select(count, read, write, except, timeout));
}

GPUPROF_EXPORT int epoll_wait(int epoll, struct epoll_event* events, int most, int timeout) {
  GPUPROF_BLOCKING(kEvents, epoll, real.epoll_wait(epoll, events, most, timeout));
}

GPUPROF_EXPORT int epoll_pwait(int epoll, struct epoll_event* events, int most, int timeout,
                               const sigset_t* mask) {
  GPUPROF_BLOCKING(kEvents, epoll, real.epoll_pwait(epoll, events, most, timeout, mask));
}

GPUPROF_EXPORT ssize_t recv(int socket, void* buffer, size_t bytes, int flags) {
  GPUPROF_BLOCKING(kInput, socket, real.recv(socket, buffer, bytes, flags));
}

GPUPROF_EXPORT ssize_t recvmsg(int socket, struct msghdr* message, int flags) {
  GPUPROF_BLOCKING(kInput, socket, real.recvmsg(socket, message, flags));
}

GPUPROF_EXPORT pid_t waitpid(pid_t child, int* status, int options) {
  GPUPROF_BLOCKING(kChild, child, real.waitpid(child, status, options));
}

GPUPROF_EXPORT pid_t wait4(pid_t child, int* status, int options, struct rusage* usage) {
  GPUPROF_BLOCKING(kChild, child, real.wait4(child, status, options, usage));
}

}  // extern "C"
