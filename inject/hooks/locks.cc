// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits for locks, of POSIX and of C11. Mutexes, reader-writer locks and semaphores are tried
// first: an uncontended one writes nothing and reads no clock; only a refusal becomes a timed wait.
// Condition variables and barriers wait by design and are always recorded, joins of threads that
// live still too, under their own kinds. A call that fails was no wait.
//
// Several of these are cancellation points: our guard is never held across the real call, and a
// wait that is cancelled leaves nothing behind but the open-wait mark, which the next wait
// overwrites and the thread's end makes a row of.

#include "inject/hooks/locks.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

#include "inject/elf_symbol.h"
#include "inject/hook_list.h"
#include "inject/hooks/condition_signals.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

using proto::WaitKind;

// As RingHeader.open_wait_kind has it. Of a lock or a join whether its call has a limit of time:
// one that has ends by itself, whoever waits for whom.
struct Kind {
  constexpr Kind(WaitKind kind)  // NOLINT(google-explicit-constructor): most have no limit
      : code(static_cast<uint16_t>(kind)) {}
  uint16_t code;
};
constexpr Kind Limited(WaitKind kind) {
  Kind limited(kind);
  limited.code |= proto::kFlagLimited << 8;
  return limited;
}

struct Wait {
  Kind kind;
  const void* object;
  const void* caller;
  const void* frame;  // the hook's
  uint32_t owner = 0;
  uint64_t stack = 0;  // where it stands in the ring; Recorder::WriteStackAhead
};

// _PyRuntime of the first Python that came with the program. No bytes: Python came later, or never.
DefinedData g_python;
// The thread that took the global interpreter lock last.
std::atomic<uint32_t> g_gil_holder{0};

bool IsOfGil(const void* object) {
  return reinterpret_cast<uint64_t>(object) - g_python.address < g_python.bytes;
}

std::atomic<bool> g_holds_python{false};

// The system call leaves errno alone.
[[gnu::noinline, gnu::cold]] void StayForEnd() {
  constexpr timespec kPause = {0, 10'000'000};
  constexpr int kMostPauses = 1000;
  for (int i = 0; i < kMostPauses && g_holds_python.load(); ++i)
    raw::Call(SYS_nanosleep, raw::Arg(&kPause));
}

// Passes the result of a wait on, if not at once.
inline int Held(const void* object, int result) {
  if (__builtin_expect(g_holds_python.load(std::memory_order_relaxed), 0) && IsOfGil(object))
    StayForEnd();
  return result;
}

// Who holds the lock: glibc keeps the thread's number in it. Read while it may change: a guess, but
// for a lock that is held long a good one.
uint32_t OwnerOf(const pthread_mutex_t* mutex) {
  return static_cast<uint32_t>(__atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED));
}
uint32_t OwnerOf(const pthread_rwlock_t* lock) {
  return static_cast<uint32_t>(__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED));
}

// glibc's C11 mutex is one of POSIX.
static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t));
uint32_t OwnerOf(const mtx_t* mutex) {
  return OwnerOf(reinterpret_cast<const pthread_mutex_t*>(mutex));
}

// Marks the wait as open in the ring header, for captures that end and processes that die in it. 0:
// not recorded.
[[gnu::noinline]] uint64_t BeginWait(Wait* wait) {
  Recorder recorder(proto::kSourceLocks);
  if (!recorder.active()) return 0;
  proto::RingHeader* ring = recorder.ring();
  const uint64_t now = recorder.Now();
  wait->stack = recorder.WriteStackAhead(now, wait->frame);
  // One that was cancelled may stand there still; a reader must not mix the two.
  ring->open_wait_start.store(0, std::memory_order_relaxed);
  constexpr auto kRelease = std::memory_order_release;
  ring->open_wait_kind.store(wait->kind.code, kRelease);
  ring->open_wait_object.store(reinterpret_cast<uint64_t>(wait->object), kRelease);
  ring->open_wait_caller.store(reinterpret_cast<uint64_t>(wait->caller), kRelease);
  ring->open_wait_stack.store(wait->stack, kRelease);
  ring->open_wait_owner.store(wait->owner, kRelease);
  ring->open_wait_start.store(now, std::memory_order_release);
  return now;
}

// Closes the mark of an open wait. Returns when the wait began, as far as this ring may tell: a
// wait may be older than the capture, or than the forked child that came out of it.
uint64_t CloseMark(proto::RingHeader* ring, uint64_t start) {
  std::atomic<uint64_t>& mark = ring->open_wait_start;
  const uint64_t marked = mark.load(std::memory_order_relaxed);
  if (start < marked) start = marked;
  if (start < ring->opened) start = ring->opened;
  mark.store(0, std::memory_order_relaxed);
  return start;
}

void WriteWait(Recorder* recorder, const Wait& wait, uint64_t start, uint64_t end, uint8_t flags) {
  recorder->WriteWait(
      {end, 0, static_cast<uint8_t>(proto::RecordKind::kWait), flags,
       static_cast<uint16_t>(wait.kind.code & 0xff), reinterpret_cast<uint64_t>(wait.object),
       reinterpret_cast<uint64_t>(wait.caller)},
      end > start ? end - start : 0, wait.owner, wait.frame, wait.stack);
}

// `result`: an error number, or one of C11's results: no call here returns the error number that
// thrd_timedout looks like (EINTR). A barrier's chosen thread gets -1.
//
// `mutex`, `signalled`: a condition's wait ended at that moment, and the rest was one for its
// mutex.
[[gnu::noinline]] void EndWait(const Wait& wait, uint64_t start, int result,
                               const void* mutex = nullptr, uint64_t signalled = 0) {
  if (start == 0) return;
  Recorder recorder(proto::kSourceLocks);
  if (!recorder.active()) {
    // The capture ended meanwhile: the mark must not be there in the next one. Not in a child that
    // was made behind our back, whose ring is its parent's.
    WithOwnRing(
        [](proto::RingHeader* ring) { ring->open_wait_start.store(0, std::memory_order_relaxed); });
    return;
  }
  const bool timed_out = result == ETIMEDOUT || result == thrd_timedout;
  if (timed_out || result <= 0 || result == EOWNERDEAD) {
    const uint8_t flags = timed_out ? proto::kFlagTimedOut : uint8_t{0};
    start = CloseMark(recorder.ring(), start);
    const bool is_divided = signalled > start && signalled >= recorder.ring()->last_time;
    if (!is_divided) return WriteWait(&recorder, wait, start, recorder.Now(), flags);
    WriteWait(&recorder, wait, start, signalled, flags);
    WriteWait(&recorder,
              {IsOfGil(mutex) ? WaitKind::kGil : WaitKind::kMutex, mutex, wait.caller, wait.frame},
              signalled, recorder.Now(), 0);
  } else {
    recorder.ring()->open_wait_start.store(0, std::memory_order_relaxed);
  }
}

// A wait that returns an error number or one of C11's results.
template <typename Call>
int Timed(Wait wait, Call call) {
  const uint64_t start = BeginWait(&wait);
  const int result = call();
  EndWait(wait, start, result);
  return result;
}

ConditionSignals g_signals;

// How often this thread has gone to sleep.
uint64_t Sleeps() {
  rusage usage = {};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<uint64_t>(usage.ru_nvcsw) : 0;
}

struct ConditionWait {
  Wait wait;
  const void* mutex;
  uint64_t start = 0;
  uint64_t sleeps = 0;
};

[[gnu::noinline]] void Begin(ConditionWait* of) {
  if (IsOfGil(of->wait.object)) {
    of->wait.kind = Limited(WaitKind::kGil);  // who waits long asks the holder for it
    of->wait.owner = g_gil_holder.load(std::memory_order_relaxed);
  }
  of->start = BeginWait(&of->wait);
  if (of->start != 0) of->sleeps = Sleeps();
}

// A thread that is woken late has slept once; one that finds the mutex taken sleeps again.
[[gnu::noinline]] void End(const ConditionWait& of, int result) {
  constexpr uint64_t kShortestPerSecond = 10'000;  // 100 us: a shorter one is not worth a row
  uint64_t signalled = 0;
  if (of.start != 0 && result == 0) {
    signalled = g_signals.Last(of.wait.object);
    const uint64_t now = proto::ReadTicks(g_settings.clock);
    const bool is_long = signalled != 0 && now > signalled &&
                         (now - signalled) * kShortestPerSecond >= g_settings.ticks_per_second;
    if (!is_long || Sleeps() < of.sleeps + 2) signalled = 0;
  }
  EndWait(of.wait, of.start, result, of.mutex, signalled);
}

template <typename Call>
inline int WaitForCondition(const Wait& wait, const void* mutex, Call call) {
  ConditionWait of{wait, mutex};
  Begin(&of);
  const int result = call();
  End(of, result);
  return result;
}

[[gnu::noinline]] void NoteSignalOf(const void* condition) {
  g_signals.Note(condition, proto::ReadTicks(g_settings.clock));
  // CPython signals one condition when a thread takes the lock, and another when it drops it.
  if (!IsOfGil(condition)) return;
  WithOwnRing([](const proto::RingHeader* ring) {
    g_gil_holder.store(static_cast<uint32_t>(ring->tid), std::memory_order_relaxed);
  });
}

inline void NoteSignal(const void* condition) {
  if (Recording(proto::kSourceLocks)) NoteSignalOf(condition);
}

// A lock that returns such a number: tried first, waited for only when busy.
template <int kBusy = EBUSY, typename Lock, typename Try, typename Call>
inline int TryThenWait(Kind kind, const Lock* lock, const void* caller, const void* frame,
                       Try attempt, Call call) {
  const int result = attempt();
  if (__builtin_expect(result != kBusy, 1)) return result;
  if (IsOfGil(lock)) kind = Limited(WaitKind::kGil);
  return Timed({kind, lock, caller, frame, OwnerOf(lock)}, call);
}

// The number of a thread that has not ended; 0: it has, or is none. Its CPU clock has the number in
// it (the kernel's interface), and unlike an attempt to join it changes nothing.
uint32_t LivingThread(pthread_t thread) {
  clockid_t clock = 0;
  if (real.pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return ~static_cast<uint32_t>(clock >> 3);
}

template <typename Call>
inline int Join(Kind kind, pthread_t thread, const void* caller, const void* frame, Call call) {
  const uint32_t joined = LivingThread(thread);
  if (joined == 0) return call();
  return Timed({kind, reinterpret_cast<const void*>(thread), caller, frame, joined}, call);
}

// A semaphore: -1 and errno.
template <typename Call>
int WaitForSemaphore(sem_t* semaphore, const void* caller, const void* frame, Call call) {
  real.pthread_testcancel();  // a cancellation point whether it blocks or not
  const int saved = errno;
  if (real.sem_trywait(semaphore) == 0) return 0;
  if (errno != EAGAIN) return -1;
  errno = saved;
  Wait wait{WaitKind::kSemaphore, semaphore, caller, frame};
  const uint64_t start = BeginWait(&wait);
  const int result = call();
  // One that a signal handler interrupted has waited too.
  EndWait(wait, start, result != 0 && errno == ETIMEDOUT ? ETIMEDOUT : 0);
  return result;
}

// What libc looks at before it looks at the object: a call that it refuses must not succeed by our
// attempt.
bool IsAccepted(const timespec* until) {
  return until->tv_nsec >= 0 && until->tv_nsec < 1'000'000'000;
}
bool IsAccepted(clockid_t clock, const timespec* until) {
  return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && IsAccepted(until);
}

}  // namespace

namespace gpuprof::inject {

void LookForGil() noexcept { g_python = FindData("_PyRuntime"); }

bool HasPython() noexcept { return g_python.bytes != 0; }
DefinedData PythonRuntime() noexcept { return g_python; }

void HoldPythonAtEnd() noexcept { g_holds_python.store(true); }
void ReleasePython() noexcept { g_holds_python.store(false); }
void StayIfPythonIsHeld() noexcept {
  if (__builtin_expect(g_holds_python.load(), 0) && HasPython()) StayForEnd();
}

void EndWaitOfEndedThread() noexcept {
  Recorder recorder(proto::kSourceLocks);
  if (!recorder.active()) return;
  proto::RingHeader* ring = recorder.ring();
  const uint64_t start = ring->open_wait_start.load(std::memory_order_relaxed);
  const auto kind =
      static_cast<WaitKind>(ring->open_wait_kind.load(std::memory_order_relaxed) & 0xff);
  // The cancellation points: of the others none ends so, and threads that wait for a mutex without
  // an end are looked at for deadlocks.
  const bool is_cancellable = kind == WaitKind::kCondition || kind == WaitKind::kGil ||
                              kind == WaitKind::kSemaphore || kind == WaitKind::kJoin;
  if (start == 0 || !is_cancellable) return;
  const auto word = [](const std::atomic<uint64_t>& of) {
    return reinterpret_cast<const void*>(of.load(std::memory_order_relaxed));
  };
  const Wait wait{kind,
                  word(ring->open_wait_object),
                  word(ring->open_wait_caller),
                  nullptr,
                  static_cast<uint32_t>(ring->open_wait_owner.load(std::memory_order_relaxed)),
                  ring->open_wait_stack.load(std::memory_order_relaxed)};
  WriteWait(&recorder, wait, CloseMark(recorder.ring(), start), recorder.Now(),
            proto::kFlagIncomplete);
}

}  // namespace gpuprof::inject

#define GPUPROF_DORMANT(call) \
  if (!Recording(proto::kSourceLocks)) return call

// C11's: no more than called where they are not libc's.
#define GPUPROF_C11_DORMANT(name, ...)         \
  if (real.name == nullptr) return thrd_error; \
  if (!Recording(proto::kSourceLocks) || !C11IsLibcs()) return real.name(__VA_ARGS__)

extern "C" {

GPUPROF_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) {
  GPUPROF_DORMANT(real.pthread_mutex_lock(mutex));
  return TryThenWait(
      WaitKind::kMutex, mutex, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_mutex_trylock(mutex); },
      [=] { return real.pthread_mutex_lock(mutex); });
}

GPUPROF_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) {
  GPUPROF_DORMANT(real.pthread_mutex_timedlock(mutex, until));
  return TryThenWait(
      Limited(WaitKind::kMutex), mutex, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_mutex_trylock(mutex); },
      [=] { return real.pthread_mutex_timedlock(mutex, until); });
}

GPUPROF_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                           const timespec* until) {
  if (real.pthread_mutex_clocklock == nullptr) return EINVAL;
  GPUPROF_DORMANT(real.pthread_mutex_clocklock(mutex, clock, until));
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return real.pthread_mutex_clocklock(mutex, clock, until);
  return TryThenWait(
      Limited(WaitKind::kMutex), mutex, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_mutex_trylock(mutex); },
      [=] { return real.pthread_mutex_clocklock(mutex, clock, until); });
}

GPUPROF_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  GPUPROF_DORMANT(real.pthread_rwlock_rdlock(lock));
  return TryThenWait(
      WaitKind::kRwlockRead, lock, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_rwlock_tryrdlock(lock); },
      [=] { return real.pthread_rwlock_rdlock(lock); });
}

GPUPROF_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* until) {
  GPUPROF_DORMANT(real.pthread_rwlock_timedrdlock(lock, until));
  if (!IsAccepted(until)) return real.pthread_rwlock_timedrdlock(lock, until);
  return TryThenWait(
      Limited(WaitKind::kRwlockRead), lock, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_rwlock_tryrdlock(lock); },
      [=] { return real.pthread_rwlock_timedrdlock(lock, until); });
}

GPUPROF_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) {
  if (real.pthread_rwlock_clockrdlock == nullptr) return EINVAL;
  GPUPROF_DORMANT(real.pthread_rwlock_clockrdlock(lock, clock, until));
  if (!IsAccepted(clock, until)) return real.pthread_rwlock_clockrdlock(lock, clock, until);
  return TryThenWait(
      Limited(WaitKind::kRwlockRead), lock, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_rwlock_tryrdlock(lock); },
      [=] { return real.pthread_rwlock_clockrdlock(lock, clock, until); });
}

GPUPROF_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  GPUPROF_DORMANT(real.pthread_rwlock_wrlock(lock));
  return TryThenWait(
      WaitKind::kRwlockWrite, lock, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.pthread_rwlock_trywrlock(lock); },
      [=] { return real.pthread_rwlock_wrlock(lock); });
}

GPUPROF_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* until) {
  GPUPROF_DORMANT(real.pthread_rwlock_timedwrlock(lock, until));
  if (!IsAccepted(until)) return real.pthread_rwlock_timedwrlock(lock, until);
  return TryThenWait(
      Limited(WaitKind::kRwlockWrite), lock, __builtin_return_address(0),
      __builtin_frame_address(0), [=] { return real.pthread_rwlock_trywrlock(lock); },
      [=] { return real.pthread_rwlock_timedwrlock(lock, until); });
}

GPUPROF_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                              const timespec* until) {
  if (real.pthread_rwlock_clockwrlock == nullptr) return EINVAL;
  GPUPROF_DORMANT(real.pthread_rwlock_clockwrlock(lock, clock, until));
  if (!IsAccepted(clock, until)) return real.pthread_rwlock_clockwrlock(lock, clock, until);
  return TryThenWait(
      Limited(WaitKind::kRwlockWrite), lock, __builtin_return_address(0),
      __builtin_frame_address(0), [=] { return real.pthread_rwlock_trywrlock(lock); },
      [=] { return real.pthread_rwlock_clockwrlock(lock, clock, until); });
}

GPUPROF_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  GPUPROF_DORMANT(Held(condition, real.pthread_cond_wait(condition, mutex)));
  return WaitForCondition(
      {WaitKind::kCondition, condition, __builtin_return_address(0), __builtin_frame_address(0)},
      mutex, [=] { return Held(condition, real.pthread_cond_wait(condition, mutex)); });
}

GPUPROF_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          const timespec* until) {
  GPUPROF_DORMANT(Held(condition, real.pthread_cond_timedwait(condition, mutex, until)));
  return WaitForCondition(
      {WaitKind::kCondition, condition, __builtin_return_address(0), __builtin_frame_address(0)},
      mutex, [=] { return Held(condition, real.pthread_cond_timedwait(condition, mutex, until)); });
}

GPUPROF_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                          clockid_t clock, const timespec* until) {
  if (real.pthread_cond_clockwait == nullptr) return EINVAL;
  GPUPROF_DORMANT(Held(condition, real.pthread_cond_clockwait(condition, mutex, clock, until)));
  return WaitForCondition(
      {WaitKind::kCondition, condition, __builtin_return_address(0), __builtin_frame_address(0)},
      mutex,
      [=] { return Held(condition, real.pthread_cond_clockwait(condition, mutex, clock, until)); });
}

GPUPROF_EXPORT int pthread_cond_signal(pthread_cond_t* condition) {
  NoteSignal(condition);
  return real.pthread_cond_signal(condition);
}

GPUPROF_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) {
  NoteSignal(condition);
  return real.pthread_cond_broadcast(condition);
}

GPUPROF_EXPORT int sem_wait(sem_t* semaphore) {
  GPUPROF_DORMANT(real.sem_wait(semaphore));
  return WaitForSemaphore(semaphore, __builtin_return_address(0), __builtin_frame_address(0),
                          [=] { return real.sem_wait(semaphore); });
}

GPUPROF_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  GPUPROF_DORMANT(real.sem_timedwait(semaphore, until));
  if (!IsAccepted(until)) return real.sem_timedwait(semaphore, until);
  return WaitForSemaphore(semaphore, __builtin_return_address(0), __builtin_frame_address(0),
                          [=] { return real.sem_timedwait(semaphore, until); });
}

GPUPROF_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  if (real.sem_clockwait == nullptr) {
    errno = EINVAL;
    return -1;
  }
  GPUPROF_DORMANT(real.sem_clockwait(semaphore, clock, until));
  if (!IsAccepted(clock, until)) return real.sem_clockwait(semaphore, clock, until);
  return WaitForSemaphore(semaphore, __builtin_return_address(0), __builtin_frame_address(0),
                          [=] { return real.sem_clockwait(semaphore, clock, until); });
}

GPUPROF_EXPORT int pthread_barrier_wait(pthread_barrier_t* barrier) {
  GPUPROF_DORMANT(real.pthread_barrier_wait(barrier));
  return Timed(
      {WaitKind::kBarrier, barrier, __builtin_return_address(0), __builtin_frame_address(0)},
      [=] { return real.pthread_barrier_wait(barrier); });
}

GPUPROF_EXPORT int pthread_join(pthread_t thread, void** result) {
  GPUPROF_DORMANT(real.pthread_join(thread, result));
  return Join(WaitKind::kJoin, thread, __builtin_return_address(0), __builtin_frame_address(0),
              [=] { return real.pthread_join(thread, result); });
}

GPUPROF_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  GPUPROF_DORMANT(real.pthread_timedjoin_np(thread, result, until));
  return Join(Limited(WaitKind::kJoin), thread, __builtin_return_address(0),
              __builtin_frame_address(0),
              [=] { return real.pthread_timedjoin_np(thread, result, until); });
}

GPUPROF_EXPORT int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock,
                                        const timespec* until) {
  if (real.pthread_clockjoin_np == nullptr) return EINVAL;
  GPUPROF_DORMANT(real.pthread_clockjoin_np(thread, result, clock, until));
  return Join(Limited(WaitKind::kJoin), thread, __builtin_return_address(0),
              __builtin_frame_address(0),
              [=] { return real.pthread_clockjoin_np(thread, result, clock, until); });
}

GPUPROF_EXPORT int mtx_lock(mtx_t* mutex) {
  GPUPROF_C11_DORMANT(mtx_lock, mutex);
  return TryThenWait<thrd_busy>(
      WaitKind::kMutex, mutex, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.mtx_trylock(mutex); }, [=] { return real.mtx_lock(mutex); });
}

GPUPROF_EXPORT int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  GPUPROF_C11_DORMANT(mtx_timedlock, mutex, until);
  return TryThenWait<thrd_busy>(
      Limited(WaitKind::kMutex), mutex, __builtin_return_address(0), __builtin_frame_address(0),
      [=] { return real.mtx_trylock(mutex); }, [=] { return real.mtx_timedlock(mutex, until); });
}

GPUPROF_EXPORT int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  GPUPROF_C11_DORMANT(cnd_wait, condition, mutex);
  return WaitForCondition(
      {WaitKind::kCondition, condition, __builtin_return_address(0), __builtin_frame_address(0)},
      mutex, [=] { return real.cnd_wait(condition, mutex); });
}

GPUPROF_EXPORT int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  GPUPROF_C11_DORMANT(cnd_timedwait, condition, mutex, until);
  return WaitForCondition(
      {WaitKind::kCondition, condition, __builtin_return_address(0), __builtin_frame_address(0)},
      mutex, [=] { return real.cnd_timedwait(condition, mutex, until); });
}

GPUPROF_EXPORT int cnd_signal(cnd_t* condition) {
  if (real.cnd_signal == nullptr) return thrd_error;
  NoteSignal(condition);
  return real.cnd_signal(condition);
}

GPUPROF_EXPORT int cnd_broadcast(cnd_t* condition) {
  if (real.cnd_broadcast == nullptr) return thrd_error;
  NoteSignal(condition);
  return real.cnd_broadcast(condition);
}

GPUPROF_EXPORT int thrd_join(thrd_t thread, int* result) {
  GPUPROF_C11_DORMANT(thrd_join, thread, result);
  return Join(WaitKind::kJoin, thread, __builtin_return_address(0), __builtin_frame_address(0),
              [=] { return real.thrd_join(thread, result); });
}

}  // extern "C"
