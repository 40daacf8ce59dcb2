// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The programs of XLA that a trace carries, for the passes about them. One thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/hlo/text.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

using HloModules = std::vector<std::shared_ptr<const HloModule>>;

// Returns the programs of all selected processes, each once. Several processes of a job have the
// same one.
HloModules ProgramsOf(PassContext& context);

// Returns the name of a program as results show it: "jit_f(4)".
std::string TitleOf(const HloModule& module);

// Finds the program that the user named: by its name with or without the number, or by the number.
// `wanted` is not empty. An error names the programs that there are.
Error ChooseProgram(const HloModules& modules, std::string_view wanted, const HloModule** chosen);

// Returns a text of a program as results show it: as UTF-8, and not longer than a few lines. Many
// rows may have the same text.
std::string ShownText(std::string_view text);
// Returns a shape likewise.
std::string ShownShape(const hlo::Shape& shape);

// Returns "train.py:92", or "" if the line is not known.
std::string TextOf(const hlo::SourceLine& line);
// Returns the lines of a stack, the innermost first: "train.py:92 < train.py:134".
std::string StackText(const hlo::Program& program, const hlo::Instruction& instruction);

}  // namespace gpuprof::analysis
