// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/control_thread.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>

#include "inject/attach/late_arrival.h"
#include "inject/budget/limited_captures.h"
#include "inject/capture_family.h"
#include "inject/control_socket.h"
#include "inject/dormant.h"
#include "inject/hooks/locks.h"
#include "inject/last_thread.h"
#include "inject/lifecycle.h"
#include "inject/marked_captures.h"
#include "inject/obstacle.h"
#include "inject/profiler_calls.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/ring_file.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/tensorflow/function_steps.h"
#include "inject/tensorflow/level.h"
#include "inject/text.h"
#include "inject/tool_thread.h"
#include "inject/triggers/triggers.h"

namespace gpuprof::inject {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;
constexpr uint64_t kSecond = 1000 * kMillisecond;
// Exit handlers of the program may have to run on it, and CUPTI begins with its work on the modules
// of a whole program there. What is not touched takes addresses alone.
constexpr size_t kStackBytes = 2 * 1024 * 1024;
// Most processes of a job's tree live for milliseconds: they get neither the tracer nor its thread.
// Nor do they get a control socket. Exact heap traces want stacks from the first allocation on and
// start at once.
constexpr uint64_t kSessionDelay = 10 * kMillisecond;
constexpr uint64_t kForkedSessionDelay = 50 * kMillisecond;
constexpr uint64_t kSilentTime = kSecond;
// A framework is found once its library is loaded: looked for often while libraries come, seldom
// when none came for a while. Each look costs the program a processor for a moment.
constexpr uint64_t kTick = 20 * kMillisecond;
constexpr uint64_t kQuietTick = 100 * kMillisecond;
constexpr uint64_t kSlowTick = 200 * kMillisecond;
constexpr uint64_t kLoadingTime = 300 * kMillisecond;
// How long the process may stay alive with nothing but our threads in it, after the main thread has
// left.
constexpr uint64_t kLonelyTimeWithoutMain = 20 * kMillisecond;
// A thread that says goodbye is still there for a moment.
constexpr uint64_t kFarewellTick = kMillisecond;
constexpr uint64_t kFarewellTime = 20 * kMillisecond;
// The main thread may leave by a system call of its own: nobody tells.
constexpr uint64_t kIdleTick = 200 * kMillisecond;
constexpr uint64_t kStartTime = 20 * kSecond;

std::atomic<uint32_t> g_toggles{0};
std::atomic<uint32_t> g_stop_wanted{0};
std::atomic<uint32_t> g_tick_wanted{0};
std::atomic<uint32_t> g_wanted{0};   // the thread sleeps on it
std::atomic<uint32_t> g_settled{0};  // 1: it has done what there was to do at the start
std::atomic<uint32_t> g_reopen_wanted{0};
std::atomic<uint32_t> g_leave{0};  // 1: the thread ends
std::atomic<uint32_t> g_hastened{0};
// Captures that a thread of the program waits for.
enum Answer : uint32_t { kNoAnswer, kYes, kNo };
std::atomic<const char*> g_begin_wanted{nullptr};  // the trigger
std::atomic<const char*> g_end_wanted{nullptr};
std::atomic<uint32_t> g_runs{0};  // there is a thread to answer
std::atomic<uint32_t> g_begun{kNoAnswer};
std::atomic<uint32_t> g_closed{kNoAnswer};
bool g_forked = false;
bool (*g_begin)() = nullptr;  // a process that was attached to begins with this
bool g_was_woken = false;     // before this round of the control thread
// A delayed capture, as the monotonic clock will show it; 0: none, or over. Children forked
// meanwhile begin and end theirs at the same moments.
uint64_t g_delayed_start = 0;
uint64_t g_delayed_stop = 0;
bool g_delay_began = false;  // a child may be forked before the first control thread has run

// What a thread without the program's files has to say.
enum PostState : uint32_t { kNothing, kFilling, kFull };
std::atomic<uint32_t> g_posted{kNothing};
char g_post[kMostSaid];

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

struct Deadlines {
  uint64_t session;  // when the tracer is loaded for a capture that began with the process
  uint64_t tick;
  uint64_t loading;   // until then libraries are taken to be on their way
  uint64_t socket;    // when the control socket is opened; 0: it was
  uint64_t lonely;    // next look at whether only our threads are left
  uint64_t farewell;  // until then a thread of the program is taken to be ending
  uint64_t marks;     // next look for what tells of steps or profiler calls; 0: no more
  uint64_t windows;   // next look at the windows of a limited recording; 0: none
};

void SleepFor(uint64_t ns) {
  const timespec time = {0, static_cast<long>(ns)};
  raw::Call(SYS_nanosleep, raw::Arg(&time), 0);
}

void Earlier(uint64_t* when, uint64_t candidate) {
  if (candidate != 0 && candidate < *when) *when = candidate;
}

// Sleeps until somebody wakes it, or `until`.
void Sleep(uint64_t until) {
  const uint64_t now = Now();
  const uint64_t left = until > now ? until - now : 0;
  const timespec limit = {static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
  raw::Call(SYS_futex, raw::Arg(&g_wanted), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, raw::Arg(&limit));
}

// With a flight recorder the signal asks for what is kept; several at once get one answer.
bool RunSnapshots() {
  if (g_settings.flight_bytes == 0 || g_toggles.load() == 0 || !IsCapturing()) return false;
  g_toggles.store(0);
  proto::SnapshotNumbers numbers = {};
  SnapshotOrSay(&numbers);
  return true;
}

void RunToggles() {
  if (RunSnapshots()) return;
  // Each signal is one toggle, also when several arrived before we woke up.
  for (uint32_t left = g_toggles.exchange(0); left > 0; --left) {
    if (!StopCapture("signal")) BeginCapture("signal");
  }
}

// 1: somebody waited in vain. Nobody waits again until there was an answer.
std::atomic<uint32_t> g_is_held{0};

void Tell(std::atomic<uint32_t>* answer, Answer value) {
  answer->store(value, std::memory_order_release);
  g_is_held.store(0);
  raw::Call(SYS_futex, raw::Arg(answer), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

Answer Await(std::atomic<uint32_t>* answer, uint64_t limit) {
  constexpr timespec kLook = {0, 20 * kMillisecond};
  WakeControlThread();
  if (g_is_held.load() != 0) return kNoAnswer;
  for (const uint64_t until = Now() + limit; answer->load() == kNoAnswer && Now() < until;)
    raw::Call(SYS_futex, raw::Arg(answer), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, kNoAnswer,
              raw::Arg(&kLook));
  const auto given = static_cast<Answer>(answer->load(std::memory_order_acquire));
  if (given == kNoAnswer && g_is_held.exchange(1) == 0)
    Say("a capture could not begin or end in time at the place that --capture names; it begins or "
        "ends a little later");
  return given;
}

void RunMarkedCaptures() {
  if (const char* trigger = g_end_wanted.exchange(nullptr); trigger != nullptr) {
    StopCapture(trigger);
    Tell(&g_closed, kYes);
  }
  if (const char* trigger = g_begin_wanted.exchange(nullptr); trigger != nullptr)
    Tell(&g_begun, BeginCapture(trigger) ? kYes : kNo);
}

bool SessionMayStart(uint64_t now, const Deadlines& deadlines) {
  if (!SessionIsDue()) return false;
  if (g_hastened.load() != 0) return true;
  if (g_settings.heap_mode == proto::HeapMode::kExact && !g_forked) return true;
  // A forked child that recorded nothing gets no file, unless it lives on: its time is worth one.
  // One of Python is sampled.
  if (g_process.ring_file_state.load() == 2) return now >= deadlines.session;
  if (g_forked && HasPython() && (g_settings.sources & proto::kSourceSamples) != 0)
    return now >= deadlines.session && EnsureRingFile();
  return now >= deadlines.session + kSilentTime && EnsureRingFile();
}

// As libc does when the last of its threads ends. What runs now is the program's: its exit
// handlers.
[[noreturn]] void Leave() {
  g_runs.store(0);  // what they ask for nobody answers
  t_thread.busy = t_thread.tool = 0;
  exit(0);
}

// What libc allocates for the listener would be this thread's first memory, for which malloc
// reserves 64 MiB of addresses.
void OpenFirstSocket(Deadlines* deadlines, uint64_t now) {
  if (deadlines->socket == 0 || now < deadlines->socket) return;
  deadlines->socket = 0;
  const FromArena section;
  OpenControlSocket();
}

void Work(Deadlines* deadlines, uint64_t began) {
  const uint64_t now = Now();
  OpenFirstSocket(deadlines, now);
  if (g_delayed_start != 0 && now >= g_delayed_start) {
    // Set before it begins: a child forked meanwhile records as well.
    if (g_launch.length_ns != 0) g_delayed_stop = now + g_launch.length_ns;
    g_delayed_start = 0;
    if (!BeginCapture("delay")) g_delayed_stop = 0;  // it is not this capture that runs
  }
  if (g_delayed_stop != 0 && now >= g_delayed_stop) {
    g_delayed_stop = 0;
    StopCapture("delay");
  }
  if (deadlines->windows != 0 && now >= deadlines->windows)
    deadlines->windows = HasParentsCaptures() ? now + kIdleTick : budget::LookAfterWindows(now);
  if (SessionMayStart(now, *deadlines)) StartSession();
  if (!MainThreadLeft() && MainThreadIsGone()) NoteMainThreadLeft();
  if (MainThreadLeft()) {
    if (OnlyOursRemain()) Leave();
    if (g_was_woken) deadlines->farewell = now + kFarewellTime;
    deadlines->lonely =
        Now() + (now < deadlines->farewell ? kFarewellTick : kLonelyTimeWithoutMain);
  }
  if (g_stop_wanted.exchange(0) != 0) StopCapture("memory");
  RunMarkedCaptures();
  FollowParent();
  RunToggles();
  RunTriggers(now);
  const bool wants_tick = g_tick_wanted.exchange(0) != 0;
  if (deadlines->marks != 0 && (wants_tick || now >= deadlines->marks)) {
    const bool is_unsure = LookForFrameworkRanges();
    const bool goes_on = tensorflow::LookForFunctionSteps() || is_unsure || LookForProfilerCalls();
    deadlines->marks = goes_on ? Now() + kQuietTick : 0;
  }
  if (wants_tick) deadlines->tick = 0;
  if (g_process.session.load() != 0 && now >= deadlines->tick) {
    if (TickSession()) deadlines->loading = now + kLoadingTime;
    tensorflow::Tick();
    const uint64_t quiet = now - began < kStartTime ? kQuietTick : kSlowTick;
    deadlines->tick = Now() + (now < deadlines->loading ? kTick : quiet);
  }
}

void* EndAttached() {
  g_runs.store(0);
  return nullptr;
}

void* ControlMain(void*) {
  EnterToolThread(proto::kControlThread);
  // A handler still needs its bit.
  while ((g_process.recording.load() & kAllocateInHandler) != 0) SleepFor(kMillisecond / 10);
  const uint64_t began = Now();
  if (const auto begin = g_begin; begin != nullptr) {
    g_begin = nullptr;
    if (!begin()) return EndAttached();
  }
  Deadlines deadlines = {};
  deadlines.session = began + (g_forked ? kForkedSessionDelay : kSessionDelay);
  deadlines.socket = IsCapturing() ? deadlines.session : began;
  deadlines.marks = deadlines.windows = began;
  if (g_launch.capture == CaptureMode::kDelay && !g_delay_began) {
    g_delayed_start = began + g_launch.delay_ns;
    g_delay_began = true;
  }
  while (g_leave.load() == 0 &&
         (g_process.finished.load() == 0 || raw::GetPid() == g_process.pid)) {
    g_was_woken = g_wanted.exchange(0) != 0;
    if (IsDetachWanted()) {
      Detach();
      return EndAttached();
    }
    LookAfterSlots();
    if (g_reopen_wanted.exchange(0) != 0) OpenControlSocket();
    SayWhatWasPosted();
    ServeControlSocket();
    Work(&deadlines, began);
    if (g_settled.load() == 0 && !SessionIsDue()) {
      g_settled.store(1);
      raw::Call(SYS_futex, raw::Arg(&g_settled), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
    }
    uint64_t until = Now() + kIdleTick;
    Earlier(&until, g_delayed_start);
    Earlier(&until, g_delayed_stop);
    Earlier(&until, deadlines.marks);
    Earlier(&until, deadlines.windows);
    Earlier(&until, deadlines.socket);
    if (HasParentsCaptures()) Earlier(&until, Now() + kTick);
    if (MainThreadLeft()) Earlier(&until, deadlines.lonely);
    if (SessionIsDue()) {
      // The deadline may have passed with nothing recorded yet: look again now and then.
      Earlier(&until, deadlines.session > Now() ? deadlines.session : Now() + kForkedSessionDelay);
    }
    if (g_process.session.load() != 0) Earlier(&until, deadlines.tick);
    Sleep(until);
  }
  return nullptr;
}

}  // namespace

void StartControlThread(bool forked) noexcept {
  g_forked = forked;
  ForgetMainThreadLeft();
  g_reopen_wanted.store(0);
  g_leave.store(0);
  g_runs.store(1);
  const int error = StartToolThread(ControlMain, nullptr, kStackBytes);
  if (error == 0) return;
  g_runs.store(0);
  g_process.recording.store(0);
  g_process.capture_state.store(static_cast<uint32_t>(proto::CaptureState::kFailed));
  g_settled.store(1);
  CannotRecord(proto::Obstacle::kThread, error);
}

int StartControlThreadFor(bool (*begin)()) noexcept {
  ForgetControl();
  ForgetMainThreadLeft();
  g_forked = false;
  g_begin = begin;
  g_leave.store(0);
  g_runs.store(1);
  const int error = StartToolThread(ControlMain, nullptr, kStackBytes);
  if (error != 0) g_runs.store(0);
  return error;
}

void EndControlThread() noexcept {
  g_leave.store(1);
  WakeControlThread();
  g_runs.store(0);
}

bool HasRequests() noexcept {
  return g_toggles.load() != 0 || g_stop_wanted.load() != 0 || g_leave.load() != 0 ||
         g_begin_wanted.load() != nullptr || g_end_wanted.load() != nullptr;
}

bool WillCapture() noexcept {
  if (g_launch.capture == CaptureMode::kDelay)
    return !g_delay_began || g_delayed_start != 0 || g_delayed_stop != 0;
  return WatchesMarks();
}

void AwaitSession() noexcept {
  constexpr uint64_t kLimit = kSecond / 5;
  constexpr timespec kLook = {0, 20 * kMillisecond};
  for (const uint64_t until = Now() + kLimit; g_settled.load() == 0 && Now() < until;) {
    raw::Call(SYS_futex, raw::Arg(&g_settled), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0,
              raw::Arg(&kLook));
  }
}

bool AskForSession() noexcept {
  g_hastened.store(1);
  WakeControlThread();
  return g_runs.load() != 0;
}

void HastenSession() noexcept {
  constexpr uint64_t kLimit = kSecond / 5;
  constexpr timespec kLook = {0, kMillisecond / 2};
  AskForSession();
  for (const uint64_t until = Now() + kLimit; SessionIsDue() && Now() < until;)
    raw::Call(SYS_nanosleep, raw::Arg(&kLook), 0);
}

bool HaveCaptureBegun(const char* trigger) noexcept {
  if (g_process.pid == 0) return false;  // a child made behind our back
  if (g_process.capture_state.load() == static_cast<uint32_t>(proto::CaptureState::kFailed))
    return false;
  // A library that is initialised before us: what it does is recorded, the session comes later.
  if (g_runs.load() == 0) return BeginRecording(trigger);
  g_begun.store(kNoAnswer);
  g_begin_wanted.store(trigger);
  // The capture before this one may be waiting for the GPU.
  const Answer answer = Await(&g_begun, 2 * kSecond + g_settings.gpu_finish_ns);
  if (answer == kNoAnswer) RecordAtOnce();
  return answer != kNo;
}

void HaveCaptureEnded(const char* trigger, bool has_begun) noexcept {
  if (!has_begun && g_begin_wanted.exchange(nullptr) != nullptr) return;
  g_closed.store(kNoAnswer);
  g_end_wanted.store(trigger);
  if (g_runs.load() != 0) Await(&g_closed, kSecond);
}

void CaptureIsClosed() noexcept { Tell(&g_closed, kYes); }

void WakeControlThread() noexcept {
  if (g_runs.load() == 0) return;
  g_wanted.store(1);
  raw::Call(SYS_futex, raw::Arg(&g_wanted), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

void SayWhatWasPosted() noexcept {
  uint32_t full = kFull;
  if (!g_posted.compare_exchange_strong(full, kFilling)) return;
  Say(g_post);
  g_posted.store(kNothing);
}

void SayByControlThread(const char* text) noexcept {
  for (int tries = 0; tries < 100; ++tries) {
    uint32_t empty = kNothing;
    if (g_posted.compare_exchange_strong(empty, kFilling)) break;
    if (tries == 99) return;
    const timespec moment = {0, kMillisecond};
    raw::Call(SYS_nanosleep, raw::Arg(&moment), 0);
  }
  Text(g_post, sizeof(g_post)).Add(text);
  g_posted.store(kFull, std::memory_order_release);
  WakeControlThread();
}

void RequestToggle() noexcept {
  g_toggles.fetch_add(1);
  WakeControlThread();
}

void RequestStop() noexcept {
  g_stop_wanted.store(1);
  WakeControlThread();
}

void RequestTick() noexcept {
  g_tick_wanted.store(1);
  WakeControlThread();
}

void ReopenControlSocket() noexcept {
  g_reopen_wanted.store(1);
  WakeControlThread();
}

void ForgetControl() noexcept {
  g_toggles.store(0);
  g_stop_wanted.store(0);
  g_tick_wanted.store(0);
  g_reopen_wanted.store(0);
  g_hastened.store(0);
  g_runs.store(0);
  g_is_held.store(0);
  g_begun.store(kNoAnswer);
  g_closed.store(kNoAnswer);
  g_begin_wanted.store(nullptr);
  g_end_wanted.store(nullptr);
  g_posted.store(kNothing);
  ForgetMarks();
  ForgetProfilerCalls();
  ForgetControlSocket();
}

}  // namespace gpuprof::inject
