// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether the program has begun with CUDA. Any thread.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::inject {

// 1: the driver has called us inside the program's first cuInit.
extern std::atomic<uint32_t> g_cuda_started;

}  // namespace gpuprof::inject
