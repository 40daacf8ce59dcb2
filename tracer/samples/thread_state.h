// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a thread does by the kernel: it runs, or it is in a system call. One read of
// /proc/self/task/TID/syscall, whose descriptor stays open. Where this file cannot be had, stat
// says whether the thread runs.
//
// A tool thread with its own table of descriptors.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

class ThreadState {
 public:
  ThreadState() = default;
  ~ThreadState() { Close(); }
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  // Opens the file of a thread. False: there is no such thread.
  bool Open(int32_t tid);
  void Close();
  // Reads the state anew. False: the thread has gone.
  bool Read();

  // It is on a processor, or waits for one.
  bool runs() const { return runs_; }
  // Stands for the system call, its arguments and the places in code and stack. 0: not known.
  uint64_t place() const { return place_; }
  // What a waiting thread waits on, if it waits on a futex; 0 otherwise.
  uint64_t futex() const { return futex_; }

 private:
  int descriptor_ = -1;
  bool is_stat_ = false;
  bool runs_ = false;
  uint64_t place_ = 0;
  uint64_t futex_ = 0;
};

}  // namespace gpuprof::tracer
