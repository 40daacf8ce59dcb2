// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_class.h.

#include "analysis/derived/kernel_class.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "analysis/symbols/kernel_names.h"
#include "analysis/symbols/module_symbols.h"
#include "analysis/symbols/tensor_cores.h"

namespace gpuprof::analysis {
namespace {

using results::TimeCategory;

struct TypeCategory {
  std::string_view word;
  TimeCategory category;
};

// Words of tensor_cores.h and of short names.
constexpr TypeCategory kTypes[] = {
    {"fp64", results::TIME_CATEGORY_COMPUTE_FP64},  {"f64", results::TIME_CATEGORY_COMPUTE_FP64},
    {"c128", results::TIME_CATEGORY_COMPUTE_FP64},  {"fp32", results::TIME_CATEGORY_COMPUTE_FP32},
    {"f32", results::TIME_CATEGORY_COMPUTE_FP32},   {"c64", results::TIME_CATEGORY_COMPUTE_FP32},
    {"tf32", results::TIME_CATEGORY_COMPUTE_TF32},  {"bf16", results::TIME_CATEGORY_COMPUTE_BF16},
    {"fp16", results::TIME_CATEGORY_COMPUTE_FP16},  {"f16", results::TIME_CATEGORY_COMPUTE_FP16},
    {"fp8", results::TIME_CATEGORY_COMPUTE_FP8},    {"f8e4m3", results::TIME_CATEGORY_COMPUTE_FP8},
    {"f8e5m2", results::TIME_CATEGORY_COMPUTE_FP8}, {"e4m3", results::TIME_CATEGORY_COMPUTE_FP8},
    {"e5m2", results::TIME_CATEGORY_COMPUTE_FP8},   {"f8", results::TIME_CATEGORY_COMPUTE_FP8},
    {"int8", results::TIME_CATEGORY_COMPUTE_INT8},  {"i8", results::TIME_CATEGORY_COMPUTE_INT8},
    {"u8", results::TIME_CATEGORY_COMPUTE_INT8},    {"fp4", results::TIME_CATEGORY_COMPUTE_FP4},
    {"f4", results::TIME_CATEGORY_COMPUTE_FP4}};

TimeCategory CategoryOfType(std::string_view word) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [word](const TypeCategory& type) { return type.word == word; });
  return found == std::end(kTypes) ? results::TIME_CATEGORY_NONE : found->category;
}

// Returns the category of the first type among the words of a short name.
TimeCategory CategoryOfWords(std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find_first_of(" <>,"), words.size());
    const TimeCategory category = CategoryOfType(words.substr(0, end));
    if (category != results::TIME_CATEGORY_NONE) return category;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return results::TIME_CATEGORY_COMPUTE_UNKNOWN;
}

}  // namespace

bool IsCollective(std::string_view name) {
  // Without underscores, so that all_reduce and AllReduce are one word.
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  constexpr std::string_view kWords[] = {
      "nccl",     "rccl",          "allreduce",         "allgather",
      "alltoall", "reducescatter", "crossdevicereduce", "sendrecv"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return letters.find(word) != std::string::npos;
  });
}

TimeCategory KernelCategory(std::string_view name, uint32_t compute_major, uint32_t matrix_ops) {
  if (IsCollective(name)) return results::TIME_CATEGORY_COLLECTIVE;
  const TensorCoreVerdict verdict = TensorCoresOf(name, compute_major, matrix_ops);
  const TimeCategory category = CategoryOfType(verdict.input);
  return category != results::TIME_CATEGORY_NONE ? category
                                                 : CategoryOfWords(ShortKernelName(name));
}

TimeCategory KernelClasses::Of(uint32_t signature, uint32_t device) {
  const auto [at, is_new] =
      known_.try_emplace(uint64_t{device} << 32 | signature, results::TIME_CATEGORY_NONE);
  if (!is_new) return at->second;
  const auto found = process_->signatures.find(signature);
  if (found == process_->signatures.end()) {
    at->second = results::TIME_CATEGORY_COMPUTE_UNKNOWN;
  } else {
    const proto::Device* described = process_->FindDevice(device);
    const std::string name = Demangle(process_->String(found->second.name()).c_str());
    at->second = KernelCategory(name, described == nullptr ? 0 : described->compute_major(),
                                found->second.matrix_ops());
  }
  return at->second;
}

}  // namespace gpuprof::analysis
