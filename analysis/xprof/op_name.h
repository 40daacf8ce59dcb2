// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the name of an event tells: an operation of a framework, a stage of tf.data, a copy.
// Pure functions, any thread. Results refer to the text that was given.

#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::analysis::xprof {

enum class OpCategory : uint8_t {
  kUnknown,
  kTensorFlow,
  kJax,
  kTfData,
  kMemcpyHToD,
  kMemcpyDToH,
  kMemcpyDToD,
  kMemcpyHToH,
  kInputPipeline,  // an event that names its stage itself
};

struct OpName {
  OpCategory category = OpCategory::kUnknown;
  std::string_view name, type;  // type: empty if it is not known
};

// Reads "name:Type" and the other forms.
OpName ParseOpName(std::string_view text);

// Tells whether these are the name and the type of an operation of TensorFlow, or of JAX.
bool IsTensorFlowOpName(std::string_view name);
bool IsTensorFlowOpType(std::string_view type);
bool IsJaxOp(std::string_view name, std::string_view type);
// Returns whether the operation computes gradients, by its name. The program then trains.
bool IsOfGradient(std::string_view name, std::string_view type);

inline bool IsInfeedEnqueue(std::string_view type) { return type.starts_with("InfeedEnqueue"); }

// Returns whether a text begins with another, whatever the case of letters.
bool StartsWithIgnoringCase(std::string_view text, std::string_view begin);

}  // namespace gpuprof::analysis::xprof
