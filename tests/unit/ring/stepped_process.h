// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A forked copy of the test that runs one instruction at a time, under ptrace, so that the test can
// look at what both share after each of them. Everything that the body needs is made before the
// fork: what it does not execute cannot be stepped through.

#pragma once

#include <sys/types.h>

#include <functional>

namespace gpuprof {

class SteppedProcess {
 public:
  enum class Stop { kStepped, kWaiting, kEnded };

  // The child stands before the first instruction of `body`, or has ended if it may not be traced.
  explicit SteppedProcess(const std::function<void()>& body);
  ~SteppedProcess();
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;

  // Some containers refuse ptrace.
  bool allowed() const { return allowed_; }
  // One instruction; with a signal, the first one of its handler.
  Stop Step(int signal = 0);
  // On to the next Wait() or the end, with a signal if there is one.
  Stop Run(int signal = 0);
  // The body came to its end and failed no expectation of its own.
  bool succeeded() const { return ended_ && status_ == 0; }
  int status() const { return status_; }

  // For the body: stands still until the test goes on with it.
  static void Wait();

 private:
  Stop Resume(int request, int signal);

  pid_t pid_ = -1;
  bool allowed_ = true;
  bool ended_ = false;
  int held_ = 0;  // the newest that was sent
  int status_ = -1;
};

}  // namespace gpuprof
