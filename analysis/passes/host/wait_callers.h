// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which line of Python a thread waits in, by the stack of the wait. One process, one thread.

#pragma once

#include <cstdint>
#include <unordered_map>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class WaitCallers {
 public:
  explicit WaitCallers(const Process& process) : process_(process) {}

  // Returns the frame of the innermost line that belongs to a program, else that of the innermost
  // function of Python. 0: the stack has no function of Python.
  uint64_t Find(uint32_t stack);

 private:
  const Process& process_;
  std::unordered_map<uint32_t, uint64_t> callers_;  // by the id of a stack
  std::unordered_map<uint64_t, bool> is_program_;   // by frame
};

}  // namespace gpuprof::analysis
