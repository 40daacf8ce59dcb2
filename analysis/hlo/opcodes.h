// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kinds of XLA's operations, by their names. Pure, any thread.

#pragma once

#include <string_view>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

// Returns whether an operation has a result for each element of its operands.
bool IsElementwise(std::string_view opcode);
// Returns whether each element of the result needs the same element of each operand alone.
bool IsElementwise(const Program& program, const Instruction& instruction);
// Returns whether an operation element by element is a transcendental one.
bool IsTranscendental(std::string_view opcode);
// Returns whether an operation begins or awaits another that runs at the same time.
bool IsHalf(std::string_view opcode);

}  // namespace gpuprof::analysis::hlo
