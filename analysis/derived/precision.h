// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The type of numbers that a kernel computes with, and what tells it. The evidence, from the
// strongest:
//   SASS       the instructions in its code, where they take one type only
//   NAME       its name, also where the instructions take several types
//   OPERATION  the types of the inputs of the operation that launched it
// The inputs come last, because a kernel may compute with another type than it reads: with TF32 for
// inputs of fp32. It may sum bf16 in fp32. Matrix instructions for 16 bits on inputs of fp32 mean
// TF32. The names of cuDNN's attention do not tell bf16 from fp16: there the inputs come before the
// name.
//
// Pure functions, any thread.

#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/derived/row_details.h"
#include "proto/kinds/device_time.pb.h"
#include "proto/kinds/kernels.pb.h"

namespace gpuprof::analysis {

struct PrecisionFound {
  results::Precision precision = results::PRECISION_UNKNOWN;
  results::Evidence evidence = results::EVIDENCE_NONE;
  // The name says the same of both types of 16 bits.
  bool may_be_other_half = false;
  bool operator==(const PrecisionFound&) const = default;

  // Returns whether the inputs may tell more.
  bool is_open() const { return precision == results::PRECISION_UNKNOWN || may_be_other_half; }
};

// The types of the floating-point numbers that an operation reads. PRECISION_UNKNOWN: it reads
// none, or several types.
struct InputPrecision {
  results::Precision all = results::PRECISION_UNKNOWN;
  // Among those of 16 bits. The gradient of attention also reads sums of fp32.
  results::Precision half = results::PRECISION_UNKNOWN;
  bool operator==(const InputPrecision&) const = default;
};

// Finds the type of a kernel's numbers. `name` is demangled. `matrix_ops` as in proto::Signature.
PrecisionFound PrecisionOf(std::string_view name, uint32_t compute_major, uint32_t matrix_ops,
                           const InputPrecision& inputs = {});

// Adds the evidence of the inputs to what was found without them.
PrecisionFound WithInputs(const PrecisionFound& told, bool on_tensor_cores,
                          const InputPrecision& inputs);

InputPrecision PrecisionOfInputs(const RowDetail& detail);

// Returns the category of kernels that compute with these numbers and are not collectives.
results::TimeCategory CategoryOf(results::Precision precision);

// Returns the word of a type in the shapes of HLO, or in PyTorch's names: "bf16", "c10::Half".
// PRECISION_UNKNOWN: not a type of numbers with a precision.
results::Precision PrecisionOfType(std::string_view type);

}  // namespace gpuprof::analysis
