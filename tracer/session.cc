// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tracer's side of tracer/tracer.h: sessions, the drain thread, and what happens around fork.

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/file_size_signal.h"
#include "tracer/base/futex.h"
#include "tracer/base/map_table.h"
#include "tracer/base/memory.h"
#include "tracer/base/tool_thread.h"
#include "tracer/cupti/capture.h"
#include "tracer/cupti/late_start.h"
#include "tracer/cupti/target_profiler.h"
#include "tracer/drain.h"
#include "tracer/observers.h"
#include "tracer/pace.h"
#include "tracer/python_agent/python_agent.h"
#include "tracer/python_calls/python_calls.h"
#include "tracer/sampler_call.h"
#include "tracer/snapshot.h"
#include "tracer/stack/stack_bounds.h"
#include "tracer/stack/stack_capture.h"
#include "tracer/stack_cost.h"
#include "tracer/torch/torch_observer.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr int kNice = 5;
// What ending a capture takes of a thread of the program.
constexpr uint64_t kStackForEnd = 128 * 1024;
constexpr uint64_t kStopLimit = 10 * kSecond;
constexpr uint64_t kSnapshotLimit = 2 * kSecond;
constexpr uint64_t kPythonLimit = 5 * kSecond;
constexpr uint64_t kModulesLimit = 50 * kMillisecond;
// Of programs that load and unload without end: from then on the table is written each second only.
constexpr uint32_t kMostModuleUpdates = 32 * 1024;

// The control thread asks, the drain thread names the files and leaves them as they are until the
// control thread has opened them.
enum SnapshotState : uint32_t { kIdle, kWanted, kReady };
enum BeginState : uint32_t { kToBegin, kBegun, kCannotBegin };
enum DrainState : uint32_t { kNone, kRunning, kStopping, kEnded };

const Host* g_host = nullptr;
// One thread at a time uses it: the drain thread in a pass, and otherwise the thread that begins a
// capture or ends it (the inject object lets one at a time do that). So whoever finishes its file
// may delete it. What other threads ask for is in g_counts and in ModuleMap::IsCurrent.
std::atomic<Drain*> g_drain{nullptr};
// The drain of a trace that has ended with the process's image, should that go on (a failed exec,
// a forked child). The next one takes its place.
Drain* g_old_drain = nullptr;
SessionCounts g_counts;
std::atomic<uint32_t> g_state{kNone};
std::atomic<uint32_t> g_in_pass{0};       // the drain is at work, on whichever thread: fork waits
bool g_is_over = false;                   // g_drain's trace has ended, or did not begin
std::atomic<uint32_t> g_drain_thread{0};  // number of the newest; an older one only leaves
std::atomic<uint32_t> g_fork_pause{0};    // fork asks it to stand still
bool g_stack_ready = false;
bool g_capturing = false;
bool g_gpu_tried = false;
const char* g_stop_trigger = "";
std::atomic<uint32_t> g_snapshot{kIdle};
Drain::Snapshot g_snapshot_files;
bool g_snapshot_made = false;
std::atomic<uint32_t> g_begin{kToBegin};
uint32_t g_number = 0;
const char* g_start_trigger = "";
// What the drain thread is to end the file with, when the thread that exits cannot.
struct {
  bool wanted;
  proto::ExitWay way;
  int32_t status;
} g_exit;
int g_snapshot_error = 0;
// How often threads of the program have asked for the table of modules, and up to which of these
// times the drain thread has seen to it. `late`: somebody has waited in vain since.
std::atomic<uint32_t> g_modules_wanted{0};
std::atomic<uint32_t> g_modules_served{0};
std::atomic<uint32_t> g_modules_late{0};

// Around what runs on a thread of the program and makes calls at which libc would carry out a
// pending cancellation: exit, exec and fork are no such places.
class NotCancelled {
 public:
  NotCancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved_); }
  ~NotCancelled() { pthread_setcancelstate(saved_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int saved_ = PTHREAD_CANCEL_ENABLE;
};

// Between passes a fork may copy the process; within one the child would inherit half of it.
bool TakeDrain() {
  uint32_t idle = 0;
  return g_in_pass.compare_exchange_strong(idle, 1);
}

bool EnterPass() {
  if (!TakeDrain()) return false;
  if (g_fork_pause.load() == 0) return true;
  g_in_pass.store(0);
  return false;
}

// Waking up, the drain does not push a thread of the program off its processor. Not with exact heap
// traces: of a busy program's many threads each gets more than a drain that gives way to all.
void GiveWay() {
  const sched_param batch = {};
  sched_setscheduler(0, SCHED_BATCH, &batch);
  setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
}

// All that is opened for long is opened on the drain thread.
bool Begin(uint32_t number, Pace* pace) {
  while (!EnterPass()) sched_yield();
  Drain* drain = g_drain.load();
  // Nobody waits for it any more.
  if (g_drain_thread.load() != number || g_state.load() == kNone) {
    g_in_pass.store(0);
    return false;
  }
  bool open = drain->is_open();
  if (!open && (open = drain->Open())) ObserversBeginFile();
  if (open) drain->BeginCapture(g_number, g_start_trigger);
  // The first pass of a flight recorder opens files too.
  if (open) drain->Pass();
  pace->Start(drain->records());
  // Still in the pass: who begins the next capture after this one came too late waits for that.
  g_begin.store(open ? kBegun : kCannotBegin);
  g_in_pass.store(0);
  FutexWake(&g_begin);
  return open;
}

// A process that ends, or becomes another program, needs no tidying up.
bool GoesOn(proto::ExitWay way) { return way >= proto::ExitWay::kFiltered; }

void FinishFile(proto::ExitWay way, int32_t status) {
  Drain* const drain = g_drain.load();
  const bool finished = drain->Finish(way, status);
  // A process that goes on after a failed exec begins a new file.
  g_drain = nullptr;
  g_counts.Reset();
  if (GoesOn(way)) {
    delete drain;
  } else {
    g_old_drain = drain;
  }
  // Where it is not whole the ring file stays: it tells readers that there is something to finish.
  if (!finished) return;
  char path[700];
  const char* parts[] = {g_host->settings->bundle, "/", g_host->settings->file_stem,
                         proto::kRingSuffix};
  char* end = path;
  for (const char* part : parts) end = stpcpy(end, part);
  unlink(path);
}

void StandStill() {  // until the files of a snapshot are open
  const uint64_t until = Monotonic() + kSnapshotLimit;
  while (g_snapshot.load() == kReady && Monotonic() < until)
    FutexWait(&g_snapshot, kReady, 100 * kMillisecond);
}

void PrepareSnapshot(Drain* drain) {
  if (g_snapshot.load() != kWanted) return;
  g_snapshot_made = drain->PrepareSnapshot(&g_snapshot_files);
  g_snapshot_error = errno;
  uint32_t wanted = kWanted;  // unless it was given up meanwhile
  g_snapshot.compare_exchange_strong(wanted, kReady);
  FutexWake(&g_snapshot);
}

// Before the rings: threads of the program wait for it.
void ServeModules(Drain* drain) {
  const uint32_t wanted = g_modules_wanted.load();
  if (wanted == g_modules_served.load()) return;
  static uint32_t updates = 0;
  if (updates < kMostModuleUpdates) {
    ++updates;
    drain->UpdateModules();
  }
  g_modules_late.store(0);
  g_modules_served.store(wanted);
  FutexWake(&g_modules_served, INT_MAX);
}

// The drain thread may be held up, by a fork or a slow disk: whoever has waited for it in vain once
// was enough, until it is back.
void ModulesChanged() {
  if (g_state.load() != kRunning || ModuleMap::IsCurrent()) return;
  const uint32_t number = g_modules_wanted.fetch_add(1) + 1;
  g_host->wake_drain();
  const uint64_t until = Monotonic() + kModulesLimit;
  while (g_state.load() == kRunning && g_modules_late.load() == 0) {
    const uint32_t served = g_modules_served.load();
    if (static_cast<int32_t>(served - number) >= 0) return;
    const uint64_t now = Monotonic();
    if (now >= until) g_modules_late.store(1);
    if (now < until) FutexWait(&g_modules_served, served, until - now);
  }
}

// Empties the rings, unless an exiting thread has ended the capture since the caller last looked.
// Returns how long to wait until the next time.
uint64_t WorkOnce(Pace* pace, uint64_t* next_tables) {
  if (!EnterPass()) return kMillisecond;
  uint64_t pause = kMillisecond;
  if (g_state.load() == kRunning) {
    Drain* drain = g_drain.load();
    ServeModules(drain);
    const double growth = drain->Pass();
    pause = pace->After(drain, growth);
    drain->NoteCpu(proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID), false);
    if (Monotonic() >= *next_tables) {
      drain->WriteTables(/*all=*/false);
      *next_tables = Monotonic() + kSecond;
    }
    PrepareSnapshot(drain);
  }
  g_in_pass.store(0);
  StandStill();
  return pause;
}

// An exiting thread may end the capture itself, or find that it cannot.
bool EndFallsToDrain(uint32_t number) {
  while (g_drain_thread.load() == number && g_state.load() == kStopping) {
    if (TakeDrain()) return true;
    sched_yield();
  }
  return false;
}

void* DrainMain(void* argument) {
  const auto number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(argument));
  g_host->adopt_tool_thread();
  prctl(PR_SET_NAME, "gpuprof-drain");
  Pace pace(*g_host->settings);
  if (!Begin(number, &pace)) return nullptr;
  if (g_host->settings->heap_mode != proto::HeapMode::kExact) GiveWay();
  uint64_t next_tables = Monotonic() + kSecond;
  while (g_state.load() == kRunning && g_drain_thread.load() == number) {
    g_host->drain_wanted->store(0);
    const uint64_t pause = WorkOnce(&pace, &next_tables);
    // Looked at after the word was cleared: a stop in between has set both.
    if (g_state.load() == kRunning) FutexWait(g_host->drain_wanted, 0, pause);
  }
  if (EndFallsToDrain(number)) {
    Drain* drain = g_drain.load();
    if (g_state.load() == kStopping && drain != nullptr) {
      drain->NoteCpu(proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID), true);
      drain->EndCapture(g_stop_trigger);
      if (g_exit.wanted) FinishFile(g_exit.way, g_exit.status);
      uint32_t stopping = kStopping;
      g_state.compare_exchange_strong(stopping, kEnded);
    }
    g_in_pass.store(0);
  }
  FutexWake(&g_state);
  FutexWake(&g_modules_served, INT_MAX);
  return nullptr;
}

// Returns 0, or the error of pthread_create.
int StartDrainThread() {
  static ToolThread thread = {DrainMain, kStackBytes};
  g_state.store(kRunning);
  void* number = reinterpret_cast<void*>(static_cast<uintptr_t>(g_drain_thread.fetch_add(1) + 1));
  const int error = StartToolThread(*g_host, &thread, number);
  if (error != 0) g_state.store(kNone);
  return error;
}

bool RecordsGpu() { return (g_host->settings->sources & proto::kSourceCuda) != 0; }

// A thread that may call CUDA; once a capture. `is_late`: not inside the program's cuInit. Within a
// call of the program to CUPTI, CUDA may begin: it is tried again later then.
void TryGpu(bool is_late) {
  if (!g_capturing || !RecordsGpu() || g_gpu_tried) return;
  if (g_host->target_profiler->calls.load() != 0) return;
  g_gpu_tried = true;
  CallSampler(*g_host->settings);
  cupti::Start(g_host, is_late);
}

void StartGpu() { TryGpu(/*is_late=*/false); }

// Where the program had begun with CUDA before this capture, or found the recorder not ready; or
// the driver does not know of us.
void StartGpuIfBegun() {
  if (!RecordsGpu() || g_gpu_tried) return;
  if (g_host->cuda_started->load(std::memory_order_acquire) != 0 ||
      cupti::HasBegunUnnoticed(*g_host))
    TryGpu(/*is_late=*/true);
}

// Makes the drain of a new trace, and deletes the one before it. False: that one is at work yet, or
// for good.
bool HaveDrain() {
  const uint64_t until = Monotonic() + kStopLimit;
  while (!TakeDrain()) {
    if (Monotonic() >= until || MemoryHasParked()) return false;
    FutexWait(&g_in_pass, 1, kMillisecond);
  }
  delete g_old_drain;
  g_old_drain = nullptr;
  if (g_is_over) delete g_drain.exchange(nullptr);
  g_is_over = false;
  g_exit.wanted = false;
  if (g_drain == nullptr) g_drain = new Drain(g_host, &g_counts);
  g_in_pass.store(0);
  return true;
}

// Ends a start whose file was not opened: the next capture tries it anew. Returns false.
bool CannotStart(const char* why) {
  g_state.store(kNone);
  g_is_over = true;
  if (why != nullptr) g_host->say(why);
  return false;
}

bool Start(uint32_t number, const char* trigger) {
  constexpr const char* kTooLate = "cannot record: the trace file could not be opened in time";
  if (!HaveDrain()) {
    return CannotStart(MemoryHasParked() ? "cannot record: an earlier capture ran out of memory; "
                                           "restart the program with a larger GPUPROF_MEMORY"
                                         : kTooLate);
  }
  if (!g_stack_ready && g_host->settings->stack_depth != 0) {
    StackInit(g_host->settings->stack_depth);
    StackCostInit(g_host->settings->clock, g_host->settings->ticks_per_second);
    g_stack_ready = true;
  }
  MemorySetLimit(g_host->settings->memory_limit);
  g_number = number;
  g_start_trigger = trigger;
  g_begin.store(kToBegin);
  if (const int error = StartDrainThread(); error != 0) {
    g_host->cannot_record(proto::Obstacle::kThread, error);
    return CannotStart(nullptr);
  }
  const uint64_t until = Monotonic() + kStopLimit;
  while (g_begin.load() == kToBegin && Monotonic() < until)
    FutexWait(&g_begin, kToBegin, 100 * kMillisecond);
  if (const uint32_t begin = g_begin.load(); begin != kBegun)
    return CannotStart(begin == kToBegin ? kTooLate : nullptr);
  g_capturing = true;
  AgentBeginCapture(g_host, number, trigger);
  LookForFrameworks(g_host);
  AgentAwaitCalls();
  g_gpu_tried = false;
  cupti::BeginCaptureNotes(number);
  cupti::BeginLooking(strcmp(trigger, "now") == 0);
  StartGpuIfBegun();
  return true;
}

// The drain thread gives way to everybody: on a busy machine a process that ends would wait long
// for it. False: it must be waited for.
bool EndCaptureHere() {
  if (!ThreadHasRoom(kStackForEnd) || !TakeDrain()) return false;
  // Between the wish to stop and here the drain thread may have ended it all by itself.
  Drain* drain = g_state.load() == kStopping ? g_drain.load() : nullptr;
  const bool can = drain != nullptr && drain->CanWriteHere();
  if (can) {
    drain->EndCapture(g_stop_trigger);
    g_state.store(kEnded);
  }
  g_in_pass.store(0);
  return can;
}

// After the handlers of exit() the driver has gone, or may have: what there was to be had of CUPTI
// its own handler has fetched (cupti/capture.cc).
void LetGoOfGpu(StopReason reason) {
  const bool is_late = reason == StopReason::kExit && g_exit.way == proto::ExitWay::kReturn;
  is_late ? cupti::GiveUp() : cupti::Stop(reason == StopReason::kExit);
}

void Stop(StopReason reason, const char* trigger) {
  if (!g_capturing) return;
  g_capturing = false;
  AgentEndCapture(reason, trigger);
  EndObservers();
  LetGoOfGpu(reason);
  g_host->capture_is_closed();
  g_stop_trigger = trigger;
  g_state.store(kStopping);
  if (reason == StopReason::kExit && EndCaptureHere()) return;
  g_host->wake_drain();
  const uint64_t until = Monotonic() + kStopLimit;
  while (g_state.load() == kStopping && Monotonic() < until && !MemoryHasParked())
    FutexWait(&g_state, kStopping, 100 * kMillisecond);
  if (g_state.load() != kStopping) return;
  g_host->say(MemoryHasParked()
                  ? "no memory was left to complete the trace; recovery will finish it"
                  : "the trace could not be completed in time; recovery will finish it");
}

bool Tick() {
  if (g_drain == nullptr) return false;  // finished: the process is on its way out
  cupti::YieldIfWanted();
  bool changed = StackTick();
  changed |= LookForFrameworks(g_host);
  StartGpuIfBegun();
  changed |= cupti::Tick();
  changed |= g_host->target_profiler->calls.load() != 0;
  g_counts.control_cpu_ns.store(proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID) + ObserversCpuNs(),
                                std::memory_order_relaxed);
  return changed;
}

void EndAll() {
  Stop(StopReason::kExit, "exit");
  if (g_state.load() != kEnded) return;  // the drain thread is at it, or came too late
  const Drain* drain = g_drain.load();
  if (drain == nullptr || !drain->is_open()) return;
  // The drain thread has left it, or is about to; a fork that comes now is to know.
  const bool has_taken = TakeDrain();
  FinishFile(g_exit.way, g_exit.status);
  if (has_taken) g_in_pass.store(0);
}

void Finish(proto::ExitWay way, int32_t status) {
  const NotCancelled not_cancelled;
  const proto::NoFileSizeSignal no_signal;
  g_exit = {true, way, status};
  g_is_over = true;
  if (MemoryRunOrLeave(EndAll)) {
    // Should the exec fail, the drain thread of this trace is not there beside the next one's.
    if (way == proto::ExitWay::kExec) g_host->wake_drain();
    return;
  }
  // Out of memory: recovery does the rest, and no thread goes on with the drain, which was left in
  // the middle of its work and so is never deleted.
  g_state.store(kEnded);
  g_drain = nullptr;
  g_in_pass.store(0);
}

void BeforeFork() {
  const NotCancelled not_cancelled;
  StackBeforeFork();
  ObserversBeforeFork();
  g_fork_pause.store(1);
  const uint64_t until = Monotonic() + 200 * kMillisecond;
  while (g_in_pass.load() != 0 && Monotonic() < until) sched_yield();
}

void AfterForkParent() {
  g_fork_pause.store(0);
  ObserversAfterForkParent();
  StackAfterForkParent();
}

// Lets go of the parent's drain. If the fork came in the midst of its work, its memory cannot be
// trusted and stays. Else the child deletes it when it records itself: one that calls exec need not
// pay for that.
void ForgetDrain(bool is_torn) {
  Drain* const drain = g_drain.exchange(nullptr);
  g_is_over = false;
  if (drain != nullptr) drain->Abandon();
  if (is_torn) {
    g_old_drain = nullptr;
  } else if (drain != nullptr) {
    g_old_drain = drain;  // there is no older one: a drain is made where that was deleted
  }
}

void AfterForkChild() {
  MemoryAfterForkChild();
  ForgetDrain(/*is_torn=*/g_in_pass.load() != 0);
  g_fork_pause.store(0);
  g_in_pass.store(0);
  g_state.store(kNone);
  g_capturing = false;
  g_exit.wanted = false;
  g_modules_served.store(g_modules_wanted.load());
  g_modules_late.store(0);
  cupti::AfterForkChild();
  ObserversAfterForkChild();
  StackAfterForkChild();
  StackCostAfterForkChild();
}

bool OpenSnapshot() {
  g_snapshot_files = {};
  if (g_capturing) cupti::FlushForSnapshot();
  if (!g_capturing) {
    if (g_state.load() != kEnded || !TakeDrain()) {
      g_snapshot_error = EBUSY;  // the drain thread is still ending the capture
      return false;
    }
    const bool is_made = g_drain.load()->PrepareSnapshot(&g_snapshot_files);
    g_in_pass.store(0);
    if (is_made && g_snapshot_files.files.Open()) return true;
    g_snapshot_error = errno;
    return false;
  }
  g_snapshot.store(kWanted);
  g_host->wake_drain();
  const uint64_t until = Monotonic() + kStopLimit;
  while (g_snapshot.load() == kWanted && Monotonic() < until)
    FutexWait(&g_snapshot, kWanted, 100 * kMillisecond);
  uint32_t wanted = kWanted;
  if (g_snapshot.compare_exchange_strong(wanted, kIdle)) {
    g_snapshot_error = ETIMEDOUT;
    return false;
  }
  const bool open = g_snapshot_made && g_snapshot_files.files.Open();
  if (g_snapshot_made) g_snapshot_error = errno;
  g_snapshot.store(kIdle);
  FutexWake(&g_snapshot);
  return open;
}

// On the control thread alone.
const char* WhyNoSnapshot(int error) {
  if (error == EBUSY || error == ETIMEDOUT) return "the recorder did not answer in time; try again";
  static char text[1024];
  char* end = stpcpy(stpcpy(text, "no snapshot can be written into "), g_host->settings->bundle);
  const proto::Cause cause = proto::FileCause(error);
  stpcpy(stpcpy(stpcpy(stpcpy(end, ": "), cause.words), "; "), cause.remedy);
  return text;
}

const char* Snapshot(const char* request, char* path, uint32_t path_bytes) {
  if (g_is_over || g_drain == nullptr || !g_drain.load()->is_open())
    return "nothing was recorded yet";
  if (!OpenSnapshot()) return WhyNoSnapshot(g_snapshot_error);
  const int error = TakeRequested(*g_host, g_snapshot_files, request, path, path_bytes);
  g_snapshot_files.files.Close();
  return error == 0 ? nullptr : WhyNoSnapshot(error);
}

const char* OpsState() { return StateOfOps(*g_host); }
uint64_t RecordsWritten() { return g_counts.events.load(std::memory_order_relaxed); }
uint64_t RecordsLost() { return g_counts.lost.load(std::memory_order_relaxed); }

constexpr Api kApi = {
    .size = sizeof(Api),
    .start = Start,
    .stop = Stop,
    .tick = Tick,
    .start_gpu = StartGpu,
    .modules_changed = ModulesChanged,
    .finish = Finish,
    .capture_stack = CaptureTimedStack,
    .before_fork = BeforeFork,
    .after_fork_parent = AfterForkParent,
    .after_fork_child = AfterForkChild,
    .snapshot = Snapshot,
    .watch_framework_ranges = [] { return TorchTryWatchRanges(g_host); },
    .watch_profiler_calls = [](bool is_late) { cupti::WatchProfilerCalls(g_host, is_late); },
    .await_python = [] { g_host->request_tick(), AwaitCalls(kPythonLimit); },
    .watch_python = WatchPythonExit,
    .thread_begins = CallsThreadBegins,
    .ops_state = OpsState,
    .records_written = RecordsWritten,
    .records_lost = RecordsLost,
};

}  // namespace
}  // namespace gpuprof::tracer

extern "C" __attribute__((visibility("default"))) const gpuprof::tracer::Api* gpuprof_tracer_api(
    const gpuprof::tracer::Host* host) {
  if (host == nullptr || host->size != sizeof(gpuprof::tracer::Host)) return nullptr;
  gpuprof::tracer::g_host = host;
  gpuprof::tracer::SetMappedNote(host->note_mapped);
  return &gpuprof::tracer::kApi;
}
