// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The door: the library constructor. Resolves the originals, decides whether this process is
// recorded at all, and if so sets the hooks to work. A process that is not recorded opens nothing
// and starts nothing.
//
// Libraries that the program is linked with are initialised before ours: the first call of theirs
// that is hooked begins the recording; threads, signals and exit handlers wait for our turn.

#include "inject/entry.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/dormant.h"
#include "inject/elf_symbol.h"
#include "inject/exec_target.h"
#include "inject/hooks/locks.h"
#include "inject/hooks/signals.h"
#include "inject/interrupted_code.h"
#include "inject/lifecycle.h"
#include "inject/python_start.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"
#include "inject/ring_file.h"
#include "inject/settings.h"
#include "inject/thread_exit.h"
#include "inject/tsc.h"
#include "inject/unrecorded.h"

using namespace gpuprof;
using namespace gpuprof::inject;

// glibc keeps the registration with the object that makes it; pthread_atfork() itself is in a
// static part of newer libcs only.
extern "C" int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                                 void* object);
// libc calls handlers of either list with the status behind their argument.
extern "C" int __cxa_at_quick_exit(void (*handler)(void*, int), void* object);
extern "C" void* __dso_handle;

namespace {

// exit() and return from main, behind every other handler and destructor: ours was registered
// first.
void Finish(proto::ExitWay way, int status) {
  HoldPythonAtEnd();
  FinishProcess(way, status);
  ReleasePython();
}
void OnExit(int status, void*) { Finish(proto::ExitWay::kReturn, status); }
void OnQuickExit(void*, int status) { Finish(proto::ExitWay::kQuick, status); }

bool g_must_tell = false;  // every heap event was asked for, and there will be none

// Of a heap that is not ours nearly nothing is seen: none of it is recorded, and the trace says so.
void LeaveForeignHeap() {
  if (HeapIsOurs() || (g_settings.sources & proto::kSourceHeap) == 0) return;
  g_must_tell = g_settings.heap_mode == proto::HeapMode::kExact;
  g_settings.sources &= ~proto::kSourceHeap;
  g_settings.heap_mode = proto::HeapMode::kOff;
  g_settings.foreign_heap = 1;
  if (g_settings.sources == 0)
    Say("nothing is recorded: --trace names only the heap, and another allocator comes before "
        "gpuprof's");
}

void FillProcess() {
  g_process.clock = g_settings.clock;
  g_process.heap_period = g_settings.heap_period;
  g_process.stack_depth = g_settings.stack_depth;
  g_process.exact_times = g_settings.exact_heap_times;
  g_process.waits_for_room = g_settings.waits_for_room;
  g_process.generation.fetch_add(1);  // a thread may know a ring of an earlier attach
  NewIdentity();
}

void RecordMainThread() {
  Recorder recorder(proto::kSourceThreads);
  if (!recorder.active()) return;
  recorder.Write({recorder.Now(), 0, static_cast<uint8_t>(proto::RecordKind::kThread), 0,
                  static_cast<uint16_t>(proto::ThreadEvent::kSeen), 0, 0});
}

bool IsWanted() { return g_settings.bundle[0] != 0; }

// `ticks` and `ns` are one moment on both clocks, a while ago.
void PrepareProcess(uint64_t ticks, uint64_t ns) {
  static bool handles_forks = false;
  raw::Call(SYS_madvise, raw::Arg(&g_process), sizeof(g_process), MADV_WIPEONFORK);
  FillProcess();
  // Constructors fork, too.
  if (!handles_forks)
    __register_atfork(BeforeFork, AfterForkInParent, AfterForkInChild, &__dso_handle);
  handles_forks = true;
  HookTimer::Calibrate();
  const bool tsc = g_settings.clock == proto::ClockKind::kTsc;
  g_settings.ticks_per_second =
      tsc ? TicksPerSecond(proto::ReadCounter() - ticks, proto::ReadClockNs(CLOCK_MONOTONIC) - ns)
          : 1'000'000'000u;
}

// What needs no thread of ours, and of libc no more than the list of fork's handlers.
void BeginToRecord() {
  // The first reading of a clock faults a page in: it would come late.
  proto::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t ticks = proto::ReadCounter();
  const uint64_t ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  if (!ReadSettings()) return;
  const bool is_watched = IsWatched();
  if (is_watched || IsSanitized()) {
    NoteUnrecorded(nullptr,
                   is_watched ? proto::ExecObstacle::kOtherTool : proto::ExecObstacle::kSanitizer);
    g_settings.bundle[0] = 0;
    return;
  }
  LeaveForeignHeap();
  PrepareProcess(ticks, ns);
  LookForGil();
  if (g_launch.capture == CaptureMode::kNow && BeginRecording("now")) RecordMainThread();
}

void WatchProcessExit() {
  CreateThreadExitKey();
  on_exit(OnExit, nullptr);
  __cxa_at_quick_exit(OnQuickExit, &__dso_handle);
}

constinit std::atomic<uint32_t> g_has_begun{0};

void EnsureBegun() {
  if (g_has_begun.load(std::memory_order_relaxed) == 0 && g_has_begun.exchange(1) == 0)
    BeginToRecord();
}

void Enter() {
  ResolveRealSymbols();
  EnsureBegun();
  if (!IsWanted()) return;
  WatchProcessExit();
  WatchThreadExit();  // of the main thread, which may have its ring already
  InstallSignal(g_launch.signal);
  LocateLibc();
  AwaitPythonStart();
  if (g_process.is_forked != 0) return;  // by a constructor before ours: it has its thread
  if (MayBeDormant() && FallDormant()) return;
  StartControlThread(/*forked=*/false);
  const bool all_stacks =
      g_settings.heap_mode == proto::HeapMode::kExact && g_settings.stack_depth != 0;
  if (all_stacks && g_launch.preloaded) AwaitSession();
  if (g_must_tell && g_launch.preloaded && g_process.recording.load() != 0) HastenSession();
}

constinit std::atomic<uint32_t> g_has_entered{0};

__attribute__((constructor(101))) void OnLoaded() {
  const uint64_t began = proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
  EnsureEntered();
  NoteOwnTime(proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID) - began);
}

}  // namespace

namespace gpuprof::inject {

void EnterEarly() noexcept {
  // Without its environment libc is not ready yet.
  if (environ != nullptr) EnsureBegun();
}

bool PrepareLate() noexcept {
  const uint64_t ticks = proto::ReadCounter();
  const uint64_t ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  if (!ReadSettings()) return false;
  PrepareProcess(ticks, ns);
  WhileLoaderRests([] { LookForGil(); });
  static bool watches_exit = false;
  if (!watches_exit) WatchProcessExit();
  watches_exit = true;
  LocateLibc();
  return true;
}

void EnsureEntered() noexcept {
  if (g_has_entered.load(std::memory_order_relaxed) == 0 && g_has_entered.exchange(1) == 0) Enter();
}

}  // namespace gpuprof::inject
