// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums samples of threads by the functions in their stacks. Here is the one definition of a
// function's own time, its time with callees, and the time that it is charged with. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/code_frame.h"
#include "analysis/derived/host_samples.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// What is one row: a function, whatever line runs; a line; or a file.
enum class CodeGroup { kFunction, kLine, kFile };

struct FunctionTimes {
  // A function has the line in which most of its own processor time passed.
  CodeFrame frame;
  HostTimes self;   // in which it was the innermost
  HostTimes total;  // in which it was on the stack, once for each stack
  // Time on a processor in which it was the innermost that belongs to the program: its own, and
  // that of the libraries it called. In a stack of libraries alone, the innermost is charged.
  int64_t charged_ns = 0;
  uint64_t count = 0;                            // samples in which it was the innermost
  std::set<std::pair<size_t, int32_t>> threads;  // process and tid, in whose stacks it was
};

// Names a frame of native code.
using NameOfCode = std::function<CodeFrame(uint64_t pc)>;

class HostFunctions {
 public:
  explicit HostFunctions(CodeGroup group) : group_(group) {}

  // Adds the samples of a process. `index` tells its threads from those of other processes.
  void Add(const Process& process, size_t index, const HostSamples& samples,
           const NameOfCode& name_code);

  // Returns the row of the innermost frame of a stack of the process that was added last.
  size_t RowOf(uint32_t stack);
  // Returns the row that is charged for a stack of this process.
  size_t ChargedRowOf(uint32_t stack);
  // Returns the rows of a stack of this process, innermost first. A row may be there several times.
  const std::vector<size_t>& RowsOf(uint32_t stack) { return Find(stack).rows; }

  // Returns the rows in the order in which they came. Call Finish() first.
  const std::vector<FunctionTimes>& rows() const { return rows_; }
  // Finds the line of each function.
  void Finish();

 private:
  struct Frame {
    size_t row;
    uint32_t line;
    bool is_program;
  };
  struct Stack {
    std::vector<size_t> rows;  // innermost first
    uint32_t line = 0;         // of the innermost
    size_t charged = 0;        // row
  };

  const Stack& Find(uint32_t stack);
  Frame FrameOf(uint64_t pc);
  Frame FrameOf(CodeFrame frame);

  CodeGroup group_;
  std::vector<FunctionTimes> rows_;
  std::map<CodeFrame, size_t> numbers_;
  std::vector<std::map<uint32_t, int64_t>> lines_;  // by row: own processor time of each line
  // What is known of the process that was added last.
  const Process* process_ = nullptr;
  NameOfCode name_code_;
  std::unordered_map<uint64_t, Frame> by_pc_;
  std::unordered_map<uint32_t, Stack> by_stack_;
};

}  // namespace gpuprof::analysis
