// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The call stack of a thread of another process, by the tables for unwinding that lie in the
// process's memory.

#pragma once

#include <sys/user.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "launcher/attach/target_objects.h"

namespace gpuprof::launcher {

struct TargetStack {
  std::vector<uint64_t> pcs;  // innermost first; of callers one byte before the return address
  bool is_whole = false;      // the outermost frame was reached, by tables alone
  bool has_handler = false;   // a signal handler is on it
};

class StackWalker {
 public:
  StackWalker(TargetMemory* memory, const TargetObjects* objects);
  ~StackWalker();
  StackWalker(const StackWalker&) = delete;
  StackWalker& operator=(const StackWalker&) = delete;

  // Walks the stack of a thread with these registers. The thread is stopped, or the result is a
  // guess that only brings the tables into memory.
  TargetStack Walk(const user_regs_struct& registers);

  struct Space;

 private:
  std::unique_ptr<Space> space_;
};

}  // namespace gpuprof::launcher
