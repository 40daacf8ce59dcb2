// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/opcodes.h"

#include <algorithm>
#include <iterator>

namespace gpuprof::analysis::hlo {
namespace {

// Sorted.
constexpr std::string_view kTranscendental[] = {
    "acos", "acosh",        "asin",     "asinh", "atan2",       "atanh",
    "cbrt", "cosh",         "cosine",   "erf",   "exponential", "exponential-minus-one",
    "log",  "log-plus-one", "logistic", "power", "rsqrt",       "sine",
    "sinh", "sqrt",         "tan",      "tanh"};
constexpr std::string_view kOthers[] = {"abs",
                                        "add",
                                        "and",
                                        "bitcast-convert",
                                        "ceil",
                                        "clamp",
                                        "compare",
                                        "complex",
                                        "convert",
                                        "copy",
                                        "count-leading-zeros",
                                        "divide",
                                        "floor",
                                        "imag",
                                        "is-finite",
                                        "maximum",
                                        "minimum",
                                        "multiply",
                                        "negate",
                                        "not",
                                        "or",
                                        "popcnt",
                                        "real",
                                        "reduce-precision",
                                        "remainder",
                                        "round-nearest-afz",
                                        "round-nearest-even",
                                        "select",
                                        "shift-left",
                                        "shift-right-arithmetic",
                                        "shift-right-logical",
                                        "sign",
                                        "stochastic-convert",
                                        "subtract",
                                        "xor"};

}  // namespace

bool IsTranscendental(std::string_view opcode) {
  return std::binary_search(std::begin(kTranscendental), std::end(kTranscendental), opcode);
}

bool IsElementwise(std::string_view opcode) {
  return IsTranscendental(opcode) ||
         std::binary_search(std::begin(kOthers), std::end(kOthers), opcode);
}

bool IsElementwise(const Program& program, const Instruction& instruction) {
  if (instruction.opcode == "bitcast-convert" && !instruction.operands.empty()) {
    // Narrower elements are several for one.
    const Instruction* operand = program.Find(instruction.operands[0]);
    if (operand != nullptr && BitsOf(operand->shape.type) != BitsOf(instruction.shape.type))
      return false;
  }
  return instruction.opcode == "map" || IsElementwise(instruction.opcode);
}

bool IsHalf(std::string_view opcode) {
  return opcode.ends_with("-start") || opcode.ends_with("-done") || opcode == "async-update" ||
         opcode == "send" || opcode == "recv";
}

}  // namespace gpuprof::analysis::hlo
