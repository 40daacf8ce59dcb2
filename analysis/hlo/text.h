// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs in words: shapes as XLA prints them, and where an instruction stands in the program's
// sources. Pure functions, any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

// Returns a shape with its layout: "f32[8,128]{1,0:T(8,128)}", "(f32[2]{0}, s32[])". A text of more
// than `most` bytes ends soon after them.
std::string TextOf(const Shape& shape, size_t most = std::string::npos);

struct SourceLine {
  std::string_view file;  // empty: not known
  int32_t line = 0, column = 0;
  std::string_view function;
};

// Returns the frames of an instruction's stack, the innermost first. A stack that comes back to a
// frame ends there.
std::vector<SourceLine> StackOf(const Program& program, const Instruction& instruction);

// How a name that a user gave fits a program, from the weakest to the strongest.
enum class NameMatch : uint8_t { kNone, kBareName, kNumber, kTitle };
// Compares with a program: `title` is its name with its number, "jit_f(4)". Its bare name is the
// part before the number. XLA prints large numbers as negative ones, too.
NameMatch MatchOf(std::string_view title, uint64_t number, std::string_view wanted);

// Returns the line that the instruction itself names, else that of its innermost frame.
SourceLine SourceOf(const Program& program, const Instruction& instruction);

}  // namespace gpuprof::analysis::hlo
