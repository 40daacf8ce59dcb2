// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See precision.h.

#include "analysis/derived/precision.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "analysis/symbols/kernel_names.h"
#include "analysis/symbols/tensor_cores.h"
#include "proto/matrix_ops.h"

namespace gpuprof::analysis {
namespace {

struct TypeWord {
  std::string_view word;
  results::Precision precision;
};

// Words of tensor_cores.h, of short names, of HLO and of PyTorch.
constexpr TypeWord kTypes[] = {
    {"fp64", results::PRECISION_FP64},
    {"f64", results::PRECISION_FP64},
    {"c128", results::PRECISION_FP64},
    {"double", results::PRECISION_FP64},
    {"c10::complex<double>", results::PRECISION_FP64},
    {"fp32", results::PRECISION_FP32},
    {"f32", results::PRECISION_FP32},
    {"c64", results::PRECISION_FP32},
    {"float", results::PRECISION_FP32},
    {"c10::complex<float>", results::PRECISION_FP32},
    {"tf32", results::PRECISION_TF32},
    {"bf16", results::PRECISION_BF16},
    {"c10::BFloat16", results::PRECISION_BF16},
    {"fp16", results::PRECISION_FP16},
    {"f16", results::PRECISION_FP16},
    {"c10::Half", results::PRECISION_FP16},
    {"fp8", results::PRECISION_FP8},
    {"f8", results::PRECISION_FP8},
    {"f8e4m3", results::PRECISION_FP8},
    {"f8e4m3fn", results::PRECISION_FP8},
    {"f8e4m3fnuz", results::PRECISION_FP8},
    {"f8e5m2", results::PRECISION_FP8},
    {"f8e5m2fnuz", results::PRECISION_FP8},
    {"e4m3", results::PRECISION_FP8},
    {"e5m2", results::PRECISION_FP8},
    {"c10::Float8_e4m3fn", results::PRECISION_FP8},
    {"c10::Float8_e4m3fnuz", results::PRECISION_FP8},
    {"c10::Float8_e5m2", results::PRECISION_FP8},
    {"c10::Float8_e5m2fnuz", results::PRECISION_FP8},
    {"int8", results::PRECISION_INT8},
    {"i8", results::PRECISION_INT8},
    {"u8", results::PRECISION_INT8},
    {"fp4", results::PRECISION_FP4},
    {"f4", results::PRECISION_FP4},
    {"f4e2m1fn", results::PRECISION_FP4},
};

bool IsFloat(results::Precision precision) {
  return precision != results::PRECISION_UNKNOWN && precision != results::PRECISION_INT8;
}

bool IsHalf(results::Precision precision) {
  return precision == results::PRECISION_FP16 || precision == results::PRECISION_BF16;
}

// Returns the type that a kernel computes with whose operation reads `inputs`, if neither code nor
// name tells. PRECISION_UNKNOWN: the inputs are not floating-point numbers.
results::Precision PrecisionByInputs(bool on_tensor_cores, results::Precision inputs) {
  if (!IsFloat(inputs)) return results::PRECISION_UNKNOWN;
  // Tensor cores have no instruction for fp32.
  return on_tensor_cores && inputs == results::PRECISION_FP32 ? results::PRECISION_TF32 : inputs;
}

// Returns the first type among the words of a short name.
results::Precision PrecisionOfWords(std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find_first_of(" <>,"), words.size());
    const results::Precision precision = PrecisionOfType(words.substr(0, end));
    if (precision != results::PRECISION_UNKNOWN) return precision;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return results::PRECISION_UNKNOWN;
}

}  // namespace

results::Precision PrecisionOfType(std::string_view type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeWord& each) { return each.word == type; });
  return found == std::end(kTypes) ? results::PRECISION_UNKNOWN : found->precision;
}

PrecisionFound PrecisionOf(std::string_view name, uint32_t compute_major, uint32_t matrix_ops,
                           const InputPrecision& inputs) {
  const TensorCoreVerdict verdict = TensorCoresOf(name, compute_major, matrix_ops);
  const bool has_code = (matrix_ops & ~proto::kCodeLookedAt) != 0;
  if (const auto told = PrecisionOfType(verdict.input); told != results::PRECISION_UNKNOWN) {
    const bool is_of_code =
        has_code && TensorCoresOf("", compute_major, matrix_ops).input == verdict.input;
    return {told, is_of_code ? results::EVIDENCE_SASS : results::EVIDENCE_NAME};
  }
  PrecisionFound found;
  found.precision = PrecisionOfWords(ShortKernelName(name));
  if (found.precision != results::PRECISION_UNKNOWN) found.evidence = results::EVIDENCE_NAME;
  found.may_be_other_half = found.precision == results::PRECISION_FP16 && NamesBothHalfTypes(name);
  return WithInputs(found, verdict.use == TensorCores::kUsed, inputs);
}

PrecisionFound WithInputs(const PrecisionFound& told, bool on_tensor_cores,
                          const InputPrecision& inputs) {
  if (!told.is_open()) return told;
  const results::Precision read =
      told.may_be_other_half ? inputs.half : PrecisionByInputs(on_tensor_cores, inputs.all);
  if (read == results::PRECISION_UNKNOWN) return told;
  return {read, results::EVIDENCE_OPERATION};
}

InputPrecision PrecisionOfInputs(const RowDetail& detail) {
  std::set<results::Precision> all, halves;
  for (const OpInput& input : detail.inputs) {
    const results::Precision own = PrecisionOfType(input.type);
    if (!input.is_tensor || own == results::PRECISION_UNKNOWN) continue;
    all.insert(own);
    if (IsHalf(own)) halves.insert(own);
  }
  const auto only = [](const std::set<results::Precision>& types) {
    return types.size() == 1 ? *types.begin() : results::PRECISION_UNKNOWN;
  };
  InputPrecision found = {only(all), only(halves)};
  if (!all.empty()) return found;
  found.all = PrecisionOfType(detail.hlo_type);
  if (IsHalf(found.all)) found.half = found.all;
  return found;
}

results::TimeCategory CategoryOf(results::Precision precision) {
  switch (precision) {
    case results::PRECISION_FP64:
      return results::TIME_CATEGORY_COMPUTE_FP64;
    case results::PRECISION_FP32:
      return results::TIME_CATEGORY_COMPUTE_FP32;
    case results::PRECISION_TF32:
      return results::TIME_CATEGORY_COMPUTE_TF32;
    case results::PRECISION_BF16:
      return results::TIME_CATEGORY_COMPUTE_BF16;
    case results::PRECISION_FP16:
      return results::TIME_CATEGORY_COMPUTE_FP16;
    case results::PRECISION_FP8:
      return results::TIME_CATEGORY_COMPUTE_FP8;
    case results::PRECISION_INT8:
      return results::TIME_CATEGORY_COMPUTE_INT8;
    case results::PRECISION_FP4:
      return results::TIME_CATEGORY_COMPUTE_FP4;
    default:
      return results::TIME_CATEGORY_COMPUTE_UNKNOWN;
  }
}

}  // namespace gpuprof::analysis
