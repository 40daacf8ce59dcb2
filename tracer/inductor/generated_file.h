// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads a Python file that PyTorch's compiler (Inductor) generated: the kernels that it defines,
// what was fused into them, and from which lines of the program they came.
//
// A kernel is defined at the begin of a line, by a call of async_compile, with its source in triple
// quotes. Comments before it name the operations. Later lines call the kernel by its name. Which
// line of the program a call came from is not in the file: the compiler keeps it in the process
// (line_maps.h).
//
// Everything is text that others may have written: what does not look as expected says nothing. Any
// thread. Results point into the texts that were given.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpuprof::tracer::inductor {

using Text = std::string_view;

// From this line of the generated file on, lines came from the innermost call of this stack.
struct LineOrigin {
  uint32_t line = 0;  // from 1
  Text stack;         // frames as Python prints them, outermost first; empty: from no place
};

// A place in the program.
struct SourceLine {
  Text file, function, code;
  uint32_t line = 0;
};

struct GeneratedKernel {
  Text name;          // as the GPU knows it
  uint32_t line = 0;  // where it is defined
  Text operations;    // "aten.gelu, aten._softmax"; empty: not told
  Text values;        // "h, softmax"; likewise
  std::vector<SourceLine> sources;
};

// The innermost frame that is not in the package torch itself; without one, the innermost.
SourceLine SourceOf(Text stack);

// `origins`: in the order of their lines.
std::vector<GeneratedKernel> ReadGeneratedFile(Text file, const std::vector<LineOrigin>& origins);

}  // namespace gpuprof::tracer::inductor
