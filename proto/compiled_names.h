// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of the rows of op_value that tell what torch.compile made. They stand on a track of their
// own, where no op is. A row of kCompiledKernel begins a kernel; the rows behind it are of this
// kernel. A row of kCompiledSource begins a place in the program from which the kernel was made.

#pragma once

#include <string_view>

namespace gpuprof::proto {

// text = the kernel's name, value = the line in the generated file where it is defined.
inline constexpr std::string_view kCompiledKernel = "torch.compile.kernel";
// text = the generated file.
inline constexpr std::string_view kCompiledFile = "torch.compile.file";
// text = what was fused, as the compiler lists it: "aten.gelu, aten._softmax".
inline constexpr std::string_view kCompiledOperations = "torch.compile.operations";
// text = the program's names of the values that it computes: "h, softmax".
inline constexpr std::string_view kCompiledValues = "torch.compile.values";
// text = a file of the program, value = a line in it.
inline constexpr std::string_view kCompiledSource = "torch.compile.source";
// text = the function that the line is in, and the line itself.
inline constexpr std::string_view kCompiledFunction = "torch.compile.function";
inline constexpr std::string_view kCompiledCode = "torch.compile.code";

}  // namespace gpuprof::proto
