// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/departure.h"

#include <time.h>

#include "inject/control_socket.h"
#include "inject/control_thread.h"
#include "inject/dormant.h"
#include "inject/folder.h"
#include "inject/last_thread.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/ring_file.h"
#include "inject/settings.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

bool g_was_capturing = false;

bool OwnsProcess() {
  return g_process.pid != 0 && raw::GetPid() == g_process.pid && t_thread.busy == 0 &&
         g_process.finished.load() == 0;
}

struct Threads {
  int ours;
  int programs;
};

// A thread of ours that has no name yet looks like the program's. A busy machine lets it wait long.
Threads CountThreads() {
  const auto unnamed = static_cast<int>(g_process.unnamed_threads.load());
  Threads threads = {unnamed, -unnamed};
  ForEachEntry("/proc/self/task", [&](const char* tid, long) {
    IsOurThread(tid) ? ++threads.ours : ++threads.programs;
    return true;
  });
  return threads;
}

// False: it never came true.
template <typename Condition>
bool Await(int looks, Condition condition) {
  constexpr timespec kLook = {0, 200'000};
  for (; looks > 0 && !condition(); --looks) raw::Call(SYS_nanosleep, raw::Arg(&kLook), 0);
  return looks > 0;
}

// A thread may get its name during a look, and the tracer makes its thread itself: several looks.
bool IsAloneButForUs() {
  constexpr int kLooks = 50;
  return Await(kLooks, [] { return CountThreads().programs == 1; });
}

void AwaitEndOfThreads() {
  constexpr int kLooks = 10'000;
  Await(kLooks, [] { return CountThreads().ours == 0; });
}

void Depart(proto::ExitWay way) {
  EndListener();
  FinishProcess(way, 0);
  EndControlThread();
  AwaitEndOfThreads();
  ForgetControlSocket();
}

void DepartAndSleep(proto::ExitWay way) {
  g_was_capturing = g_launch.capture == CaptureMode::kNow && IsCapturing();
  Depart(way);
  if (way == proto::ExitWay::kLimits && IsAloneButForUs()) UnmapRings();
  ForgetCaptures();  // no other thread uses the file, and the process's end is not its end
  FallDormant();
}

}  // namespace

void DepartForFilter() noexcept {
  if (!OwnsProcess()) return;
  Depart(proto::ExitWay::kFiltered);
  StayAwake();
  g_settings.bundle[0] = 0;  // for forked children
  g_process.pid = 0;
}

void DepartIfAlone() noexcept {
  if (OwnsProcess() && !IsDormant() && IsAloneButForUs()) DepartAndSleep(proto::ExitWay::kAlone);
}

void DepartForRights() noexcept {
  if (OwnsProcess() && !IsDormant()) DepartAndSleep(proto::ExitWay::kRights);
}

bool DepartForLimits() noexcept {
  if (!OwnsProcess() || IsDormant()) return false;
  DepartAndSleep(proto::ExitWay::kLimits);
  return true;
}

bool CapturesInChildren() noexcept { return g_was_capturing && g_process.captures.load() == 0; }

}  // namespace gpuprof::inject
