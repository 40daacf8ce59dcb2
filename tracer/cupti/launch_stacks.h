// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The host's side of a launch (`--trace launches`): CUPTI calls back where a function that begins
// work on the GPU is entered, and the stack of its caller is recorded with the correlation id. Each
// costs two callbacks of CUPTI's and a walk of the stack, so it is not done unasked.
//
// OnLaunch: the program's threads, inside a CUDA call.

#pragma once

#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

// Whether the function of that name, as CUPTI gives it, launches kernels or graphs.
bool IsLaunch(const char* name);

// `data`: CUPTI's CUpti_CallbackData. The driver's call inside a runtime's is the same launch.
// `frame`: of the function that CUPTI called.
void OnLaunch(const Host& host, uint32_t domain, uint32_t id, const void* data, const void* frame);

}  // namespace gpuprof::tracer::cupti
