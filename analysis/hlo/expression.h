// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Instructions as XLA prints them. Pure, any thread.

#pragma once

#include <string>

#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {

// Returns "%dot.3 = f32[8,4]{1,0} dot(f32[8,16]{1,0} %x, f32[16,4]{1,0} %y), ...", with the shapes
// of operands, and without metadata and settings of a backend. Attributes of rare operations are
// left out. At most a million bytes.
std::string ExpressionOf(const Program& program, const Instruction& instruction);

}  // namespace gpuprof::analysis::hlo
