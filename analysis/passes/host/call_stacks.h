// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Builds the table of call stacks of one result: rows get a stack's number, and each frame and each
// stack is there once. Made by a pass for its result; one thread.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class CallStackTable {
 public:
  // Fills `out`. The context and `out` must outlive the table.
  CallStackTable(PassContext* context, results::CallStacks* out);

  // Returns the number of a process's stack; 0: no stack was taken. Names frames that are new.
  uint32_t Add(size_t process, uint32_t stack);

  const results::CallStacks& stacks() const { return *out_; }

 private:
  struct PerProcess {
    std::vector<uint32_t> numbers;                  // by place in the process's tree; 0: not yet
    std::unordered_map<uint64_t, uint32_t> frames;  // by program counter
  };

  uint32_t FrameOf(size_t process, uint64_t pc);

  PassContext* context_;
  results::CallStacks* out_;
  std::vector<PerProcess> processes_;
};

}  // namespace gpuprof::analysis
