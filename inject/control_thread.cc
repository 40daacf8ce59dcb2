// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/control_thread.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include <atomic>

#include "inject/control_socket.h"
#include "inject/guarded_fd.h"
#include "inject/last_thread.h"
#include "inject/lifecycle.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;
constexpr uint64_t kSecond = 1000 * kMillisecond;
// dlopen runs on it, with the loader's and constructors' frames.
constexpr size_t kStackBytes = 512 * 1024;
// Most processes of a job's tree live for milliseconds: they get neither the tracer nor its thread.
// Exact heap traces want stacks from the first allocation on and start at once.
constexpr uint64_t kSessionDelay = 10 * kMillisecond;
constexpr uint64_t kForkedSessionDelay = 50 * kMillisecond;
// A framework is found once its library is loaded: looked for often while libraries come, seldom
// when none came for a while. Each look costs the program a processor for a moment.
constexpr uint64_t kTick = 20 * kMillisecond;
constexpr uint64_t kQuietTick = 100 * kMillisecond;
constexpr uint64_t kSlowTick = 200 * kMillisecond;
constexpr uint64_t kLoadingTime = 300 * kMillisecond;
// How long the process may stay alive with nothing but our threads in it.
constexpr uint64_t kLonelyTime = kSecond;
constexpr uint64_t kLonelyTimeWithoutMain = 20 * kMillisecond;
constexpr uint64_t kStartTime = 20 * kSecond;

std::atomic<uint32_t> g_toggles{0};
std::atomic<uint32_t> g_stop_wanted{0};
constinit GuardedFd g_wake_read;
constinit GuardedFd g_wake_write;
bool g_forked = false;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

void OpenWakePipe() {
  int ends[2];
  if (raw::Call(SYS_pipe2, raw::Arg(ends), O_CLOEXEC | O_NONBLOCK) != 0) return;
  g_wake_read.Adopt(ends[0]);
  g_wake_write.Adopt(ends[1]);
}

// SIGCANCEL and SIGSETXID in a kernel's signal set; libc's headers name neither.
constexpr uint64_t kCancelSignal = uint64_t{1} << (32 - 1);
constexpr uint64_t kSetIdsSignal = uint64_t{1} << (33 - 1);

struct Deadlines {
  uint64_t session;  // when the tracer is loaded for a capture that began with the process
  uint64_t start;    // delayed capture; 0: none
  uint64_t stop;     // end of a delayed capture; 0: none
  uint64_t tick;
  uint64_t loading;  // until then libraries are taken to be on their way
  uint64_t lonely;   // next look at whether only our threads are left
};

void Earlier(uint64_t* when, uint64_t candidate) {
  if (candidate != 0 && candidate < *when) *when = candidate;
}

// Sleeps until a request, a wake-up, or `until`.
void Sleep(uint64_t until) {
  pollfd wait[2] = {{g_wake_read.fd(), POLLIN, 0}, {ControlSocketFd(), POLLIN, 0}};
  const uint64_t now = Now();
  const uint64_t left = until > now ? until - now : 0;
  const timespec limit = {static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
  const long ready = raw::Call(SYS_ppoll, raw::Arg(wait), 2, raw::Arg(&limit), 0, 8);
  if (ready <= 0) return;
  if ((wait[0].revents & POLLIN) != 0 && g_wake_read.Valid()) {
    char bytes[64];
    raw::Call(SYS_read, g_wake_read.fd(), raw::Arg(bytes), sizeof(bytes));
  }
  // A program that closes every descriptor takes ours along; a closed one answers POLLNVAL at once.
  if ((wait[0].revents & POLLNVAL) != 0 || (g_wake_read.fd() >= 0 && !g_wake_read.Valid())) {
    g_wake_read.Forget();
    g_wake_write.Forget();
    OpenWakePipe();
  }
  if (wait[1].revents != 0) ServeControlSocket();
}

// With a flight recorder the signal asks for what is kept; several at once get one answer.
bool RunSnapshots() {
  if (g_settings.flight_bytes == 0 || g_toggles.load() == 0 || !IsCapturing()) return false;
  g_toggles.store(0);
  char path[1024];
  const char* error = TakeSnapshot("", path, sizeof(path));
  if (error == nullptr) {
    Debug(path);
    return true;
  }
  char line[256];
  Text text(line, sizeof(line));
  text.Add("no snapshot could be taken: ").Add(error);
  Say(line);
  return true;
}

void RunToggles() {
  if (RunSnapshots()) return;
  // Each signal is one toggle, also when several arrived before we woke up.
  for (uint32_t left = g_toggles.exchange(0); left > 0; --left) {
    if (!StopCapture("signal") && BeginRecording("signal")) StartSession();
  }
}

bool SessionMayStart(uint64_t now, const Deadlines& deadlines) {
  if (!SessionIsDue()) return false;
  if (g_settings.heap_mode == proto::HeapMode::kExact && !g_forked) return true;
  // A forked child that recorded nothing gets no file.
  return now >= deadlines.session && g_process.ring_file_state.load() == 2;
}

// As libc does when the last of its threads ends. What runs now is the program's: its exit
// handlers.
[[noreturn]] void Leave() {
  t_thread.busy = t_thread.tool = 0;
  exit(0);
}

void Work(Deadlines* deadlines, uint64_t began) {
  const uint64_t now = Now();
  if (deadlines->start != 0 && now >= deadlines->start) {
    deadlines->start = 0;
    if (BeginRecording("delay") && StartSession() && g_launch.length_ns != 0)
      deadlines->stop = Now() + g_launch.length_ns;
  }
  if (deadlines->stop != 0 && now >= deadlines->stop) {
    deadlines->stop = 0;
    StopCapture("delay");
  }
  if (SessionMayStart(now, *deadlines)) StartSession();
  if (now >= deadlines->lonely || MainThreadLeft()) {
    if (OnlyOursRemain()) Leave();
    deadlines->lonely = Now() + kLonelyTime;
  }
  if (g_stop_wanted.exchange(0) != 0) StopCapture("memory");
  RunToggles();
  if (g_process.session.load() != 0 && now >= deadlines->tick) {
    if (TickSession()) deadlines->loading = now + kLoadingTime;
    const uint64_t quiet = now - began < kStartTime ? kQuietTick : kSlowTick;
    deadlines->tick = Now() + (now < deadlines->loading ? kTick : quiet);
  }
}

void* ControlMain(void*) {
  t_thread.busy = t_thread.tool = 1;
  raw::Call(SYS_prctl, PR_SET_NAME, raw::Arg(proto::kControlThread));
  const uint64_t began = Now();
  Deadlines deadlines = {};
  deadlines.session = began + (g_forked ? kForkedSessionDelay : kSessionDelay);
  deadlines.lonely = began + kLonelyTime;
  if (!g_forked && g_launch.capture == CaptureMode::kDelay)
    deadlines.start = began + g_launch.delay_ns;
  OpenControlSocket();
  while (g_process.finished.load() == 0 || raw::GetPid() == g_process.pid) {
    Work(&deadlines, began);
    uint64_t until = Now() + kSecond;
    Earlier(&until, deadlines.start);
    Earlier(&until, deadlines.stop);
    if (MainThreadLeft()) Earlier(&until, Now() + kLonelyTimeWithoutMain);
    if (SessionIsDue()) {
      // The deadline may have passed with nothing recorded yet: look again now and then.
      Earlier(&until, deadlines.session > Now() ? deadlines.session : Now() + kForkedSessionDelay);
    }
    if (g_process.session.load() != 0) Earlier(&until, deadlines.tick);
    if (g_toggles.load() == 0) Sleep(until);
  }
  return nullptr;
}

}  // namespace

void StartControlThread(bool forked) noexcept {
  g_forked = forked;
  ForgetMainThreadLeft();
  OpenWakePipe();
  // Our thread is born with every signal blocked: the program's handlers never run on it. But not
  // the two that libc keeps for itself: setuid() and its relatives send SIGSETXID to every thread
  // of the process and wait for its answer, ours included.
  uint64_t all = ~(kCancelSignal | kSetIdsSignal);
  uint64_t old = 0;
  raw::Call(SYS_rt_sigprocmask, SIG_SETMASK, raw::Arg(&all), raw::Arg(&old), sizeof(all));
  const uint8_t busy = t_thread.busy;
  const uint8_t tool = t_thread.tool;
  t_thread.busy = t_thread.tool = 1;
  pthread_attr_t attributes;
  pthread_t thread;
  bool made = false;
  if (real.pthread_attr_init(&attributes) == 0) {
    real.pthread_attr_setstacksize(&attributes, kStackBytes);
    real.pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    made = real.pthread_create(&thread, &attributes, ControlMain, nullptr) == 0;
    real.pthread_attr_destroy(&attributes);
  }
  t_thread.busy = busy;
  t_thread.tool = tool;
  raw::Call(SYS_rt_sigprocmask, SIG_SETMASK, raw::Arg(&old), 0, sizeof(old));
  if (!made) {
    g_process.recording.store(0);
    g_process.capture_state.store(static_cast<uint32_t>(proto::CaptureState::kFailed));
    Say("cannot record: no thread could be made (limit on processes or memory)");
  }
}

void WakeControlThread() noexcept {
  if (g_wake_write.Valid()) raw::Call(SYS_write, g_wake_write.fd(), raw::Arg("w"), 1);
}

void RequestToggle() noexcept {
  g_toggles.fetch_add(1);
  WakeControlThread();
}

void RequestStop() noexcept {
  g_stop_wanted.store(1);
  WakeControlThread();
}

void RemoveControlSocket() noexcept { CloseControlSocket(/*remove=*/true); }

void ReopenControlSocket() noexcept {
  CloseControlSocket(/*remove=*/true);
  OpenControlSocket();
}

void ForgetControl() noexcept {
  g_toggles.store(0);
  g_stop_wanted.store(0);
  g_wake_read.CloseIfOurs();
  g_wake_write.CloseIfOurs();
  ForgetControlSocket();
}

}  // namespace gpuprof::inject
