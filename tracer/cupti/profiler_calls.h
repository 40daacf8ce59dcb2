// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Has CUPTI call back at cuProfilerStart and cuProfilerStop (--capture=cuda-profiler), and at no
// other function. Hooks do not see these calls where the program's runtime is linked statically:
// it has the driver's functions from the driver.
//
// EnableProfilerCalls: the thread that calls CUPTI. OnProfilerCall: the program's threads, inside a
// CUDA call. It may wait there until a capture has begun, or is closed.

#pragma once

#include <cstdint>

#include "tracer/cupti/api_functions.h"
#include "tracer/cupti/subscriber.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

// False: the library does not know these functions, or refuses.
bool EnableProfilerCalls(const FunctionNames& names, Subscriber* subscriber);

// `id`: of a function of the driver; `data`: CUPTI's CUpti_CallbackData. False: it is another
// function.
bool OnProfilerCall(const Host& host, uint32_t id, const void* data);

}  // namespace gpuprof::tracer::cupti
