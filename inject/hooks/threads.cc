// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Thread creation (POSIX's and C11's) and names. While recording, a new thread starts in our
// trampoline, which notes its birth; its death is seen by inject/thread_exit.cc. Dormant: the call
// goes straight through.

#include <errno.h>
#include <atomic>

#include "inject/hook_list.h"
#include "inject/hooks/locks.h"
#include "inject/own_room.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

using proto::Record;
using proto::RecordKind;
using proto::ThreadEvent;

struct Start {
  std::atomic<uint32_t> taken;
  int creator;
  void (*function)();  // what it returns, its caller knows
  void* argument;
};

// Between pthread_create and the first lines of the new thread; no heap in hooks. When all are
// taken (thousands of threads starting at the same moment) a thread starts without us and is
// noticed at its first event.
constexpr uint32_t kStarts = 2048;
constinit Start g_start[kStarts] = {};
std::atomic<uint32_t> g_next_start{0};

Start* TakeStart() {
  for (uint32_t attempt = 0; attempt < 128; ++attempt) {
    Start* start = &g_start[g_next_start.fetch_add(1, std::memory_order_relaxed) % kStarts];
    uint32_t expected = 0;
    if (start->taken.compare_exchange_strong(expected, 1, std::memory_order_acquire)) return start;
  }
  return nullptr;
}

Record ThreadRecord(const Recorder& recorder, ThreadEvent event, uint64_t a, uint64_t b) {
  return {recorder.Now(),
          0,
          static_cast<uint8_t>(RecordKind::kThread),
          0,
          static_cast<uint16_t>(event),
          a,
          b};
}

// Null: the thread is to start without us.
Start* Prepare(void (*function)(), void* argument) {
  // The begin of a thread of Python is watched in each recording: see StayIfPythonIsHeld.
  const bool is_wanted = Recording(proto::kSourceThreads) || (Recording(~0u) && HasPython());
  Start* start = is_wanted && t_thread.tool == 0 ? TakeStart() : nullptr;
  if (start == nullptr) return nullptr;
  start->creator = raw::GetTid();
  start->function = function;
  start->argument = argument;
  return start;
}

struct Body {
  void (*function)();
  void* argument;
};

// The first thing in a new thread. Gives the slot back.
Body NoteStart(void* opaque) {
  Start* slot = static_cast<Start*>(opaque);
  const Body body = {slot->function, slot->argument};
  const int creator = slot->creator;
  slot->taken.store(0, std::memory_order_release);
  {
    Recorder recorder(proto::kSourceThreads);
    if (recorder.active()) {
      recorder.Write(ThreadRecord(recorder, ThreadEvent::kStart,
                                  reinterpret_cast<uint64_t>(body.function),
                                  static_cast<uint64_t>(creator)));
    }
  }
  StayIfPythonIsHeld();
  return body;
}

void* ThreadMain(void* opaque) {
  const Body body = NoteStart(opaque);
  return reinterpret_cast<void* (*)(void*)>(body.function)(body.argument);
}

int C11ThreadMain(void* opaque) {
  const Body body = NoteStart(opaque);
  return reinterpret_cast<thrd_start_t>(body.function)(body.argument);
}

}  // namespace

extern "C" {

GPUPROF_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                  void* (*function)(void*), void* argument) {
  if (Recording(proto::kSourcePythonCalls) && t_thread.busy == 0 && t_thread.tool == 0 &&
      g_process.session.load(std::memory_order_acquire) != 0)
    g_process.tracer->thread_begins();
  Start* start = Prepare(reinterpret_cast<void (*)()>(function), argument);
  void* (*const first)(void*) = start == nullptr ? function : ThreadMain;
  void* const given = start == nullptr ? argument : start;
  int result = real.pthread_create(thread, attributes, first, given);
  if (__builtin_expect(result == EAGAIN, 0) && GiveBack(0))
    result = real.pthread_create(thread, attributes, first, given);
  if (result != 0 && start != nullptr) start->taken.store(0, std::memory_order_release);
  return result;
}

GPUPROF_EXPORT int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  if (real.thrd_create == nullptr) return thrd_error;
  Start* start = C11IsLibcs() ? Prepare(reinterpret_cast<void (*)()>(function), argument) : nullptr;
  const thrd_start_t first = start == nullptr ? function : C11ThreadMain;
  void* const given = start == nullptr ? argument : start;
  int result = real.thrd_create(thread, first, given);
  if (__builtin_expect(result != thrd_success, 0) && GiveBack(0))
    result = real.thrd_create(thread, first, given);
  if (result != thrd_success && start != nullptr) start->taken.store(0, std::memory_order_release);
  return result;
}

GPUPROF_EXPORT int pthread_setname_np(pthread_t thread, const char* name) {
  const int result = real.pthread_setname_np(thread, name);
  // Only one's own name: another thread's is read from /proc by the drain.
  if (result == 0 && Recording(proto::kSourceThreads) && thread == pthread_self()) {
    Recorder recorder(proto::kSourceThreads);
    if (recorder.active()) {
      uint64_t words[2] = {};
      char* text = reinterpret_cast<char*>(words);
      for (int i = 0; i < 15 && name[i] != 0; ++i) text[i] = name[i];
      __builtin_memcpy(recorder.ring()->name, words, sizeof(words));
      recorder.Write(ThreadRecord(recorder, ThreadEvent::kName, words[0], words[1]));
    }
  }
  return result;
}

}  // extern "C"
