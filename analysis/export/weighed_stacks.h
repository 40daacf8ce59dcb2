// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Call stacks with what each weighs by several measures at once: those of the pass `stacks`. For
// formats that keep stacks. One thread.

#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "analysis/passes/host/stack_weights.h"

namespace gpuprof::analysis {

struct WeighedStack {
  size_t process = 0;          // index in Trace::processes
  uint32_t stack = 0;          // id in the process; 0: none was taken
  std::string_view kind = {};  // the innermost frame behind those of the stack; "": none
  int32_t thread = 0;          // 0: of the process
  bool without_cuda = false;
  std::vector<uint64_t> values;  // by WeighedStacks::measures()
};

class WeighedStacks {
 public:
  // Weighs the stacks of the selected processes by one measure. `by` empty: by all measures that
  // have a weight. An error names the measures.
  Error Collect(PassContext& context, const std::string& by);

  const std::vector<const StackWeight*>& measures() const { return measures_; }
  // Returns the place of the measure that a reader should show first.
  size_t usual() const;
  const std::vector<WeighedStack>& stacks() const { return stacks_; }

 private:
  std::vector<const StackWeight*> measures_;
  std::list<StackWeights> kept_;  // they have the texts
  std::vector<WeighedStack> stacks_;
};

// Returns the frames of a stack, innermost first. `cut`: set if its outermost frames are missing,
// because a stack has no more frames than the recording kept.
std::vector<uint64_t> FramesOfStack(PassContext& context, const WeighedStack& stack, bool* cut);

}  // namespace gpuprof::analysis
