// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a call of CUDA is for, by its name. Pure; any thread.

#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::analysis {

enum class CallKind : uint8_t {
  kLaunch,
  kCopy,
  kWait,
  kMemory,
  kCode,  // loads code, or asks about it
  kOther,
};

// Returns the name without the variant for per-thread streams and without its version:
// "cudaStreamSynchronize" of "cudaStreamSynchronize_ptsz", "cuMemAlloc" of "cuMemAlloc_v2".
std::string_view PlainCallName(std::string_view name);

CallKind CallKindOf(std::string_view name);

// Returns the word of a kind: "launch".
std::string_view CallKindWord(CallKind kind);

}  // namespace gpuprof::analysis
