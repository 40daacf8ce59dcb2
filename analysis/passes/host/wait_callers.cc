// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See wait_callers.h.

#include "analysis/passes/host/wait_callers.h"

#include "analysis/derived/code_frame.h"
#include "analysis/passes/host/stack_frames.h"

namespace gpuprof::analysis {

uint64_t WaitCallers::Find(uint32_t stack) {
  const auto [at, is_new] = callers_.try_emplace(stack, 0);
  if (!is_new) return at->second;
  uint64_t innermost = 0;
  StackNode node;
  for (int depth = 0; stack > 1 && depth < kMostFrames && process_.stacks.Find(stack, &node);
       ++depth) {
    stack = node.parent;
    if (!IsNamedFrame(node.pc)) continue;
    const auto [known, is_unknown] = is_program_.try_emplace(node.pc, false);
    if (is_unknown) {
      const CodeFrame frame = ReadFrameName(process_.String(NameOfFrame(node.pc)));
      known->second = frame.is_program;
    }
    if (innermost == 0) innermost = node.pc;
    if (known->second) return at->second = node.pc;
  }
  return at->second = innermost;
}

}  // namespace gpuprof::analysis
