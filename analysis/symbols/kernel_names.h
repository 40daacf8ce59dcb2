// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of GPU kernels as a person reads them: what, type, layout, shape. "gemm bf16 tn
// 128x128x64", "mul bf16 strided". JSON and CSV hold the full name too. The rules are tables in
// kernel_rules.cc. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns the short form of a demangled name, at most kMostShortColumns wide. A kernel that no rule
// knows keeps its function and its first template arguments: "permute_2D_lengths_kernel<i32>".
// Names of one identifier that no rule knows stay as they are. The work is linear in the name's
// length.
inline constexpr size_t kMostShortColumns = 60;
std::string ShortKernelName(std::string_view name);

// Returns a kernel's name without the numbers that compilers give anew each time. In names of
// TorchInductor and XLA this is the last number. In names of C++ these are arguments like "5ul",
// the sizes for which code was generated. The shapes of tiles stay.
std::string NumberlessKernelName(std::string_view name);

}  // namespace gpuprof::analysis
