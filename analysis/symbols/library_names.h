// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Short names of kernels whose whole name is one identifier with a grammar of its own: cuBLAS,
// cuDNN, CUTLASS, Tensile, TensorRT-LLM, NCCL. Part of kernel_names.cc. Pure; any thread.

#pragma once

#include <string>
#include <string_view>

namespace gpuprof::analysis {

// Returns a short name such as "gemm bf16 tn 128x128x64"; "" if no rule knows the identifier.
std::string ShortLibraryName(std::string_view ident);

}  // namespace gpuprof::analysis
