// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/capture.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

#include "proto/ticks.h"
#include "tracer/cupti/library.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;
// What is lost to a SIGKILL is no more than this.
constexpr uint64_t kFlushPause = 500 * kMillisecond;
constexpr uint64_t kClockPause = 1000 * kMillisecond;

struct Kind {
  Activity activity;
  // Said when the library refuses it; null: what is lacking without it others show.
  const char* refused = nullptr;
  // Of what is there already its records are asked for too.
  bool dumps = false;
};
constexpr Kind kKinds[] = {
    {Activity::kConcurrentKernel, "no GPU activity is recorded"},
    {Activity::kMemcpy},
    {Activity::kMemcpy2},
    {Activity::kMemset},
    {Activity::kRuntime},
    {Activity::kSynchronization},
    {Activity::kMemory2, "no allocations of GPU memory are recorded"},
    {Activity::kMemoryPool, "pools of GPU memory are not recorded"},
    {Activity::kDevice, nullptr, true},
    {Activity::kContext, nullptr, true},
    {Activity::kStream, nullptr, true},
};
constexpr size_t kKindCount = sizeof(kKinds) / sizeof(kKinds[0]);

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
// Why nothing is recorded, as it was said first; whole once g_refused is set.
char g_refusal[640];
std::atomic<uint32_t> g_refused{0};
bool g_enabled[kKindCount];
BufferPool g_buffers;
std::atomic<uint32_t> g_cuda_had_begun{0};
std::atomic<uint64_t> g_own_bytes{0};
std::atomic<uint32_t> g_own_pinned{0};
GraphEvents g_graph_events;
GraphModes g_graph_modes;
std::atomic<uint32_t> g_graphs_refused{0};
std::atomic<uint64_t> g_dropped{0};
uint64_t g_next_flush = 0;
uint64_t g_next_clock = 0;

// Written by the thread that calls CUPTI, read by the drain.
constexpr uint32_t kMostReadings = 16;
ClockReading g_readings[kMostReadings];
std::atomic<uint32_t> g_readings_made{0};
std::atomic<uint32_t> g_readings_taken{0};

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
void OnCallback(void*, uint32_t domain, uint32_t id, const void* data) {
  if (domain != kResource || data == nullptr) return;
  GraphEvent event;
  bool is_crowded = false;
  if (ReadGraphEvent(g_library.functions, id, *static_cast<const ResourceData*>(data), &event)) {
    g_graph_events.Put(event, &is_crowded);
    if (is_crowded) g_host->wake_drain();
    return;
  }
  if (id != kContextCreated || g_exit_handled.exchange(1) != 0) return;
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

void Refuse(const char* text) {
  g_host->say(text);
  if (g_refused.load() != 0) return;
  strncpy(g_refusal, text, sizeof(g_refusal) - 1);
  g_refused.store(1, std::memory_order_release);
}

bool UseLibrary() {
  if (g_library_state == kNotLooked) {
    g_library_state = Load(&g_library) ? kLoaded : kUnusable;
    if (g_library_state == kUnusable) Refuse(g_library.reason);
    if (g_library_state == kLoaded) FindNames();
  }
  return g_library_state == kLoaded;
}

const char* Meaning(int result) {
  switch (result) {
    case kMaxLimitReached:
    case kMultipleSubscribersNotSupported:
      return "another profiler in this process holds CUPTI; host events are recorded all the same, "
             "and the next capture tries again";
    case kNotInitialized:
      return "the driver is too old for this libcupti; install one that fits the driver";
    case kInsufficientPrivileges:
      return "the driver lets administrators alone profile; ask for "
             "NVreg_RestrictProfilingToAdminUsers=0 or the capability CAP_PERFMON";
    default:
      return "";
  }
}

void SayRefused(const char* lacking, const char* what, int result) {
  char text[640] = {};
  const char* name = nullptr;
  if (g_library.functions.get_result_string != nullptr)
    g_library.functions.get_result_string(result, &name);
  const auto add = [&](const char* more) {
    const size_t used = strlen(text);
    strncpy(text + used, more, sizeof(text) - used - 1);
  };
  add(lacking);
  add(": ");
  add(what);
  add(" failed with ");
  add(name != nullptr ? name : "an unknown error");
  if (*Meaning(result) != 0) add(": ");
  add(Meaning(result));
  Refuse(text);
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

// Before the driver is ready a library may refuse to tell of what is there: that is nothing.
int Enable(const Kind& kind) {
  const Functions& f = g_library.functions;
  const auto number = static_cast<uint32_t>(kind.activity);
  if (kind.dumps && f.enable_and_dump != nullptr && f.enable_and_dump(number) == kSuccess)
    return kSuccess;
  return f.enable(number);
}

void RecordWholeGraphs() {
  const uint64_t ticks = proto::ReadTicks(g_host->settings->clock);
  const int result = g_library.functions.enable(static_cast<uint32_t>(Activity::kGraphTrace));
  g_graph_modes.Turned(result == kSuccess, ticks);
  if (result == kSuccess) return LeaveOutIdleCalls();
  if (g_graphs_refused.exchange(1) == 0) g_host->say(GraphRefusal());
}

// Enabling a kind undoes choices of single calls: those come last.
bool EnableKinds() {
  bool any = false;
  for (size_t i = 0; i < kKindCount; ++i) {
    const int result = Enable(kKinds[i]);
    g_enabled[i] = result == kSuccess;
    any |= g_enabled[i];
    // One of them speaks for the others when none can be had.
    if (result != kSuccess && kKinds[i].refused != nullptr && (i == 0 || any))
      SayRefused(kKinds[i].refused, "cuptiActivityEnable", result);
  }
  LeaveOutIdleCalls();
  return any;
}

void DisableKinds() {
  for (size_t i = 0; i < kKindCount; ++i) {
    if (g_enabled[i]) g_library.functions.disable(static_cast<uint32_t>(kKinds[i].activity));
    g_enabled[i] = false;
  }
  if (g_graph_modes.is_whole())
    g_library.functions.disable(static_cast<uint32_t>(Activity::kGraphTrace));
}

// False: the library does not tell.
template <typename T>
bool ReadAttribute(Attribute attribute, T* value) {
  size_t size = sizeof(*value);
  const auto get = g_library.functions.get_attribute;
  return get != nullptr && get(attribute, &size, value) == kSuccess;
}

// Nothing of it is set: what the library takes by itself is what its makers found enough.
void ReadOwnBuffers() {
  size_t bytes = 0, count = 0;
  uint8_t is_pinned = 0;
  if (!ReadAttribute(kDeviceBufferSize, &bytes) || !ReadAttribute(kDeviceBufferPreAllocate, &count))
    return;
  ReadAttribute(kDeviceBufferHostPinned, &is_pinned);
  g_own_pinned.store(is_pinned);
  g_own_bytes.store(uint64_t{bytes} * count);
}

bool Subscribe() {
  const Functions& f = g_library.functions;
  const int result = f.subscribe(&g_subscriber, OnCallback, nullptr);
  if (result != kSuccess) {
    SayRefused(kKinds[0].refused, "cuptiSubscribe", result);
    return false;
  }
  if (f.set_thread_id_type != nullptr) f.set_thread_id_type(kThreadIdSystem);
  f.enable_callback(1, g_subscriber, kResource, kContextCreated);
  for (const ResourceId id : kGraphCallbacks) f.enable_callback(1, g_subscriber, kResource, id);
  const int registered = f.register_callbacks(OnRequest, OnComplete);
  if (registered == kSuccess) return true;
  SayRefused(kKinds[0].refused, "cuptiActivityRegisterCallbacks", registered);
  f.unsubscribe(g_subscriber);
  return false;
}

// CUPTI's clock sits in the middle of two readings of CLOCK_MONOTONIC, those in the middle of the
// bracket: what delays any of them makes the bracket long, and another try is taken.
ClockReading ReadClocksOnce() {
  ClockReading reading = {};
  const proto::ClockKind kind = g_host->settings->clock;
  reading.realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  const uint64_t before = proto::ReadTicks(kind);
  const uint64_t monotonic_before = proto::ReadClockNs(CLOCK_MONOTONIC);
  const int result = g_library.functions.get_timestamp(&reading.cupti_ns);
  const uint64_t monotonic_after = proto::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t after = proto::ReadTicks(kind);
  reading.raw_ns = proto::ReadClockNs(CLOCK_MONOTONIC_RAW);
  if (result != kSuccess) reading.cupti_ns = 0;
  reading.monotonic_ns = monotonic_before + (monotonic_after - monotonic_before) / 2;
  reading.ticks = before + (after - before) / 2;
  reading.bracket_ticks = after - before;
  return reading;
}

void ReadClocks() {
  constexpr int kTries = 5;
  ClockReading best = ReadClocksOnce();
  for (int i = 1; i < kTries; ++i) {
    const ClockReading next = ReadClocksOnce();
    if (next.bracket_ticks < best.bracket_ticks) best = next;
  }
  const uint32_t made = g_readings_made.load(std::memory_order_relaxed);
  if (best.cupti_ns == 0 || made - g_readings_taken.load() >= kMostReadings) return;
  g_readings[made % kMostReadings] = best;
  g_readings_made.store(made + 1, std::memory_order_release);
}

void CountDropped() {
  size_t dropped = 0;
  if (g_library.functions.get_dropped(nullptr, 0, &dropped) == kSuccess)
    g_dropped.fetch_add(dropped, std::memory_order_relaxed);
}

}  // namespace

bool Start(const Host* host, bool cuda_had_begun) {
  g_host = host;
  if (g_given_up.load() != 0 || g_active.load() != 0 || !UseLibrary()) return false;
  // Of the recorder's memory a quarter at most: the rest is the drain's.
  g_buffers.SetLimit(host->settings->memory_limit / 4);
  if (!Subscribe()) return false;
  ReadOwnBuffers();
  g_graph_modes.Begin(host->settings->graph_mode, host->settings->graph_nodes,
                      proto::ReadTicks(host->settings->clock));
  if (g_graph_modes.IsDue()) RecordWholeGraphs();
  if (!EnableKinds()) {
    DisableKinds();
    g_library.functions.unsubscribe(g_subscriber);
    return false;
  }
  if (cuda_had_begun) g_cuda_had_begun.store(1);
  ReadClocks();
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
  if (g_graph_modes.IsDue()) RecordWholeGraphs();
  if (now >= g_next_clock) {
    ReadClocks();
    g_next_clock = now + kClockPause;
  }
}

void Flush(bool forced) {
  if (g_active.load() == 0 || g_given_up.load() != 0) return;
  g_library.functions.flush_all(forced ? kFlushForced : 0);
  CountDropped();
  ReadClocks();
}

void Stop() {
  if (g_active.exchange(0) == 0 || g_given_up.load() != 0) return;
  g_library.functions.flush_all(kFlushForced);
  DisableKinds();
  g_library.functions.flush_all(kFlushForced);
  CountDropped();
  ReadClocks();
  g_library.functions.unsubscribe(g_subscriber);
  g_subscriber = nullptr;
}

void GiveUp() { g_given_up.store(1); }

// A child that begins with CUDA after its parent had nothing of it is as good as any process.
void AfterForkChild() {
  if (g_library_state == kNotLooked) return;
  g_given_up.store(1);
  g_active.store(0);
  g_graph_events.Forget();
}

BufferPool* Buffers() { return &g_buffers; }
const Functions& LoadedFunctions() { return g_library.functions; }
const FunctionNames& Names() { return g_names; }

bool TakeClockReading(ClockReading* reading) {
  const uint32_t taken = g_readings_taken.load(std::memory_order_relaxed);
  if (taken == g_readings_made.load(std::memory_order_acquire)) return false;
  *reading = g_readings[taken % kMostReadings];
  g_readings_taken.store(taken + 1, std::memory_order_release);
  return true;
}

GraphEvents* GraphQueue() { return &g_graph_events; }
void CountGraphNodes(uint64_t nodes) { g_graph_modes.CountNodes(nodes); }
bool TakeGraphMark(GraphMark* mark) { return g_graph_modes.TakeMark(mark); }

const char* GraphRefusal() {
  return g_graphs_refused.load() == 0
             ? ""
             : "this libcupti does not record launches of CUDA graphs as wholes: every node of "
               "theirs is recorded";
}

const char* Refusal() { return g_refused.load(std::memory_order_acquire) != 0 ? g_refusal : ""; }

bool TakeCudaHadBegun() {
  return g_cuda_had_begun.load(std::memory_order_relaxed) != 0 && g_cuda_had_begun.exchange(0) != 0;
}

OwnBuffers Own() { return {g_own_bytes.load(), g_own_pinned.load() != 0}; }

uint64_t Dropped() { return g_dropped.load(std::memory_order_relaxed); }
uint32_t LibraryVersion() { return g_library_state == kLoaded ? g_library.version : 0; }
const char* LibraryPath() { return g_library_state == kLoaded ? g_library.path : ""; }

}  // namespace gpuprof::tracer::cupti
