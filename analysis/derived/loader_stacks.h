// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a thread of PyTorch's DataLoader does, by the functions of Python on its stack. The loader's
// own files and functions have kept their names since PyTorch 1.2. _worker_loop() in
// _utils/worker.py calls fetch() in _utils/fetch.py. This asks the dataset for samples, and hands
// them to collate_fn. Made for one process, one thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/derived/input_pipeline.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class LoaderStacks {
 public:
  explicit LoaderStacks(const Process& process) : process_(process) {}

  // Looks at a stack. Look at all stacks before the first question: each explains lines of others.
  void Look(uint32_t stack) { Find(stack); }
  // Returns whether a stack is in the loop of a worker.
  bool IsInLoop(uint32_t stack) { return Find(stack).is_in_loop; }
  // Returns whether a thread waits for a batch that it is to send.
  bool IsWaitForBatch(uint32_t stack) { return Find(stack).is_wait_for_batch; }
  // Returns what is done in a worker's loop, or in a fetch() of any thread. None: something else.
  std::optional<LoaderWork> WorkOf(uint32_t stack);

 private:
  enum class Function : uint8_t {
    kOther,
    kLoop,
    kFetch,
    kGet,
    kPut,
    kFeed,
    kWait,
    kSample,
    kCollate
  };
  struct Frame {
    Function function = Function::kOther;
    bool is_iterable = false;  // fetch() of an iterable dataset
    bool is_inlined = false;   // a comprehension within fetch()
    uint32_t line = 0;
  };
  struct Stack {
    bool is_in_loop = false, is_wait_for_batch = false;
    std::optional<LoaderWork> work;
    // It is a fetch() whose work its line tells.
    bool needs_line = false, is_iterable = false;
    uint32_t line = 0;
  };

  const Frame& FrameOf(uint64_t pc);
  const Stack& Find(uint32_t stack);
  LoaderWork WorkOfLine(const Stack& stack) const;

  const Process& process_;
  std::unordered_map<uint64_t, Frame> frames_;
  std::unordered_map<uint32_t, Stack> stacks_;
  // Lines of fetch(), of an iterable dataset or not, by what was seen there.
  std::map<bool, std::set<uint32_t>> sample_lines_, collate_lines_, other_lines_;
};

}  // namespace gpuprof::analysis
