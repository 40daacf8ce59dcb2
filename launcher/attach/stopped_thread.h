// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One thread of another process, stopped by ptrace. The other threads go on. The thread goes on as
// it was when the object is destroyed, also if its wait was interrupted: the kernel begins the wait
// again.

#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::launcher {

class StoppedThread {
 public:
  // Programs ignore it, unless they have a use for it.
  static constexpr int kMarkSignal = SIGWINCH;

  explicit StoppedThread(pid_t tid) : tid_(tid) {}
  ~StoppedThread() { Release(); }
  StoppedThread(const StoppedThread&) = delete;
  StoppedThread& operator=(const StoppedThread&) = delete;

  // Stops the thread. Returns empty, or why not.
  std::string Stop();
  // Returns the registers by which the thread will go on. A wait that the stop has ended with EINTR
  // is begun again by them, since no handler of the program has run.
  const user_regs_struct& registers() const { return registers_; }
  pid_t tid() const { return tid_; }
  // Returns the number of the system call that the thread was stopped in; negative: none.
  long call() const {
    return waited_in_ >= 0 ? waited_in_ : static_cast<long>(registers_.orig_rax);
  }

  // Makes a system call of the thread's. `instruction` is the address of one that makes a system
  // call. `stack`, if not 0, is its stack meanwhile: it says where a thread whose tracer is killed
  // goes from there. False: the thread has ended, or did not come back; `result` is then not set.
  bool Call(uint64_t instruction, uint64_t stack, long number,
            const std::vector<uint64_t>& arguments, int64_t* result);
  // Has the thread run at `entry`, with `stack` as its stack, until it sends itself kMarkSignal by
  // the system call in front of the address `mark`. False: it did not within `limit_ms`, and goes
  // on alone: it is let go, and has to find its way back by itself.
  bool RunToMark(uint64_t entry, uint64_t stack, uint64_t mark, int limit_ms);
  // Returns the thread's floating point and vector registers, as the kernel keeps them.
  const std::vector<uint8_t>& vectors() const { return vectors_; }
  uint64_t blocked_signals() const { return blocked_; }

  // Lets the thread go on as it was. Returns how long it was stopped.
  uint64_t Release();
  bool is_lost() const { return is_lost_; }

 private:
  bool Wait(int limit_ms, int* status);
  bool AwaitStop(int limit_ms);
  void BeginWaitAgain();
  bool HasSignals() const;
  bool SetRegisters(const user_regs_struct& registers) const;
  void HoldSignals();
  void Restore();

  pid_t tid_;
  bool is_seized_ = false;
  bool is_lost_ = false;  // it has ended, or runs on its own
  bool is_changed_ = false;
  bool holds_signals_ = false;
  long waited_in_ = -1;
  bool is_behind_call_ = false;
  bool mark_is_due_ = false;  // the program's own came meanwhile
  uint64_t stopped_at_ = 0;
  uint64_t stopped_ns_ = 0;
  uint64_t blocked_ = 0;
  user_regs_struct registers_ = {};
  std::vector<uint8_t> vectors_;
};

}  // namespace gpuprof::launcher
