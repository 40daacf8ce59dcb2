// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records CUPTI's activity buffers, byte for byte, on a machine with a GPU where nothing can be
// installed; the doubles play them again (replay/replay_buffers.cc). The driver loads it:
//
//   CUDA_INJECTION64_PATH=$PWD/cupti_recorder.so CUPTI_RECORDER_FILE=run.cupti ./program
//
// CUPTI_RECORDER_FILE     the file (buffer_file.h); a further process appends its number
// CUPTI_RECORDER_LIBRARY  the libcupti to take where the program has loaded none (library.h)
// CUPTI_RECORDER_ALSO     numbers of further kinds, as 51,36: graphs as wholes, events
// CUPTI_RECORDER_ROOM     bytes of a buffer (the tracer's)
//
// The program's threads ask for buffers, CUPTI's own gives them back and writes them; at exit one
// of ours flushes what is left, for which it has ten seconds. A process that is killed leaves a
// file without an end, which is no recording.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "tests/fake_gpu/recorder/buffer_writer.h"
#include "tests/fake_gpu/recorder/library.h"

namespace {

using fake_gpu_recorder::Clock;

constexpr time_t kFlushSeconds = 10;

// What the tracer asks for (kKinds in tracer/cupti/capture.cc; a test compares them), but calls of
// both domains without a choice: what it leaves out, it leaves out when it reads them too.
struct Kind {
  CUpti_ActivityKind kind;
  bool dumps = false;  // with records of what is there already
};
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL}, {CUPTI_ACTIVITY_KIND_MEMCPY},
    {CUPTI_ACTIVITY_KIND_MEMCPY2},           {CUPTI_ACTIVITY_KIND_MEMSET},
    {CUPTI_ACTIVITY_KIND_RUNTIME},           {CUPTI_ACTIVITY_KIND_DRIVER},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION},   {CUPTI_ACTIVITY_KIND_CUDA_EVENT},
    {CUPTI_ACTIVITY_KIND_MEMORY2},           {CUPTI_ACTIVITY_KIND_MEMORY_POOL},
    {CUPTI_ACTIVITY_KIND_OVERHEAD},          {CUPTI_ACTIVITY_KIND_JIT},
    {CUPTI_ACTIVITY_KIND_DEVICE, true},      {CUPTI_ACTIVITY_KIND_CONTEXT, true},
    {CUPTI_ACTIVITY_KIND_STREAM, true},
};

fake_gpu_recorder::Library library;
fake_gpu_recorder::BufferWriter writer;
pid_t owner;
size_t room;
std::atomic<bool> exit_handled{false}, ended{false};

pthread_mutex_t flush_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t flush_changed = PTHREAD_COND_INITIALIZER;
bool is_flushed;
struct Rest {
  uint64_t dropped;
  uint32_t flags;  // of the end
} rest;

void Say(const char* what, const char* why) {
  fprintf(stderr, "cupti_recorder: %s: %s\n", what, why);
}

uint64_t Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Of some tries the one that took the shortest: whoever was interrupted took longer.
void WriteClock() {
  constexpr int kTries = 5;
  Clock best = {};
  for (int i = 0; i < kTries; ++i) {
    Clock clock = {};
    clock.realtime_before = Now(CLOCK_REALTIME);
    clock.raw_before = Now(CLOCK_MONOTONIC_RAW);
    if (library.GetTimestamp(&clock.cupti) != CUPTI_SUCCESS) return;
    clock.raw_after = Now(CLOCK_MONOTONIC_RAW);
    clock.realtime_after = Now(CLOCK_REALTIME);
    if (i == 0 || clock.raw_after - clock.raw_before < best.raw_after - best.raw_before)
      best = clock;
  }
  writer.WriteClock(best);
}

// Inside CUPTI, on a thread of the program's: not from its heap.
void OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  void* pages = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *buffer = pages != MAP_FAILED ? static_cast<uint8_t*>(pages) : nullptr;
  *size = *buffer != nullptr ? room : 0;
  *most_records = 0;
}

int NextRecord(uint8_t* buffer, size_t valid, uint8_t** record) {
  auto* at = reinterpret_cast<CUpti_Activity*>(*record);
  const CUptiResult result = library.ActivityGetNextRecord(buffer, valid, &at);
  *record = reinterpret_cast<uint8_t*>(at);
  return result;
}

void OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  writer.WriteBuffer(buffer, room, valid, NextRecord);
  munmap(buffer, room);
}

void* Flush(void*) {
  const CUptiResult result = library.ActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  size_t count = 0;
  library.ActivityGetNumDroppedRecords(nullptr, 0, &count);
  WriteClock();
  pthread_mutex_lock(&flush_mutex);
  rest.dropped = count;
  if (result != CUPTI_SUCCESS) rest.flags |= fake_gpu_recorder::kFlushFailed;
  is_flushed = true;
  pthread_cond_signal(&flush_changed);
  pthread_mutex_unlock(&flush_mutex);
  return nullptr;
}

// A driver in trouble may never answer; the program's exit must not wait for that.
Rest FlushInTime() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const int failure = pthread_create(&thread, &attributes, Flush, nullptr);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failure != 0) Flush(nullptr);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kFlushSeconds;
  pthread_mutex_lock(&flush_mutex);
  while (!is_flushed) {
    if (pthread_cond_timedwait(&flush_changed, &flush_mutex, &until) == ETIMEDOUT) break;
  }
  if (!is_flushed) rest.flags |= fake_gpu_recorder::kFlushTimedOut;
  const Rest found = rest;
  pthread_mutex_unlock(&flush_mutex);
  return found;
}

void WriteEnd(const Rest& end) {
  constexpr uint32_t kIncomplete =
      fake_gpu_recorder::kFlushTimedOut | fake_gpu_recorder::kFlushFailed;
  if ((end.flags & kIncomplete) != 0) Say(writer.path(), "CUPTI did not hand over the rest");
  if (!writer.WriteEnd(end.dropped, end.flags)) Say(writer.path(), "could not be written whole");
}

// Registered when the first context is made, later than the driver and the runtime have registered
// theirs: so it runs before them, while CUPTI still works.
void OnExit(int, void*) {
  if (getpid() != owner || ended.exchange(true)) return;
  WriteEnd(FlushInTime());
}

// After the driver's: nothing can be asked for any more. Of a program that had no context.
void OnLateExit(int, void*) {
  if (getpid() != owner || ended.exchange(true)) return;
  WriteEnd({0, fake_gpu_recorder::kNotFlushed});
}

void OnCallback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void*) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_CONTEXT_CREATED) return;
  if (!exit_handled.exchange(true)) on_exit(OnExit, nullptr);
}

void Enable(CUpti_ActivityKind kind, bool dumps) {
  CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
  // Before the driver is ready a library may refuse to tell of what is there: that is nothing.
  if (dumps && library.ActivityEnableAndDump != nullptr)
    result = library.ActivityEnableAndDump(kind);
  if (result != CUPTI_SUCCESS) result = library.ActivityEnable(kind);
  char line[64];
  snprintf(line, sizeof line, "kind %d result %d\n", kind, result);
  writer.WriteAbout(line);
}

void EnableKinds() {
  // Questions that were answered with "not ready" the tracer leaves out where it can, from 12.8 on.
  if (library.version >= 26 && library.ActivityEnableAllSyncRecords != nullptr)
    library.ActivityEnableAllSyncRecords(0);
  for (const Kind& kind : kKinds) Enable(kind.kind, kind.dumps);
  const char* also = getenv("CUPTI_RECORDER_ALSO");
  while (also != nullptr && *also >= '0' && *also <= '9') {
    char* end = nullptr;
    Enable(static_cast<CUpti_ActivityKind>(strtoul(also, &end, 10)), false);
    also = *end == ',' ? end + 1 : end;
  }
}

void WriteAttributes() {
  constexpr CUpti_ActivityAttribute kAttributes[] = {
      CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE,
      CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED,
      CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER};
  for (const CUpti_ActivityAttribute attribute : kAttributes) {
    uint64_t value = 0;
    size_t size = sizeof value;
    if (library.ActivityGetAttribute == nullptr ||
        library.ActivityGetAttribute(attribute, &size, &value) != CUPTI_SUCCESS) {
      continue;
    }
    char line[64];
    snprintf(line, sizeof line, "attribute %d value %lu\n", attribute, value);
    writer.WriteAbout(line);
  }
}

void WriteAbout() {
  char program[1024] = {};
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) program[0] = 0;
  char text[6000];
  snprintf(text, sizeof text, "library %s\ndriver %d\nprogram %s\n", library.path,
           library.driver_version, program);
  writer.WriteAbout(text);
}

// As the tracer's: from 13.0 on each thread has a buffer of its own.
void ChooseRoom() {
  const char* given = getenv("CUPTI_RECORDER_ROOM");
  if (given != nullptr) room = strtoul(given, nullptr, 10);
  if (room == 0) room = library.version >= 130000 ? 256 << 10 : 1 << 20;
}

bool Start(const char* path) {
  owner = getpid();
  if (!fake_gpu_recorder::Load(&library)) {
    Say("nothing is recorded", library.path);
    return false;
  }
  ChooseRoom();
  CUpti_SubscriberHandle subscriber = nullptr;
  CUptiResult result = library.Subscribe(&subscriber, OnCallback, nullptr);
  if (result == CUPTI_SUCCESS) {
    if (library.SetThreadIdType != nullptr)
      library.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    result = library.ActivityRegisterCallbacks(OnRequest, OnComplete);
  }
  if (result != CUPTI_SUCCESS) {
    fprintf(stderr, "cupti_recorder: nothing is recorded: %s answers %d\n", library.path, result);
    return false;
  }
  if (!writer.Open(path, library.version)) {
    Say(writer.path(), strerror(errno));
    return false;
  }
  WriteAbout();
  WriteAttributes();
  library.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                         CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  EnableKinds();
  WriteClock();
  on_exit(OnLateExit, nullptr);
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* path = getenv("CUPTI_RECORDER_FILE");
  if (path == nullptr || path[0] == 0) {
    Say("nothing is recorded", "CUPTI_RECORDER_FILE names no file");
    return 0;
  }
  return Start(path) ? 1 : 0;
}
