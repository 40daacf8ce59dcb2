// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the table of call stacks that a result carries. For rendering, passes and advice; any
// thread.

#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::results {
class CallStacks;
class Frame;
}  // namespace gpuprof::results

namespace gpuprof::analysis {

// A longer chain of callers is a damaged table.
inline constexpr int kMostFrames = 256;

// Returns the frames of a stack, innermost first; empty for stack 0 and for a number that is not in
// the table. The frames belong to the table.
std::vector<const results::Frame*> FramesOf(const results::CallStacks& stacks, uint32_t number);

}  // namespace gpuprof::analysis
