// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See stack_frames.h.

#include "analysis/passes/host/stack_frames.h"

#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {

std::vector<const results::Frame*> FramesOf(const results::CallStacks& stacks, uint32_t number) {
  std::vector<const results::Frame*> frames;
  const auto known = static_cast<uint32_t>(std::min(stacks.frame_size(), stacks.caller_size()));
  for (int i = 0; number != 0 && number < known && i < kMostFrames; ++i) {
    const auto at = static_cast<int>(number);
    const auto frame = static_cast<int>(stacks.frame(at));
    if (frame < 0 || frame >= stacks.frames_size()) break;
    frames.push_back(&stacks.frames(frame));
    number = stacks.caller(at);
  }
  return frames;
}

}  // namespace gpuprof::analysis
