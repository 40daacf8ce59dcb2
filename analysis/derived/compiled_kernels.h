// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Kernels that torch.compile made in a process: their operations, and the lines of the program that
// they came from. Live recordings have this as values (proto/compiled_names.h), and traces of
// torch.profiler name the generated file at the operation that launches a kernel. The texts are the
// program's own, and may say anything.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct ProgramLine {
  std::string file, function, code;
  uint32_t line = 0;
  auto operator<=>(const ProgramLine&) const = default;
};

struct CompiledKernel {
  std::string name;
  std::string file;   // that the compiler generated
  uint32_t line = 0;  // where it defines the kernel; 0: not known
  std::vector<std::string> operations, values;
  std::vector<ProgramLine> sources;
};

// Returns the kernels in the order of their rows, each of them once. One thread.
std::vector<CompiledKernel> CompiledKernelsOf(const Process& process);

// Returns the words for a line: "model.py:14 in forward".
std::string SourceText(const ProgramLine& source);

}  // namespace gpuprof::analysis
