// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells a signal sent to the launcher alone from a signal sent to its process group (`timeout`,
// supervisors, `kill -- -PGID`). The first must be passed on to the command; the second has reached
// the command already. Nothing in the signal itself says which it was. The witness is a process in
// the same group that blocks every signal and counts those it gets. It also empties the launcher's
// inbox, as the launcher sleeps until the command ends. It dies with the launcher.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace gpuprof::launcher {

class ObstacleInbox;

class Witness {
 public:
  // Starts the witness. Call with every signal blocked, after the command was started. Null: it has
  // no inbox to empty. Without a
  // witness (no process could be made) every signal is taken as sent to the launcher alone.
  void Start(ObstacleInbox* inbox);
  void Stop();

  // Returns whether the signal that just arrived here reached the witness too. Signal handlers;
  // waits up to a millisecond for the kernel to serve the whole group. Call it for every signal
  // that arrives.
  bool Saw(int number);

 private:
  static constexpr int kSignals = 65;
  struct Shared {
    std::atomic<uint32_t> count[kSignals];
  };

  [[noreturn]] void Serve(ObstacleInbox* inbox);
  struct Look {
    bool is_awake = false, has_pending = false;
  };
  Look LookAt(int number) const;

  Shared* shared_ = nullptr;
  uint32_t seen_[kSignals] = {};
  pid_t pid_ = 0;
  int status_ = -1;  // its /proc/PID/status
};

}  // namespace gpuprof::launcher
