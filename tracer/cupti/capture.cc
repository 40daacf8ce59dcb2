// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/capture.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "proto/contract.h"
#include "proto/ticks.h"
#include "tracer/cupti/clock_readings.h"
#include "tracer/cupti/driver.h"
#include "tracer/cupti/launch_stacks.h"
#include "tracer/cupti/quirks.h"
#include "tracer/cupti/refusal.h"
#include "tracer/cupti/subscriber.h"
#include "tracer/cupti/text.h"
#include "tracer/cupti/turn.h"
#include "tracer/cupti/unified_memory.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;
// What is lost to a SIGKILL is no more than this.
constexpr uint64_t kFlushPause = 500 * kMillisecond;
// When none is left. Where each thread holds one, they can all be out with little in them.
constexpr uint64_t kCrowdedFlushPause = 20 * kMillisecond;
constexpr uint64_t kClockPause = 1000 * kMillisecond;
constexpr uint64_t kReadLimit = 1000 * kMillisecond;
constexpr uint64_t kUnfinishedAtExit = 50 * kMillisecond;
constexpr uint64_t kUnfinishedAtSnapshot = 50 * kMillisecond;
constexpr uint64_t kTurnLimit = 2000 * kMillisecond;

// Calls of the driver are enabled one by one, where the library can.
struct Kind {
  Activity activity;
  // Said when the library refuses it; null: what is lacking without it others show.
  const char* refused = nullptr;
  // Of what is there already its records are asked for too.
  bool dumps = false;
};
constexpr Kind kKinds[] = {
    {Activity::kConcurrentKernel, "no GPU activity is recorded"},
    {Activity::kMemcpy, "no copies are recorded"},
    {Activity::kMemcpy2},
    {Activity::kMemset, "no memory sets are recorded"},
    {Activity::kRuntime, "no calls of the CUDA runtime are recorded"},
    {Activity::kSynchronization, "no waits for the GPU are recorded"},
    {Activity::kCudaEvent},
    {Activity::kMemory2, "no allocations of GPU memory are recorded"},
    {Activity::kMemoryPool, "pools of GPU memory are not recorded"},
    {Activity::kOverhead},
    {Activity::kJit},
    {Activity::kDevice, nullptr, true},
    {Activity::kContext, nullptr, true},
    {Activity::kStream, nullptr, true},
};
constexpr size_t kKindCount = sizeof(kKinds) / sizeof(kKinds[0]);

enum LibraryState : uint32_t { kNotLooked, kLoaded, kUnusable };

const Host* g_host = nullptr;
Library g_library;
FunctionNames g_names;
LibraryState g_library_state = kNotLooked;
Subscriber g_subscriber;
std::atomic<uint32_t> g_active{0};
std::atomic<uint32_t> g_given_up{0};
std::atomic<uint32_t> g_exit_handled{0};
std::atomic<uint64_t> g_handed_over{0};
std::atomic<uint64_t> g_not_handed_over{0};
bool g_enabled[kKindCount];
bool g_told[kKindCount];        // that it was refused
bool g_driver_enabled = false;  // as a whole
BufferPool g_buffers;
GraphEvents g_graph_events;
StreamEvents g_stream_events;
ContextEvents g_context_events;
KernelCode g_kernel_code;
GraphModes g_graph_modes;
UnifiedMemory g_unified_memory;
std::atomic<uint32_t> g_graphs_refused{0};
std::atomic<uint32_t> g_cuda_had_begun{0};
std::atomic<uint64_t> g_own_bytes{0};
std::atomic<uint32_t> g_own_pinned{0};
std::atomic<uint64_t> g_dropped{0};
uint64_t g_next_flush = 0;
uint64_t g_next_crowded_flush = 0;
uint64_t g_next_clock = 0;
// What is used, in words; whole once g_described is set.
char g_description[2800];
std::atomic<uint32_t> g_described{0};
// The same of a library that could not be used so far.
char g_unused[1400];
std::atomic<uint32_t> g_unused_described{0};

uint64_t Monotonic() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void Pause() {
  constexpr timespec kMoment = {0, kMillisecond};
  syscall(SYS_nanosleep, &kMoment, nullptr);
}

void OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  const bool was_crowded = g_buffers.is_crowded();
  *buffer = g_buffers.Request(size);
  if (!was_crowded && g_buffers.is_crowded()) g_host->request_tick();
  *most_records = 0;
}

void OnRequestV2(uint8_t** buffer, size_t* size, size_t* most_records, void*) {
  OnRequest(buffer, size, most_records);
}

void OnCompleteV2(uint8_t* buffer, size_t, size_t valid, void*) {
  if (g_buffers.IsSpare(buffer)) {
    uint64_t records = 0;
    EachRecord(buffer, valid, NextRecord, [&records](const Record& record) {
      if (OwnsRecordData()) FreeData(record);
      ++records;
    });
    return g_buffers.CompleteSpare(buffer, records);
  }
  g_buffers.Complete(buffer, valid);
  g_host->wake_drain();
}

void OnComplete(void*, uint32_t, uint8_t* buffer, size_t size, size_t valid) {
  OnCompleteV2(buffer, size, valid, nullptr);
}

void DisableKinds();
void HandOver(bool forced);

// Registered when the first context is made, later than the driver and the runtime have registered
// theirs: so it runs before them, while CUPTI still works. Other threads of the program may go on
// calling CUDA, which fails them from now on as fast as they can: none of it is wanted.
void OnExit(int, void*) {
  EndTurns();
  {
    const Turn turn(kTurnLimit);
    if (turn && g_active.load() != 0 && g_given_up.load() == 0) {
      DisableKinds();
      HandOver(/*forced=*/true);
    }
  }
  GiveUp();  // nor may a capture begin that is asked for from now on
}

void HandleExit() {
  if (g_exit_handled.exchange(1) != 0) return;
  on_exit(OnExit, nullptr);  // unlike atexit(), of no object: none takes it along
}

// Its code lies there only until CUPTI is answered.
void OnModule(const ModuleData* module) {
  if (module != nullptr) g_kernel_code.AddModule(module->cubin, module->cubin_bytes);
}

// The program does not have the handle yet, and so has not named it: the moment comes before that.
void OnStream(const ResourceData& resource) {
  StreamEvent event;
  if (g_given_up.load(std::memory_order_relaxed) != 0 ||
      !ReadStreamEvent(g_library.functions, resource, &event))
    return;
  event.ticks = proto::ReadTicks(g_host->settings->clock);
  bool is_crowded = false;
  g_stream_events.Put(event, &is_crowded);
  if (is_crowded) g_host->wake_drain();
}

// One that ends has all of its memory until then.
void OnContext(uint32_t id, const ResourceData& resource) {
  ContextEvent event;
  if (g_given_up.load(std::memory_order_relaxed) != 0 ||
      !ReadContextEvent(g_library.functions, id, resource, &event))
    return;
  event.ticks = proto::ReadTicks(g_host->settings->clock);
  bool is_crowded = false;
  g_context_events.Put(event, &is_crowded);
  if (is_crowded) g_host->wake_drain();
}

// Inside a CUDA call of the program's.
void OnCallback(void*, uint32_t domain, uint32_t id, const void* data) {
  if (data == nullptr) return;
  if (domain == kRuntimeApi || domain == kDriverApi)
    return OnLaunch(*g_host, domain, id, data, __builtin_frame_address(0));
  if (domain != kResource) return;
  const auto& resource = *static_cast<const ResourceData*>(data);
  GraphEvent event;
  bool is_crowded = false;
  if (id == kModuleLoaded || id == kModuleProfiled) {
    OnModule(static_cast<const ModuleData*>(resource.descriptor));
  } else if (ReadGraphEvent(g_library.functions, id, resource, &event)) {
    g_graph_events.Put(event, &is_crowded);
    if (is_crowded) g_host->wake_drain();
  } else if (id == kStreamCreated) {
    OnStream(resource);
  } else if (id == kContextCreated || id == kContextDestroyStarting) {
    if (id == kContextCreated) HandleExit();
    OnContext(id, resource);
  }
}

bool UseLibrary() {
  if (g_library_state == kNotLooked) {
    g_library_state = Load(&g_library) ? kLoaded : kUnusable;
    if (g_library_state == kUnusable) Refuse(*g_host, g_library.reason);
    if (g_library_state == kLoaded) FindFunctions(g_library.functions, &g_names);
  }
  return g_library_state == kLoaded;
}

void ChooseRuntimeCalls() {
  for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
    if (!g_names.is_recorded[kRuntimeApi][id]) g_subscriber.EnableFunction(kRuntimeApi, id, false);
  }
}

// False: they cannot be chosen one by one.
bool EnableDriverCalls(bool enable) {
  bool any = false;
  for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
    if (!g_names.is_recorded[kDriverApi][id]) continue;
    if (g_subscriber.EnableFunction(kDriverApi, id, enable) == kSuccess) any = true;
  }
  return any;
}

// After a kind was enabled, which undoes choices of single calls.
void ChooseCalls() {
  if (!g_driver_enabled) EnableDriverCalls(true);
  ChooseRuntimeCalls();
}

void RecordWholeGraphs() {
  const uint64_t ticks = proto::ReadTicks(g_host->settings->clock);
  const int result = g_subscriber.Enable(Activity::kGraphTrace);
  g_graph_modes.Turned(result == kSuccess, ticks);
  if (result != kSuccess) {
    if (g_graphs_refused.exchange(1) == 0) g_host->say(GraphRefusal());
    return;
  }
  ChooseCalls();
}

// Inside the program's cuInit no answer is the last.
void RecordUnifiedMemory(bool is_final) {
  if (g_unified_memory.Enable(*g_host, g_library.functions, &g_subscriber, is_final)) ChooseCalls();
}

// Enabling a kind undoes choices of single calls: those come last.
bool EnableKinds() {
  bool any = false;
  for (size_t i = 0; i < kKindCount; ++i) {
    const Kind& kind = kKinds[i];
    const int result =
        kind.dumps ? g_subscriber.EnableAndDump(kind.activity) : g_subscriber.Enable(kind.activity);
    g_enabled[i] = result == kSuccess;
    any |= g_enabled[i];
    if (result != kSuccess && kind.refused != nullptr && !g_told[i]) {
      g_told[i] = true;
      const SubscribeFailure failure = {.function = "cuptiActivityEnable", .result = result};
      if (kind.activity == Activity::kConcurrentKernel)
        SayUnusable(*g_host, g_library, failure);
      else
        SayRefused(*g_host, g_library.functions, failure, kind.refused);
    }
  }
  if (any) {
    g_driver_enabled =
        !EnableDriverCalls(true) && g_subscriber.Enable(Activity::kDriver) == kSuccess;
    ChooseRuntimeCalls();
  }
  return any;
}

// The driver's calls first: one whose call of the runtime is not recorded any more looks like the
// program's own.
void DisableKinds() {
  if (!g_driver_enabled) EnableDriverCalls(false);
  g_subscriber.Disable(Activity::kDriver);
  g_driver_enabled = false;
  for (size_t i = 0; i < kKindCount; ++i) {
    if (g_enabled[i]) g_subscriber.Disable(kKinds[i].activity);
    g_enabled[i] = false;
  }
  if (g_graph_modes.is_whole()) g_subscriber.Disable(Activity::kGraphTrace);
  g_unified_memory.Disable(*g_host, &g_subscriber);
}

void AddLibrary(Text* text) {
  text->Add("CUPTI ");
  AddRelease(g_library.version, text);
  text->Add(" (").Number(g_library.version).Add(") of ").Add(g_library.path);
}

// Until a subscription succeeds.
void DescribeUnused() {
  if (g_unused_described.load() != 0) return;
  Text text(g_unused);
  AddLibrary(&text);
  text.Add(", which could not be subscribed to");
  g_unused_described.store(1, std::memory_order_release);
}

void Describe() {
  if (g_described.load() != 0) return;
  Text text(g_description);
  AddLibrary(&text);
  text.Add(g_subscriber.interface() == Interface::kV2
               ? ", by its second interface: other profilers may use it at the same time"
               : ", by its first interface: no other profiler can use it during a capture");
  AddWarnings(g_library.version, &text);
  if (g_library.passed_over[0] != 0) text.Add("; passed over: ").Add(g_library.passed_over);
  g_described.store(1, std::memory_order_release);
}

// Nothing of it is set: what the library takes by itself is what its makers found enough.
void ReadOwnBuffers() {
  size_t bytes = 0, count = 0;
  uint8_t is_pinned = 0;
  if (!g_subscriber.ReadAttribute(kDeviceBufferSize, &bytes) ||
      !g_subscriber.ReadAttribute(kDeviceBufferPreAllocate, &count))
    return;
  g_subscriber.ReadAttribute(kDeviceBufferHostPinned, &is_pinned);
  g_own_pinned.store(is_pinned);
  g_own_bytes.store(uint64_t{bytes} * count);
}

void AskForLaunches() {
  for (const Domain domain : {kRuntimeApi, kDriverApi}) {
    for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
      if (IsLaunch(g_names.name[domain][id])) g_subscriber.EnableCallback(domain, id);
    }
  }
}

bool Subscribe() {
  constexpr Handlers kHandlers = {OnCallback, OnRequest, OnComplete, OnRequestV2, OnCompleteV2};
  SubscribeFailure failure;
  if (!g_subscriber.Subscribe(g_library, kHandlers, &failure)) {
    SayUnusable(*g_host, g_library, failure);
    DescribeUnused();
    return false;
  }
  Describe();
  for (const ResourceId id :
       {kContextCreated, kContextDestroyStarting, kModuleLoaded, kModuleProfiled})
    g_subscriber.EnableCallback(kResource, id);
  for (const ResourceId id : kGraphCallbacks) g_subscriber.EnableCallback(kResource, id);
  if (TellsStreams(g_library.functions)) g_subscriber.EnableCallback(kResource, kStreamCreated);
  if ((g_host->settings->sources & proto::kSourceLaunches) != 0) AskForLaunches();
  const Functions& f = g_library.functions;
  const bool is_v1 = g_subscriber.interface() == Interface::kV1;
  if ((QuirksOf(g_library.version) & kLeaveOutQueries) != 0 && is_v1 &&
      f.enable_all_sync_records != nullptr)
    f.enable_all_sync_records(0);
  return true;
}

void PrepareBuffers() {
  const uint32_t quirks = QuirksOf(g_library.version);
  // Of the recorder's memory a quarter at most: the rest is the drain's.
  g_buffers.SetLimit(g_host->settings->memory_limit / 4, (quirks & kSmallBuffers) != 0
                                                             ? BufferPool::kSmallBufferBytes
                                                             : BufferPool::kBufferBytes);
  if ((quirks & kNeverRefuseBuffers) != 0) g_buffers.AllowSpares();
}

void FlushOnce(bool forced) {
  const uint64_t now = proto::ReadTicks(g_host->settings->clock);
  const int result = g_subscriber.Flush(forced);
  // Without a buffer it has recorded nothing.
  if (result == kSuccess || (g_buffers.outstanding() == 0 && g_buffers.completed() == 0)) {
    g_not_handed_over.store(0);
    g_handed_over.store(now);
    return;
  }
  g_not_handed_over.store(now - g_handed_over.load());
  SayRefused(*g_host, g_library.functions, {"cuptiActivityFlushAll", result},
             "GPU activity is missing that CUPTI has and does not hand over");
}

// What was launched gets a moment to end: what still runs is handed over unfinished when it is
// asked for by force, and of everybody where others listen too.
void FlushRest(uint64_t limit, bool is_exit = false) {
  FlushOnce(/*forced=*/false);
  for (const uint64_t until = Monotonic() + limit;
       g_buffers.outstanding() != 0 && Monotonic() < until && !TurnsHaveEnded() &&
       (is_exit || g_host->hurry->load(std::memory_order_relaxed) == 0);) {
    Pause();
    FlushOnce(/*forced=*/false);
  }
}

// Buffers of the second interface are read with the subscriber's help.
void AwaitReader() {
  if (g_subscriber.interface() != Interface::kV2) return;
  for (const uint64_t until = Monotonic() + kReadLimit;
       g_buffers.HasFilled() && Monotonic() < until && !TurnsHaveEnded();) {
    g_host->wake_drain();
    Pause();
  }
}

uint64_t ReadCuptiTime() { return g_subscriber.Time(); }

void NoteClocks() { ReadClocks(g_host->settings->clock, ReadCuptiTime); }

void CountDropped() { g_dropped.fetch_add(g_subscriber.TakeDropped(), std::memory_order_relaxed); }

void HandOver(bool forced) {
  FlushOnce(forced);
  CountDropped();
  NoteClocks();
}

}  // namespace

bool Start(const Host* host, bool is_late) {
  g_host = host;
  const Turn turn;
  if (!turn || g_active.load() != 0 || !UseLibrary()) return false;
  PrepareBuffers();
  if (!Subscribe()) return false;
  ReadOwnBuffers();
  g_graph_modes.Begin(host->settings->graph_mode, host->settings->graph_nodes,
                      proto::ReadTicks(host->settings->clock));
  if (g_graph_modes.IsDue()) RecordWholeGraphs();
  if (!EnableKinds()) {
    DisableKinds();
    g_subscriber.Unsubscribe();
    return false;
  }
  g_unified_memory.Begin((host->settings->sources & proto::kSourceUnifiedMemory) != 0);
  RecordUnifiedMemory(/*is_final=*/is_late && DriverIsInitialized());
  if (is_late) g_cuda_had_begun.store(1);
  // Contexts there are already do not tell of themselves.
  if (is_late && DriverIsInitialized()) HandleExit();
  NoteClocks();
  g_next_flush = Monotonic() + kFlushPause;
  g_next_clock = Monotonic() + kClockPause;
  const uint64_t now = proto::ReadTicks(host->settings->clock);
  g_handed_over.store(now);
  // A process may be killed before anything was read.
  host->ring_file->activity_until.store(now, std::memory_order_relaxed);
  g_active.store(1);
  return true;
}

bool IsActive() { return g_active.load() != 0; }

bool Tick() {
  if (g_active.load() == 0) return false;
  const Turn turn;
  if (!turn) return false;
  const uint64_t now = Monotonic();
  const bool is_crowded = now >= g_next_crowded_flush && g_buffers.TakeCrowded();
  if (now >= g_next_flush || is_crowded) {
    FlushOnce(/*forced=*/false);
    CountDropped();
    g_next_flush = now + kFlushPause;
    g_next_crowded_flush = now + kCrowdedFlushPause;
  }
  if (g_graph_modes.IsDue()) RecordWholeGraphs();
  if (g_unified_memory.is_waiting() && DriverIsInitialized())
    RecordUnifiedMemory(/*is_final=*/true);
  if (now >= g_next_clock) {
    NoteClocks();
    g_next_clock = now + kClockPause;
  }
  return is_crowded || g_unified_memory.is_waiting();
}

void Flush(bool forced) {
  if (g_active.load() == 0) return;
  if (const Turn turn; turn) HandOver(forced);
}

// What goes on running is not asked for by force: its records would be without their ends.
void FlushForSnapshot() {
  if (g_active.load() == 0) return;
  const Turn turn;
  if (!turn) return;
  FlushRest(kUnfinishedAtSnapshot);
  CountDropped();
  NoteClocks();
  AwaitReader();
}

void Stop(bool is_exit) {
  if (g_active.load() == 0) return;
  const Turn turn;
  g_active.store(0);
  if (!turn) return;
  // First of all, so that what the program goes on to launch keeps no buffer open.
  DisableKinds();
  g_host->capture_is_closed();
  FlushRest(is_exit ? kUnfinishedAtExit : g_host->settings->gpu_finish_ns, is_exit);
  if (g_buffers.outstanding() != 0) FlushOnce(/*forced=*/true);
  CountDropped();
  NoteClocks();
  AwaitReader();
  // At the program's end what was delivered may have to be read still.
  if (!TurnsHaveEnded()) g_subscriber.Unsubscribe();
  g_handed_over.store(0);
}

void GiveUp() {
  EndTurns();
  g_given_up.store(1);
  g_handed_over.store(0);
}

// A child that begins with CUDA after its parent had nothing of it is as good as any process.
void AfterForkChild() {
  ForgetTurn();
  if (g_library_state == kNotLooked) return;
  EndTurns();
  g_given_up.store(1);
  g_active.store(0);
  g_graph_events.Forget();
  g_stream_events.Forget();
  g_context_events.Forget();
  g_buffers.Forget();
  g_dropped.store(0);
  g_handed_over.store(0);
  g_not_handed_over.store(0);
}

uint64_t HandedOver() { return g_handed_over.load(); }
uint64_t NotHandedOver() { return g_not_handed_over.load(); }

BufferPool* Buffers() { return &g_buffers; }
int NextRecord(uint8_t* buffer, size_t valid, void** record) {
  return g_subscriber.NextRecord(buffer, valid, record);
}
const FunctionNames& Names() { return g_names; }
// With several subscribers it is not known whose it is: better a few bytes lost than freed twice.
bool OwnsRecordData() { return g_subscriber.interface() == Interface::kV1; }

GraphEvents* GraphQueue() { return &g_graph_events; }
StreamEvents* StreamQueue() { return &g_stream_events; }
ContextEvents* ContextQueue() { return &g_context_events; }
const KernelCode* Code() { return &g_kernel_code; }
void CountGraphNodes(uint64_t nodes) { g_graph_modes.CountNodes(nodes); }
bool TakeGraphMark(GraphMark* mark) { return g_graph_modes.TakeMark(mark); }

const char* GraphRefusal() {
  return g_graphs_refused.load() == 0
             ? ""
             : "this libcupti does not record launches of CUDA graphs as wholes: every node of "
               "theirs is recorded";
}

bool TakeCudaHadBegun() {
  return g_cuda_had_begun.load(std::memory_order_relaxed) != 0 && g_cuda_had_begun.exchange(0) != 0;
}

OwnBuffers Own() { return {g_own_bytes.load(), g_own_pinned.load() != 0}; }

uint64_t Dropped() { return g_dropped.load(std::memory_order_relaxed) + g_buffers.let_go(); }
const char* Description() {
  if (g_described.load(std::memory_order_acquire) != 0) return g_description;
  return g_unused_described.load(std::memory_order_acquire) != 0 ? g_unused : "";
}

}  // namespace gpuprof::tracer::cupti
