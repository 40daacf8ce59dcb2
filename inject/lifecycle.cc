// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/lifecycle.h"

#include "inject/bootstrap_arena.h"
#include "inject/budget/limited_captures.h"
#include "inject/capture_family.h"
#include "inject/control_socket.h"
#include "inject/control_thread.h"
#include "inject/departure.h"
#include "inject/dormant.h"
#include "inject/given_files.h"
#include "inject/heap_sampler.h"
#include "inject/held_signals.h"
#include "inject/hooks/cupti.h"
#include "inject/interrupted_hook.h"
#include "inject/marked_captures.h"
#include "inject/obstacle.h"
#include "inject/own_room.h"
#include "inject/ranges/ranges.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/recorder.h"
#include "inject/ring_file.h"
#include "inject/ring_room.h"
#include "inject/ring_users.h"
#include "inject/settings.h"
#include "inject/signal_sender.h"
#include "inject/tensorflow/function_steps.h"
#include "inject/tensorflow/level.h"
#include "inject/tensorflow/recorder.h"
#include "inject/text.h"
#include "inject/tool_lock.h"
#include "inject/tool_thread.h"
#include "inject/tracer_object.h"
#include "inject/triggers/triggers.h"

namespace gpuprof::inject {

std::atomic<uint32_t> g_hurry{0};

namespace {

using proto::CaptureState;

constexpr uint64_t kSecond = 1'000'000'000u;

// Outside the pages that fork wipes: what a forked child continues with.
constinit ToolLock g_lock;
// 1: a capture's session is being started, and hooks record nothing of it yet.
std::atomic<uint32_t> g_is_held_back{0};
const char* g_trigger = "now";
// Of the thread that forks or calls exec; others may do so at the same time.
struct BeforeLeaving {
  bool forks;  // BeforeFork() has run; the process may be detached from before AfterFork...()
  bool locked;
  uint32_t recording;
  uint32_t can_unwind;
};
__thread BeforeLeaving t_at_fork __attribute__((tls_model("initial-exec")));

void SetState(CaptureState state) {
  g_process.capture_state.store(static_cast<uint32_t>(state), std::memory_order_release);
}
CaptureState State() {
  return static_cast<CaptureState>(g_process.capture_state.load(std::memory_order_acquire));
}

uint32_t RecordingBits() {
  uint32_t bits = g_settings.sources;
  if ((bits & proto::kSourceHeap) != 0 && g_settings.heap_mode == proto::HeapMode::kExact) {
    bits = (bits & ~proto::kSourceHeap) | kRecordHeapExact;
  }
  if (g_settings.heap_mode == proto::HeapMode::kOff) bits &= ~proto::kSourceHeap;
  return bits;
}

// While our own code runs on an application's thread (exit, exec), what it allocates and locks is
// not the program's.
class ToolSection {
 public:
  ToolSection() noexcept : saved_(t_thread.busy), saved_tool_(t_thread.tool) {
    t_thread.busy = 1;
    if (saved_tool_ == 0) t_thread.tool = kProgramsThread;
  }
  ~ToolSection() noexcept {
    t_thread.busy = saved_;
    t_thread.tool = saved_tool_;
  }

 private:
  uint8_t saved_;
  uint8_t saved_tool_;
};

class Locked {
 public:
  explicit Locked(uint64_t limit_ns) noexcept : held_(g_lock.Lock(limit_ns)) {}
  ~Locked() noexcept {
    if (held_) g_lock.Unlock();
  }
  explicit operator bool() const noexcept { return held_; }

 private:
  bool held_;
};

void WriteProcessEvent(proto::ProcessEvent event, uint64_t a, uint64_t b, const char* text) {
  Recorder recorder(proto::kSourceThreads);
  if (!recorder.active()) return;
  const proto::Record record = {recorder.Now(),
                                0,
                                static_cast<uint8_t>(proto::RecordKind::kProcess),
                                0,
                                static_cast<uint16_t>(event),
                                a,
                                b};
  if (text != nullptr) {
    recorder.WriteWithText(text, record);
  } else {
    recorder.Write(record);
  }
}

// A forked child that has recorded nothing has none yet; a thread of the program may be making it.
bool HaveRingFile() {
  constexpr timespec kMoment = {0, 100'000};
  while (!EnsureRingFile()) {
    if (g_process.ring_file_state.load() != 1) return false;
    raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
  }
  return true;
}

// Waits that have gone on since an earlier capture: in this one they begin with it.
void ClipOpenWaits() {
  const uint64_t now = proto::ReadTicks(g_process.clock);
  const uint32_t count = g_process.ring_count.load(std::memory_order_acquire);
  for (uint32_t slot = 0; slot < count && slot < proto::kMaxRings; ++slot) {
    proto::RingHeader* ring = __atomic_load_n(&g_rings[slot], __ATOMIC_ACQUIRE);
    if (ring == nullptr || ring->state.load() != static_cast<uint32_t>(proto::RingState::kOwned))
      continue;
    uint64_t start = ring->open_wait_start.load(std::memory_order_relaxed);
    // Not where the wait ends this moment.
    if (start != 0) ring->open_wait_start.compare_exchange_strong(start, now);
  }
}

bool PrepareCaptureLocked(const char* trigger) {
  if (g_process.finished.load() != 0) return false;
  if (State() == CaptureState::kCapturing || State() == CaptureState::kFailed) return false;
  if (!EnsureRingFile()) return false;
  const bool sampled = g_settings.heap_mode == proto::HeapMode::kSampled &&
                       (g_settings.sources & proto::kSourceHeap) != 0;
  if (sampled && !ResetSampled()) return false;
  g_trigger = trigger;
  g_process.captures.fetch_add(1, std::memory_order_relaxed);
  proto::RingFileHeader* file = g_process.ring_file;
  file->capture.store(g_process.captures.load(), std::memory_order_relaxed);
  file->coarse_ticks.store(0, std::memory_order_relaxed);
  g_process.begin_cpu_ns.store(proto::ReadClockNs(CLOCK_PROCESS_CPUTIME_ID),
                               std::memory_order_relaxed);
  SetState(CaptureState::kCapturing);
  return true;
}

void LetRecord() {
  ranges::BeginCapture();
  ClipOpenWaits();
  g_process.ring_file->spans_told.store(0, std::memory_order_relaxed);
  g_process.recording.store(RecordingBits(), std::memory_order_release);
  tensorflow::CaptureBegins();
}

void LetNothingRecord() {
  g_process.recording.store(0, std::memory_order_release);
  tensorflow::CaptureEnds();
}

bool StartSessionLocked() {
  if (State() != CaptureState::kCapturing || g_process.session.load() != 0) return true;
  const bool has_file = HaveRingFile();
  if (!has_file) CannotRecord(proto::Obstacle::kFile, RingFileError());
  const tracer::Api* api = has_file ? LoadTracer() : LoadedTracer();
  g_process.tracer = api;
  if (!has_file || api == nullptr || !api->start(g_process.captures.load(), g_trigger)) {
    LetNothingRecord();
    SetState(CaptureState::kFailed);
    SayWhatWasPosted();  // it may be the drain's reason
    NoteTrouble(LastSaid());
    return false;
  }
  g_process.session.store(1, std::memory_order_release);
  g_process.can_unwind.store(1, std::memory_order_release);
  return true;
}

}  // namespace

void NewIdentity() noexcept {
  ForgetGivenFiles();  // they have the old name
  g_process.pid = raw::GetPid();
  g_settings.start_id = proto::ReadClockNs(CLOCK_REALTIME) / 1000;
  Text stem(g_settings.file_stem, sizeof(g_settings.file_stem));
  stem.Add("p").Number(g_process.pid).Add("-").Hex(g_settings.start_id);
}

bool MustHasten() noexcept {
  return g_hurry.load(std::memory_order_relaxed) != 0 || g_lock.IsAwaited() || HasRequests();
}

bool BeginRecording(const char* trigger) noexcept {
  ToolSection tool;
  Locked lock(5 * kSecond);
  if (!lock || !PrepareCaptureLocked(trigger)) return false;
  LetRecord();
  return true;
}

bool BeginCapture(const char* trigger) noexcept {
  ToolSection tool;
  Locked lock(5 * kSecond);
  if (!lock || !PrepareCaptureLocked(trigger)) return false;
  g_is_held_back.store(1);
  const bool has_started = StartSessionLocked();
  if (g_is_held_back.exchange(0) != 0 && has_started) LetRecord();
  return has_started;
}

void RecordAtOnce() noexcept {
  if (State() != CaptureState::kCapturing || g_is_held_back.exchange(0) == 0) return;
  LetRecord();
  // The session may have failed meanwhile.
  if (State() != CaptureState::kCapturing) LetNothingRecord();
}

bool SessionIsDue() noexcept {
  return State() == CaptureState::kCapturing &&
         g_process.session.load(std::memory_order_acquire) == 0 &&
         g_process.finished.load(std::memory_order_relaxed) == 0;
}

bool StartSession() noexcept {
  ToolSection tool;
  Locked lock(5 * kSecond);
  return lock && g_process.finished.load() == 0 && StartSessionLocked();
}

bool WatchFrameworkRanges() noexcept {
  ToolSection tool;
  Locked lock(0);
  if (!lock) return true;
  // Known from here on, also to a fork that comes meanwhile.
  g_process.tracer = LoadTracer();
  return g_process.tracer != nullptr && !g_process.tracer->watch_framework_ranges();
}

void LoadTracerForWatch() noexcept {
  if (LoadedTracer() != nullptr) return;
  ToolSection tool;
  Locked lock(0);
  if (lock) g_process.tracer = LoadTracer();
}

void WatchProfilerCalls(bool is_late) noexcept {
  ToolSection tool;
  // A capture that is being begun or ended has CUPTI meanwhile.
  Locked lock(is_late ? 0 : kSecond / 5);
  if (!lock || g_process.finished.load() != 0 || g_process.tracer == nullptr) return;
  g_process.tracer->watch_profiler_calls(is_late);
}

bool StopCapture(const char* trigger) noexcept {
  ToolSection tool;
  Locked lock(5 * kSecond);
  if (!lock || State() != CaptureState::kCapturing || !StartSessionLocked()) return false;
  LetNothingRecord();
  ranges::CountStarted();
  SetState(CaptureState::kDraining);
  g_process.can_unwind.store(0, std::memory_order_release);
  UpdateLatestSnapshot();
  g_process.tracer->stop(tracer::StopReason::kRequest, trigger);
  g_process.session.store(0, std::memory_order_release);
  SetState(CaptureState::kDormant);
  return true;
}

bool IsCapturing() noexcept { return State() == CaptureState::kCapturing; }

const char* TakeSnapshot(const char* name, proto::SnapshotNumbers* numbers, char* path,
                         uint32_t path_bytes) noexcept {
  ToolSection tool;
  Locked lock(5 * kSecond);
  if (!lock || g_process.finished.load() != 0) return "the process is about to end";
  if (!StartSessionLocked()) {
    return "this process cannot be captured; the program's stderr says why";
  }
  if (g_process.tracer == nullptr || g_process.captures.load() == 0) {
    return "nothing was recorded yet; start a capture with `gpuprof ctl start`";
  }
  char request[256];
  Text text(request, sizeof(request));
  (*numbers)[proto::kKeepSnapshots] = g_launch.snapshots;
  text.Add(name).Add("\n");
  for (const uint64_t number : *numbers) text.Number(static_cast<int64_t>(number)).Add(" ");
  return g_process.tracer->snapshot(request, path, path_bytes);
}

bool TickSession() noexcept {
  Locked lock(0);
  return lock && g_process.session.load() != 0 && g_process.tracer->tick();
}

void StartGpu() noexcept {
  if (State() != CaptureState::kCapturing || g_process.finished.load() != 0 ||
      (g_settings.sources & proto::kSourceCuda) == 0)
    return;
  // The tracer may not be there yet: a program that begins with CUDA lives long enough to be worth
  // waiting for.
  if (SessionIsDue()) HastenSession();
  ToolSection tool;
  // The control thread, should it be ending the capture, needs no lock of this thread's but CUDA's
  // own, which cuInit holds: neither waits for the other for longer than this.
  Locked lock(kSecond / 5);
  if (lock && g_process.session.load() != 0) g_process.tracer->start_gpu();
}

void NoteExit(proto::ExitWay way, int32_t status) noexcept {
  proto::RingFileHeader* file = g_process.ring_file;
  if (file == nullptr || raw::GetPid() != g_process.pid) return;
  WriteProcessEvent(proto::ProcessEvent::kExit, static_cast<uint32_t>(status),
                    static_cast<uint64_t>(way), nullptr);
  file->exit_status.store(status, std::memory_order_relaxed);
  file->exit_way.store(static_cast<uint32_t>(way), std::memory_order_release);
  UpdateLatestSnapshot();
}

void FinishProcess(proto::ExitWay way, int32_t status) noexcept {
  // A child that shares our memory until it execs (vfork) must not end its parent's trace.
  if (g_process.pid == 0 || raw::GetPid() != g_process.pid || g_process.finished.load() != 0)
    return;
  if (t_thread.busy != 0)
    return NoteExit(way, status);  // a signal handler inside our own code: leave it to recovery
  const uint64_t began = proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
  // While dormant there is nothing to end that a child could have half of.
  const HeldSignals held(/*wanted=*/g_process.captures.load() != 0);
  NoteExit(way, status);
  ranges::EndStarted();
  ToolSection tool;
  TellWhereStepsEnded();
  TellMissedTriggers();
  g_hurry.store(1);
  Locked lock(2 * kSecond);
  if (!lock) return;
  const bool was_never_drained = SessionIsDue();
  if (was_never_drained && g_process.ring_file != nullptr && RingFileError() != 0)
    CannotRecord(proto::Obstacle::kFile, RingFileError());
  LetNothingRecord();
  g_process.can_unwind.store(0, std::memory_order_release);
  if (was_never_drained) CountLostWithoutFile();
  if (g_process.finished.exchange(1) != 0) return;
  const bool was_dormant = g_process.session.load() == 0 && g_process.captures.load() == 0;
  was_dormant ? HaveControlSocketRemoved() : RemoveControlSocket();
  NoteOwnTime(proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID) - began);
  // Without a session (a process that lived for milliseconds) the ring file is the trace; the
  // launcher or a reader finishes it.
  const tracer::Api* api = g_process.tracer;
  if (api != nullptr && (g_process.session.load() != 0 || g_process.captures.load() != 0))
    api->finish(way, status);
  SayWhatWasPosted();
}

void BeforeExec(const char* path, uint32_t obstacle) noexcept {
  if (g_process.pid == 0) return;
  WriteProcessEvent(proto::ProcessEvent::kExec, obstacle, 0, path);
  t_at_fork.recording = g_process.recording.load();
  FinishProcess(proto::ExitWay::kExec, 0);
}

void NoteRefusedExec(const char* path, int error) noexcept {
  WriteProcessEvent(proto::ProcessEvent::kExec, 0, static_cast<uint64_t>(error),
                    error == EFAULT ? nullptr : path);
}

void BeginNewTrace() noexcept {
  // The old file stays mapped: other threads may be writing to it.
  for (proto::RingHeader*& ring : g_rings) ring = nullptr;
  g_process.ring_file_state.store(0);
  g_process.ring_count.store(0);
  g_process.ring_bytes_used.store(0);
  g_process.session.store(0);
  g_hurry.store(0);
  NewIdentity();
  ranges::BeginFile();
  tensorflow::BeginFile();
  g_process.generation.fetch_add(1);
  SetState(CaptureState::kDormant);
  g_process.finished.store(0);
}

void ForgetCaptures() noexcept {
  BeginNewTrace();
  g_process.ring_file = nullptr;
  g_process.captures.store(0);
  g_process.may_have_threads.store(0);
}

void AfterFailedExec(int error) noexcept {
  if (g_process.pid == 0 || g_process.finished.load() == 0) return;
  ToolSection tool;
  BeginNewTrace();
  if (t_at_fork.recording != 0) BeginRecording("exec failed");
  t_thread.busy = t_thread.tool = 0;
  WriteProcessEvent(proto::ProcessEvent::kExec, 0, static_cast<uint64_t>(error), nullptr);
  t_thread.busy = t_thread.tool = 1;
  ReopenControlSocket();
}

void BeforeFork() noexcept {
  t_at_fork.forks = g_process.pid != 0;
  if (!t_at_fork.forks) return;
  // Waits out a start or stop under way, so that the child is not born into half of one.
  t_at_fork.locked = g_lock.Lock(kSecond);
  t_at_fork.recording = g_process.recording.load() & ~kAllocateInHandler;
  if (CapturesInChildren()) t_at_fork.recording = RecordingBits();
  // A capture that takes long to begin is the child's all the same.
  if (g_is_held_back.load() != 0 && IsCapturing()) t_at_fork.recording = RecordingBits();
  t_at_fork.can_unwind = g_process.can_unwind.load();
  KeepInterruptedHook();
  PrepareFamily();
  t_thread.forks = 1;
  if (g_process.tracer != nullptr) g_process.tracer->before_fork();
}

void AfterForkInParent() noexcept {
  if (!t_at_fork.forks) return;
  DropInterruptedHook();
  if (g_process.tracer != nullptr) g_process.tracer->after_fork_parent();
  t_thread.forks = 0;
  if (t_at_fork.locked) g_lock.Unlock();
}

void AfterForkInChild() noexcept {
  g_lock.Reset();
  bootstrap::AfterForkInChild();
  ForgetRings();
  ForgetRingUsers();
  g_is_held_back.store(0);
  g_hurry.store(0);
  ServeInterruptedHook();
  const bool wiped = g_process.pid == 0;
  if (!wiped) {
    __builtin_memset(static_cast<void*>(&g_process), 0,
                     sizeof(g_process));  // a kernel without WIPEONFORK
  }
  if (g_settings.bundle[0] == 0) return;
  ForgetControl();
  ForgetWakeUps();
  ForgetSenders();
  ForgetCuptiCalls();
  ForgetVainWaits();
  budget::ForgetWindows();
  g_process.tracer = LoadedTracer();
  if (g_process.tracer != nullptr) g_process.tracer->after_fork_child();
  g_process.clock = g_settings.clock;
  g_process.heap_period = g_settings.heap_period;
  g_process.stack_depth = g_settings.stack_depth;
  g_process.exact_times = g_settings.exact_heap_times;
  g_process.waits_for_room = g_settings.waits_for_room;
  g_process.is_forked = 1;
  static uint32_t generation = 1;
  g_process.generation.store(++generation);
  for (proto::RingHeader*& ring : g_rings) ring = nullptr;
  ranges::BeginFile();
  tensorflow::BeginFile();
  tensorflow::AfterForkInChild();
  tensorflow::ForgetFunctionSteps();
  ThreadState& thread = t_thread;
  thread.ring = nullptr;
  thread.refused = 0;
  thread.busy = thread.tool = thread.forks = 0;
  NewIdentity();
}

void ResumeInChild() noexcept {
  if (g_process.pid == 0) return;
  // Recording, but no file and no thread of the tracer's before the child has done something worth
  // it.
  if (t_at_fork.recording != 0) {
    ToolSection tool;
    if (g_settings.heap_mode == proto::HeapMode::kSampled &&
        (g_settings.sources & proto::kSourceHeap) != 0 && !ResetSampled()) {
      return;
    }
    g_trigger = "fork";
    g_process.captures.store(1);
    SetState(CaptureState::kCapturing);
    // The unwinder knows in the child what it knew in the parent.
    g_process.can_unwind.store(t_at_fork.can_unwind, std::memory_order_release);
    g_process.recording.store(t_at_fork.recording, std::memory_order_release);
    tensorflow::CaptureBegins();
  }
  if (MayBeDormant() && FallDormant()) return;
  StayAwake();  // without the mapping of a dormant parent
  StartControlThread(/*forked=*/true);
}

bool MayBeDormant() noexcept { return State() == CaptureState::kDormant && !WillCapture(); }

}  // namespace gpuprof::inject
