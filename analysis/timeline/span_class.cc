// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_class.h.

#include "analysis/timeline/span_class.h"

namespace gpuprof::analysis::timeline {

std::string_view ClassWord(SpanClass cls) {
  static constexpr std::string_view kWords[kSpanClasses] = {
      "gemm",   "attention", "elementwise", "copy_cast", "reduction", "collective",
      "memcpy", "memset",    "other",       "op",        "api",       "python",
      "range",  "wait",      "sync",        "input",     "file"};
  const auto number = static_cast<size_t>(cls);
  return number < kSpanClasses ? kWords[number] : "other";
}

SpanClass ClassOfFamily(results::KernelFamily family) {
  switch (family) {
    case results::KERNEL_FAMILY_MATRIX:
    case results::KERNEL_FAMILY_CONVOLUTION:
      return SpanClass::kGemm;
    case results::KERNEL_FAMILY_ATTENTION:
      return SpanClass::kAttention;
    case results::KERNEL_FAMILY_NORMALISATION:
    case results::KERNEL_FAMILY_SOFTMAX:
    case results::KERNEL_FAMILY_REDUCTION:
      return SpanClass::kReduction;
    case results::KERNEL_FAMILY_ELEMENTWISE:
    case results::KERNEL_FAMILY_OPTIMIZER:
    case results::KERNEL_FAMILY_RANDOM:
      return SpanClass::kElementwise;
    case results::KERNEL_FAMILY_COPY:
    case results::KERNEL_FAMILY_EMBEDDING:
    case results::KERNEL_FAMILY_ROUTING:
    case results::KERNEL_FAMILY_INDEX:
      return SpanClass::kCopyCast;
    case results::KERNEL_FAMILY_COLLECTIVE:
      return SpanClass::kCollective;
    default:
      return SpanClass::kOther;
  }
}

}  // namespace gpuprof::analysis::timeline
