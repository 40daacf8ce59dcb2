// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells a signal sent to us alone, which must be passed on to the command, from one sent to our
// process group, which has reached the command already (`timeout`, supervisors, `kill -- -PGID`):
// nothing in the signal itself says which it was. The witness is a process in the same group that
// blocks every signal and counts what it gets. It holds no descriptor and dies with us.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace gpuprof::launcher {

class Witness {
 public:
  // Call with every signal blocked, after the command was started. Without a witness (no process
  // could be made) every signal is taken to be ours alone.
  void Start();
  void Stop();

  // Whether the signal that just arrived here reached the witness too. Signal handlers; waits up to
  // a millisecond for the kernel to serve the whole group. Call it for every signal that arrives.
  bool Saw(int number);

 private:
  static constexpr int kSignals = 65;
  struct Shared {
    std::atomic<uint32_t> count[kSignals];
  };

  bool IsPending(int number) const;

  Shared* shared_ = nullptr;
  uint32_t seen_[kSignals] = {};
  pid_t pid_ = 0;
  int status_ = -1;  // its /proc/PID/status
};

}  // namespace gpuprof::launcher
