// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See stepped_process.h.

#include "tests/unit/ring/stepped_process.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace gpuprof {
namespace {

constexpr int kMayNotBeTraced = 77;

}  // namespace

void SteppedProcess::Wait() { syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP); }

SteppedProcess::SteppedProcess(const std::function<void()>& body) {
  pid_ = fork();
  if (pid_ == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(kMayNotBeTraced);
    Wait();
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) {
    allowed_ = false;
    ended_ = true;
  }
}

SteppedProcess::~SteppedProcess() {
  if (ended_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

SteppedProcess::Stop SteppedProcess::Resume(int request, int signal) {
  if (ended_) return Stop::kEnded;
  if (signal != 0) held_ = signal;
  int status = 0;
  const auto op = static_cast<__ptrace_request>(request);
  if (ptrace(op, pid_, nullptr, static_cast<long>(signal)) == 0 &&
      waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status)) {
    const int by = WSTOPSIG(status);
    if (by == SIGTRAP) return Stop::kStepped;
    if (by == SIGSTOP) return Stop::kWaiting;
    // It was blocked when it was sent, and now is not.
    if (by == signal || by == held_) return Resume(request, by);
    ADD_FAILURE() << "the stepped process got signal " << by;
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
  }
  ended_ = true;
  status_ = status;
  return Stop::kEnded;
}

SteppedProcess::Stop SteppedProcess::Step(int signal) { return Resume(PTRACE_SINGLESTEP, signal); }
SteppedProcess::Stop SteppedProcess::Run(int signal) { return Resume(PTRACE_CONT, signal); }

}  // namespace gpuprof
