// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What an event of the timeline is for: the colour of its rectangle. Kernels have the class of
// their family (symbols/kernel_family.h), so pages and passes agree. Pure; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/results/kernel_families.pb.h"

namespace gpuprof::analysis::timeline {

// The order decides ties: of two classes with equal time the first one counts.
enum class SpanClass : uint8_t {
  kGemm,
  kAttention,
  kElementwise,
  kCopyCast,
  kReduction,
  kCollective,
  kMemcpy,
  kMemset,
  kOther,
  kOp,
  kApi,
  kPython,
  kRange,
  kWait,
  kSync,
  kInput,
  kFile,
};
inline constexpr size_t kSpanClasses = 17;

// Returns the word of a class: "gemm". Answers list these words in the order of the numbers.
std::string_view ClassWord(SpanClass cls);

SpanClass ClassOfFamily(results::KernelFamily family);

}  // namespace gpuprof::analysis::timeline
