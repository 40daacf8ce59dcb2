// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who may call CUPTI: one thread at a time, and none once the program's end has had its turn, so
// that nobody is inside of CUPTI, or about to be, when the driver's own handlers of exit() run.
//
// On the threads that capture.h names; at the program's end on the one that ends it, which may be
// in a signal handler.

#pragma once

#include <cstdint>

namespace gpuprof::tracer::cupti {

class Turn {
 public:
  // Not had while another thread has it, nor after EndTurns(): nothing is waited for.
  Turn();
  // The program's end: waits for whoever has it, so long at most, and not for its own thread.
  explicit Turn(uint64_t limit_ns);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return has_; }

 private:
  bool Take();
  void Leave();

  const int thread_;
  bool has_ = false;
};

// Whoever has the turn is to come to an end soon, and asks TurnsHaveEnded(); the next is the last.
void EndTurns();
bool TurnsHaveEnded();
// In a forked child the thread that had it is not there.
void ForgetTurn();

// The system's number of it.
int ThisThread();

}  // namespace gpuprof::tracer::cupti
