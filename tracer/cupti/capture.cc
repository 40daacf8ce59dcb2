// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/capture.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "proto/contract.h"
#include "proto/ticks.h"
#include "tracer/cupti/clock_readings.h"
#include "tracer/cupti/description.h"
#include "tracer/cupti/driver.h"
#include "tracer/cupti/launch_stacks.h"
#include "tracer/cupti/profiler_calls.h"
#include "tracer/cupti/quirks.h"
#include "tracer/cupti/recorded_kinds.h"
#include "tracer/cupti/refusal.h"
#include "tracer/cupti/subscriber.h"
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
constexpr uint64_t kLongestPause = 20 * kMillisecond;
constexpr uint64_t kUnfinishedAtExit = 50 * kMillisecond;
constexpr uint64_t kUnfinishedAtSnapshot = 50 * kMillisecond;
// While the program waits for CUPTI.
constexpr uint64_t kUnfinishedAtYield = 50 * kMillisecond;
constexpr uint64_t kReadLimitAtYield = 200 * kMillisecond;
constexpr uint64_t kTurnLimit = 2000 * kMillisecond;
constexpr uint64_t kExitTakenWithin = 1000 * kMillisecond;
constexpr uint64_t kExitLimit = 4000 * kMillisecond;
// Somebody whom no hook shows has CUPTI.
constexpr uint64_t kWatchPause = 1000 * kMillisecond;

enum LibraryState : uint32_t { kNotLooked, kLoaded, kUnusable };

const Host* g_host = nullptr;
Library g_library;
FunctionNames g_names;
LibraryState g_library_state = kNotLooked;
Subscriber g_subscriber;
std::atomic<uint32_t> g_active{0};
std::atomic<uint32_t> g_given_up{0};
std::atomic<uint32_t> g_exit_handled{0};
// What the program's end wants of the thread that ticks.
enum ExitFlush : uint32_t { kNotWanted, kWanted, kTaken, kDone };
std::atomic<uint32_t> g_exit_flush{kNotWanted};
std::atomic<int> g_tick_thread{0};
std::atomic<uint64_t> g_handed_over{0};
std::atomic<uint64_t> g_not_handed_over{0};
RecordedKinds g_kinds;
uint32_t g_kind_count = 0;  // as the library counts them; 0: it does not
BufferPool g_buffers;
GraphEvents g_graph_events;
StreamEvents g_stream_events;
ContextEvents g_context_events;
KernelCode g_kernel_code;
GraphModes g_graph_modes;
UnifiedMemory g_unified_memory;
std::atomic<GraphsBy> g_graphs_by{GraphsBy::kAsAsked};
bool g_left_unfinished = false;  // the last capture ended while work of its own was going on
std::atomic<uint64_t> g_earliest_ticks{0};
std::atomic<uint32_t> g_cuda_had_begun{0};
std::atomic<uint64_t> g_own_bytes{0};
std::atomic<uint32_t> g_own_pinned{0};
std::atomic<uint64_t> g_dropped{0};
uint64_t g_next_flush = 0;
uint64_t g_next_crowded_flush = 0;
uint64_t g_next_clock = 0;
bool g_watches = false;  // profiler calls, for the whole life of the process
uint64_t g_next_watch = 0;

uint64_t Monotonic() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void Pause(uint64_t ns = kMillisecond) {
  const timespec moment = {0, static_cast<long>(ns)};
  syscall(SYS_nanosleep, &moment, nullptr);
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

// A buffer that the program gave CUPTI before the capture goes back to the program.
void OnComplete(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  const TargetProfilerState& target = *g_host->target_profiler;
  if (target.buffer_completed.load() != nullptr && !g_buffers.IsOut(buffer))
    return target.completed(context, stream, buffer, size, valid);
  OnCompleteV2(buffer, size, valid, nullptr);
}

bool TakeBack(uint8_t* buffer, size_t valid) {
  if (!g_buffers.IsOut(buffer)) return false;
  OnCompleteV2(buffer, 0, valid, nullptr);
  return true;
}

void DisableKinds();
void HandOver(bool forced);
void AwaitReader();

// False: another thread is in CUPTI, and does not come back.
bool HandOverAtExit() {
  const Turn turn(kTurnLimit);
  if (!turn) return false;
  if (g_active.load() == 0 || g_given_up.load() != 0) return true;
  DisableKinds();
  HandOver(/*forced=*/true);
  AwaitReader();
  return true;
}

// By the thread that calls CUPTI anyway: CUPTI may not come back (HPCToolkit has an alarm for it),
// and the program is to end all the same. False: it does not.
bool FlushAtExit() {
  if (ThisThread() == g_tick_thread.load()) return HandOverAtExit();
  const uint64_t began = Monotonic();
  g_exit_flush.store(kWanted);
  g_host->request_tick();
  while (g_exit_flush.load() != kDone) {
    Pause();
    const uint64_t waited = Monotonic() - began;
    uint32_t wanted = kWanted;
    // Who was to do it is busy, or hangs itself.
    if (waited >= kExitTakenWithin && g_exit_flush.compare_exchange_strong(wanted, kTaken))
      return HandOverAtExit();
    if (waited >= kExitLimit) return false;
  }
  return true;
}

// Registered when the first context is made, later than the driver and the runtime have registered
// theirs: so it runs before them, while CUPTI still works. Other threads of the program may go on
// calling CUDA, which fails them from now on as fast as they can: none of it is wanted.
void OnExit(int, void*) {
  EndTurns();
  const bool is_free = [] { return static_cast<bool>(Turn(kTurnLimit)); }();
  const bool has_more = g_active.load() != 0 && g_given_up.load() == 0;
  if (has_more && (!is_free || !FlushAtExit()))
    g_host->say(
        "CUPTI does not finish delivering its GPU activity: the newest activity is missing");
  GiveUp();  // nor may a capture begin that is asked for from now on
}

void HandleExit() {
  if (g_exit_handled.exchange(1) != 0) return;
  on_exit(OnExit, nullptr);  // unlike atexit(), of no object: none takes it along
}

// Its code lies there only until CUPTI is answered. kModuleProfiled would tell of the modules that
// were loaded before the capture, but with each launch anew (seen with CUPTI 13.0 on an H200).
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
  if (domain == kDriverApi && OnProfilerCall(*g_host, id, data)) return;
  if (domain == kRuntimeApi || domain == kDriverApi) {
    OnLaunch(*g_host, domain, id, data, __builtin_frame_address(0));
    asm volatile("");  // a jump instead of a call would take the frame away
    return;
  }
  if (domain != kResource) return;
  const auto& resource = *static_cast<const ResourceData*>(data);
  GraphEvent event;
  bool is_crowded = false;
  if (id == kModuleLoaded) {
    OnModule(static_cast<const ModuleData*>(resource.descriptor));
  } else if (ReadGraphEvent(g_library.functions, id, resource, &event)) {
    if (id == kGraphNodeCreated) {
      event.ticks = proto::ReadTicks(g_host->settings->clock);
      event.tid = static_cast<int32_t>(syscall(SYS_gettid));
    }
    g_graph_events.Put(event, &is_crowded);
    if (is_crowded) g_host->wake_drain();
  } else if (id == kStreamCreated) {
    OnStream(resource);
  } else if (id == kContextCreated || id == kContextDestroyStarting) {
    if (id == kContextCreated) HandleExit();
    OnContext(id, resource);
  }
}

// A library may tell nothing of itself before the driver is ready (since 13.3 it does not without
// one): asked again until it has answered.
void AskLibrary() {
  if (g_library.version == 0 && g_library.functions.get_version(&g_library.version) != kSuccess)
    g_library.version = 0;
  if (!g_names.any) FindFunctions(g_library.functions, &g_names);
}

bool UseLibrary() {
  if (g_library_state == kNotLooked) {
    g_library_state = Load(&g_library) ? kLoaded : kUnusable;
    if (g_library_state == kUnusable) Refuse(*g_host, g_library.reason);
  }
  if (g_library_state == kLoaded) AskLibrary();
  return g_library_state == kLoaded;
}

// After each change of kinds.
void ChooseCalls() {
  g_kinds.ChooseCalls(g_names, &g_subscriber);
  if (!g_subscriber.CountEnabledKinds(&g_kind_count)) g_kind_count = 0;
}

void SayGraphsBy(GraphsBy reason) {
  if (g_graphs_by.exchange(reason) == GraphsBy::kAsAsked) g_host->say(GraphRefusal());
}

void RecordWholeGraphs(bool is_late) {
  if (is_late) return SayGraphsBy(GraphsBy::kLate);
  const uint64_t ticks = proto::ReadTicks(g_host->settings->clock);
  if (g_subscriber.EnableGraphTrace() != kSuccess) return SayGraphsBy(GraphsBy::kRefused);
  g_graph_modes.TurnToWhole(ticks);
}

// Inside the program's cuInit no answer is the last.
void RecordUnifiedMemory(bool is_final) {
  if (!g_unified_memory.Enable(*g_host, g_library.functions, &g_subscriber, is_final)) return;
  ChooseCalls();
}

void DisableKinds() {
  g_kinds.Disable(g_names, &g_subscriber);
  if (g_graph_modes.is_whole()) g_subscriber.DisableGraphTrace();
  g_unified_memory.Disable(*g_host, &g_subscriber);
}

// Nothing of it is set: what the library takes by itself is what its makers found enough.
void ReadOwnBuffers() {
  OwnBuffers own;
  if (!g_subscriber.ReadOwnBuffers(&own)) return;
  g_own_pinned.store(own.is_pinned ? 1 : 0);
  g_own_bytes.store(own.bytes_per_context);
}

void PrepareBuffers() {
  const uint32_t quirks = QuirksOf(g_library.version);
  // Of the recorder's memory a quarter at most: the rest is the drain's.
  g_buffers.SetLimit(g_host->settings->memory_limit / 4, (quirks & kSmallBuffers) != 0);
  if ((quirks & kNeverRefuseBuffers) != 0) g_buffers.AllowSpares();
}

constexpr Handlers kHandlers = {OnCallback, OnRequest, OnComplete, OnRequestV2, OnCompleteV2};

bool TakeCupti(SubscribeFailure* failure) {
  bool has_subscribed =
      g_subscriber.Subscribe(g_library, kHandlers, g_host->target_profiler, failure);
  if (has_subscribed && g_library.version == 0) {
    AskLibrary();
    PrepareBuffers();
    // What it is decides about the interface.
    if (g_library.version != 0) {
      g_subscriber.Unsubscribe();
      has_subscribed =
          g_subscriber.Subscribe(g_library, kHandlers, g_host->target_profiler, failure);
    }
  }
  if (!has_subscribed) return false;
  AskLibrary();
  g_host->target_profiler->take_back.store(TakeBack);
  if (g_watches) EnableProfilerCalls(g_names, &g_subscriber);
  return true;
}

// Watched calls of the program may lie in a callback of the subscription now.
void LetGo(bool is_exit) {
  if (!g_watches || is_exit || g_subscriber.IsWanted()) return g_subscriber.Unsubscribe();
  AskForCallbacks(*g_host, g_library, g_names, &g_subscriber, /*enable=*/false);
}

bool Subscribe() {
  SubscribeFailure failure;
  if (g_subscriber.IsSubscribed() && !g_subscriber.Renew(kHandlers)) g_subscriber.Unsubscribe();
  if (!g_subscriber.IsSubscribed() && !TakeCupti(&failure)) {
    SayUnusable(*g_host, g_library, failure);
    DescribeUnused(g_library);
    return false;
  }
  Describe(g_library, g_subscriber.interface());
  if (!g_subscriber.HasCallbacks()) NoteNoCallbacks(*g_host);
  AskForCallbacks(*g_host, g_library, g_names, &g_subscriber, /*enable=*/true);
  if ((QuirksOf(g_library.version) & kLeaveOutQueries) != 0) g_subscriber.LeaveOutQueries();
  return true;
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
             "GPU activity is missing, because CUPTI does not deliver its records");
}

// What was launched gets a moment to end: what still runs is handed over unfinished when it is
// asked for by force, and of everybody where others listen too.
void FlushRest(uint64_t limit, bool is_exit = false) {
  FlushOnce(/*forced=*/false);
  const uint64_t began = Monotonic();
  const auto most = [limit] {
    return g_subscriber.IsWanted() ? std::min(limit, kUnfinishedAtYield) : limit;
  };
  for (uint64_t waited = 0; g_buffers.outstanding() != 0 && waited < most() && !TurnsHaveEnded() &&
                            (is_exit || g_host->hurry->load(std::memory_order_relaxed) == 0);
       waited = Monotonic() - began) {
    // Each flush takes CUPTI's locks beside the program, which goes on.
    Pause(std::clamp(waited / 8, kMillisecond, kLongestPause));
    FlushOnce(/*forced=*/false);
  }
}

// Buffers of the second interface are read with the subscriber's help, and those of the first by
// late libraries with the driver's. Others can be read at any time: nobody waits for the drain,
// which gives way to everybody.
void AwaitReader() {
  const bool needs_driver = (QuirksOf(g_library.version) & kReadsWithDriver) != 0;
  if (g_subscriber.interface() != Interface::kV2 && !needs_driver) return;
  const uint64_t began = Monotonic();
  const auto limit = [] { return g_subscriber.IsWanted() ? kReadLimitAtYield : kReadLimit; };
  while (g_buffers.HasFilled() && Monotonic() - began < limit()) {
    g_host->wake_drain();
    Pause();
  }
}

void NoteClocks() {
  ReadClocks(g_host->settings->clock, [] { return g_subscriber.Time(); });
}

// One that does not subscribe takes the first interface's kinds and buffers from whoever does.
void LookForAnother() {
  uint32_t kinds = 0;
  if (!g_subscriber.CountEnabledKinds(&kinds) || kinds >= g_kind_count) return;
  Refuse(*g_host,
         "GPU activity is missing: another profiler in this process turned CUPTI's records off "
         "during the capture");
}

void CountDropped() { g_dropped.fetch_add(g_subscriber.TakeDropped(), std::memory_order_relaxed); }

void HandOver(bool forced) {
  FlushOnce(forced);
  CountDropped();
  NoteClocks();
}

// The kinds are disabled.
void LeaveCupti(uint64_t limit, bool is_exit) {
  FlushRest(limit, is_exit);
  g_left_unfinished = g_buffers.outstanding() != 0;
  if (g_left_unfinished) FlushOnce(/*forced=*/true);
  CountDropped();
  NoteClocks();
  AwaitReader();
  // At the program's end what was delivered may have to be read still.
  if (!TurnsHaveEnded()) LetGo(is_exit);
  g_handed_over.store(0);
}

}  // namespace

bool Start(const Host* host, bool is_late) {
  g_host = host;
  const Turn turn;
  if (!turn || g_active.load() != 0 || !UseLibrary()) return false;
  PrepareBuffers();
  if (!Subscribe()) return false;
  ReadOwnBuffers();
  g_graph_modes.Begin(proto::ReadTicks(host->settings->clock));
  g_earliest_ticks.store(g_left_unfinished ? proto::ReadTicks(host->settings->clock) : 0);
  if (host->settings->graph_mode == proto::GraphMode::kWhole) RecordWholeGraphs(is_late);
  if (!g_kinds.Enable(*g_host, g_library, g_names, &g_subscriber, /*has_objects=*/is_late)) {
    DisableKinds();
    LetGo(/*is_exit=*/false);
    return false;
  }
  g_unified_memory.Begin((host->settings->sources & proto::kSourceUnifiedMemory) != 0);
  RecordUnifiedMemory(/*is_final=*/is_late && DriverIsInitialized());
  if (!g_subscriber.CountEnabledKinds(&g_kind_count)) g_kind_count = 0;
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

void WatchProfilerCalls(const Host* host, bool is_late) {
  g_host = host;
  const Turn turn;
  if (!turn || g_given_up.load() != 0) return;
  if (g_active.load() == 0 && g_subscriber.IsSubscribed() && g_subscriber.IsWanted())
    return g_subscriber.Unsubscribe();
  if (g_subscriber.IsSubscribed()) {
    // A capture was there first.
    if (!g_watches) g_watches = EnableProfilerCalls(g_names, &g_subscriber);
    return;
  }
  const TargetProfilerState& target = *host->target_profiler;
  if (target.calls.load() != 0 || target.Records() || target.has_subscribed.load() != 0) return;
  if (Monotonic() < g_next_watch || (is_late && !DriverIsInitialized()) || !UseLibrary()) return;
  g_next_watch = Monotonic() + kWatchPause;
  g_watches = true;
  SubscribeFailure failure;
  if (TakeCupti(&failure) && !g_subscriber.HasCallbacks()) g_subscriber.Unsubscribe();
}

bool Tick() {
  g_tick_thread.store(ThisThread());
  if (uint32_t wanted = kWanted; g_exit_flush.compare_exchange_strong(wanted, kTaken)) {
    HandOverAtExit();
    g_exit_flush.store(kDone);
    return false;
  }
  if (g_active.load() == 0) return false;
  const Turn turn;
  if (!turn) return false;
  const uint64_t now = Monotonic();
  // What is being read is there again in a moment; a flush makes every thread ask for another.
  const bool is_crowded =
      now >= g_next_crowded_flush && !g_buffers.HasFilled() && g_buffers.TakeCrowded();
  if (now >= g_next_flush || is_crowded) {
    FlushOnce(/*forced=*/false);
    CountDropped();
    LookForAnother();
    g_next_flush = now + kFlushPause;
    g_next_crowded_flush = now + kCrowdedFlushPause;
  }
  // No callback has told of the first context.
  if (!g_subscriber.HasCallbacks() && DriverIsInitialized()) HandleExit();
  if (g_unified_memory.is_waiting() && DriverIsInitialized())
    RecordUnifiedMemory(/*is_final=*/true);
  if (now >= g_next_clock) {
    NoteClocks();
    g_next_clock = now + kClockPause;
  }
  return g_buffers.is_crowded() || g_unified_memory.is_waiting();
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

void YieldIfWanted() {
  if (g_active.load() == 0) return;
  const Turn turn;
  if (!turn || !g_subscriber.IsWanted()) return;
  g_active.store(0);
  DisableKinds();
  NoteYield(*g_host);
  LeaveCupti(kUnfinishedAtYield, /*is_exit=*/false);
}

void Stop(bool is_exit) {
  if (g_active.load() == 0) return;
  const Turn turn;
  g_active.store(0);
  if (!turn) return;
  // First of all, so that what the program goes on to launch keeps no buffer open.
  DisableKinds();
  g_host->capture_is_closed();
  LeaveCupti(is_exit ? kUnfinishedAtExit : g_host->settings->gpu_finish_ns, is_exit);
}

void GiveUp() {
  EndTurns();
  g_given_up.store(1);
  g_handed_over.store(0);
  // Exit handlers of the program may ask CUPTI for something yet.
  if (g_host != nullptr) g_host->target_profiler->is_captures.store(0);
}

// A child that begins with CUDA after its parent had nothing of it is as good as any process.
void AfterForkChild() {
  ForgetTurn();
  ForgetTargetProfilerNotes();
  if (g_library_state == kNotLooked) return;
  EndTurns();
  g_given_up.store(1);
  g_active.store(0);
  g_watches = false;
  g_graph_events.Forget();
  g_stream_events.Forget();
  g_context_events.Forget();
  g_buffers.Forget();
  g_dropped.store(0);
  g_handed_over.store(0);
  g_not_handed_over.store(0);
}

uint64_t EarliestTicks() { return g_earliest_ticks.load(std::memory_order_relaxed); }
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
bool TakeGraphMark(GraphMark* mark) { return g_graph_modes.TakeMark(mark); }

const char* GraphRefusal() { return Words(g_graphs_by.load()); }

bool TakeCudaHadBegun() {
  return g_cuda_had_begun.load(std::memory_order_relaxed) != 0 && g_cuda_had_begun.exchange(0) != 0;
}

OwnBuffers Own() { return {g_own_bytes.load(), g_own_pinned.load() != 0}; }

uint64_t Dropped() { return g_dropped.load(std::memory_order_relaxed) + g_buffers.let_go(); }

}  // namespace gpuprof::tracer::cupti
