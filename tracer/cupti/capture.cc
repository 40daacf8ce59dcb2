// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/capture.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "proto/ticks.h"
#include "tracer/cupti/clock_readings.h"
#include "tracer/cupti/refusal.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;
// What is lost to a SIGKILL is no more than this.
constexpr uint64_t kFlushPause = 500 * kMillisecond;
constexpr uint64_t kClockPause = 1000 * kMillisecond;

constexpr Activity kKinds[] = {Activity::kConcurrentKernel, Activity::kMemcpy,
                               Activity::kMemcpy2,          Activity::kMemset,
                               Activity::kRuntime,          Activity::kSynchronization};

// Calls that do nothing but look: programs make them by the thousand.
constexpr const char* kIdleCalls[] = {"cudaGetDevice",
                                      "cudaSetDevice",
                                      "cudaGetLastError",
                                      "cudaPeekAtLastError",
                                      "cudaStreamIsCapturing",
                                      "cudaStreamGetCaptureInfo",
                                      "__cudaPushCallConfiguration",
                                      "__cudaPopCallConfiguration"};

enum LibraryState : uint32_t { kNotLooked, kLoaded, kUnusable };

const Host* g_host = nullptr;
Library g_library;
FunctionNames g_names;
LibraryState g_library_state = kNotLooked;
Subscriber g_subscriber = nullptr;
std::atomic<uint32_t> g_active{0};
std::atomic<uint32_t> g_given_up{0};
std::atomic<uint32_t> g_exit_handled{0};
bool g_enabled[sizeof(kKinds) / sizeof(kKinds[0])];
BufferPool g_buffers;
std::atomic<uint64_t> g_dropped{0};
uint64_t g_next_flush = 0;
uint64_t g_next_clock = 0;

uint64_t Monotonic() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = g_buffers.Request();
  *size = *buffer != nullptr ? BufferPool::kBufferBytes : 0;
  *most_records = 0;
}

void OnComplete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  g_buffers.Complete(buffer, valid);
  g_host->wake_drain();
}

// Registered when the first context is made, later than the driver and the runtime have registered
// theirs: so it runs before them, while CUPTI still works.
void OnExit(int, void*) {
  Flush(/*forced=*/true);
  GiveUp();
}

// Inside a CUDA call of the program's.
void OnCallback(void*, uint32_t domain, uint32_t id, const void*) {
  if (domain != kResource || id != kContextCreated || g_exit_handled.exchange(1) != 0) return;
  on_exit(OnExit, nullptr);  // unlike atexit(), of no object: none takes it along
}

void FindNames() {
  if (g_library.functions.get_callback_name == nullptr) return;
  for (const uint32_t domain : {kDriverApi, kRuntimeApi}) {
    for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
      const char* name = nullptr;
      if (g_library.functions.get_callback_name(domain, id, &name) == kSuccess)
        g_names.name[domain][id] = name;
    }
  }
}

bool UseLibrary() {
  if (g_library_state == kNotLooked) {
    g_library_state = Load(&g_library) ? kLoaded : kUnusable;
    if (g_library_state == kUnusable) Refuse(*g_host, g_library.reason);
    if (g_library_state == kLoaded) FindNames();
  }
  return g_library_state == kLoaded;
}

void RefusedBy(const char* what, int result) {
  SayRefused(*g_host, g_library.functions, what, result);
}

void LeaveOutIdleCalls() {
  if (g_library.functions.enable_runtime_api == nullptr) return;
  for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
    const char* name = g_names.name[kRuntimeApi][id];
    if (name == nullptr) continue;
    for (const char* idle : kIdleCalls) {
      // The library's names end in the version of the function's interface.
      const size_t length = strlen(idle);
      if (strncmp(name, idle, length) == 0 && (name[length] == 0 || name[length] == '_'))
        g_library.functions.enable_runtime_api(id, 0);
    }
  }
}

// Enabling a kind undoes choices of single calls: those come last.
bool EnableKinds() {
  bool any = false;
  int first_error = kSuccess;
  for (size_t i = 0; i < sizeof(kKinds) / sizeof(kKinds[0]); ++i) {
    const int result = g_library.functions.enable(static_cast<uint32_t>(kKinds[i]));
    g_enabled[i] = result == kSuccess;
    any |= g_enabled[i];
    if (result != kSuccess && first_error == kSuccess) first_error = result;
  }
  if (!g_enabled[0]) RefusedBy("cuptiActivityEnable", first_error);
  LeaveOutIdleCalls();
  return any;
}

void DisableKinds() {
  for (size_t i = 0; i < sizeof(kKinds) / sizeof(kKinds[0]); ++i) {
    if (g_enabled[i]) g_library.functions.disable(static_cast<uint32_t>(kKinds[i]));
    g_enabled[i] = false;
  }
}

bool Subscribe() {
  const Functions& f = g_library.functions;
  const int result = f.subscribe(&g_subscriber, OnCallback, nullptr);
  if (result != kSuccess) {
    RefusedBy("cuptiSubscribe", result);
    return false;
  }
  if (f.set_thread_id_type != nullptr) f.set_thread_id_type(kThreadIdSystem);
  f.enable_callback(1, g_subscriber, kResource, kContextCreated);
  const int registered = f.register_callbacks(OnRequest, OnComplete);
  if (registered == kSuccess) return true;
  RefusedBy("cuptiActivityRegisterCallbacks", registered);
  f.unsubscribe(g_subscriber);
  return false;
}

uint64_t ReadCuptiTime() {
  uint64_t ns = 0;
  return g_library.functions.get_timestamp(&ns) == kSuccess ? ns : 0;
}

void NoteClocks() { ReadClocks(g_host->settings->clock, ReadCuptiTime); }

void CountDropped() {
  size_t dropped = 0;
  if (g_library.functions.get_dropped(nullptr, 0, &dropped) == kSuccess)
    g_dropped.fetch_add(dropped, std::memory_order_relaxed);
}

}  // namespace

bool Start(const Host* host) {
  g_host = host;
  if (g_given_up.load() != 0 || g_active.load() != 0 || !UseLibrary()) return false;
  // Of the recorder's memory a quarter at most: the rest is the drain's.
  g_buffers.SetLimit(host->settings->memory_limit / 4);
  if (!Subscribe()) return false;
  if (!EnableKinds()) {
    DisableKinds();
    g_library.functions.unsubscribe(g_subscriber);
    return false;
  }
  NoteClocks();
  g_next_flush = Monotonic() + kFlushPause;
  g_next_clock = Monotonic() + kClockPause;
  g_active.store(1);
  return true;
}

bool IsActive() { return g_active.load() != 0; }

void Tick() {
  if (g_active.load() == 0 || g_given_up.load() != 0) return;
  const uint64_t now = Monotonic();
  if (now >= g_next_flush) {
    g_library.functions.flush_all(0);
    CountDropped();
    g_next_flush = now + kFlushPause;
  }
  if (now >= g_next_clock) {
    NoteClocks();
    g_next_clock = now + kClockPause;
  }
}

void Flush(bool forced) {
  if (g_active.load() == 0 || g_given_up.load() != 0) return;
  g_library.functions.flush_all(forced ? kFlushForced : 0);
  CountDropped();
  NoteClocks();
}

void Stop() {
  if (g_active.exchange(0) == 0 || g_given_up.load() != 0) return;
  g_library.functions.flush_all(kFlushForced);
  DisableKinds();
  g_library.functions.flush_all(kFlushForced);
  CountDropped();
  NoteClocks();
  g_library.functions.unsubscribe(g_subscriber);
  g_subscriber = nullptr;
}

void GiveUp() { g_given_up.store(1); }

// A child that begins with CUDA after its parent had nothing of it is as good as any process.
void AfterForkChild() {
  if (g_library_state == kNotLooked) return;
  g_given_up.store(1);
  g_active.store(0);
}

BufferPool* Buffers() { return &g_buffers; }
const Functions& LoadedFunctions() { return g_library.functions; }
const FunctionNames& Names() { return g_names; }

uint64_t Dropped() { return g_dropped.load(std::memory_order_relaxed); }
uint32_t LibraryVersion() { return g_library_state == kLoaded ? g_library.version : 0; }
const char* LibraryPath() { return g_library_state == kLoaded ? g_library.path : ""; }

}  // namespace gpuprof::tracer::cupti
