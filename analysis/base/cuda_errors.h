// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the numbers mean that calls of CUDA return: the runtime's cudaError_t, with which the
// driver's CUresult agrees where both have a number. Pure.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

// "out of memory (2)"; of numbers that are not known "error 1234".
std::string CudaErrorWords(int32_t error);

}  // namespace gpuprof::analysis
