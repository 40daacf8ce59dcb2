// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the program's CUDA driver tells without being initialised by the question.
//
// A thread that may call CUDA, outside the program's cuInit. Takes the loader's lock.

#pragma once

#include <cstdint>

namespace gpuprof::tracer::cupti {

// Whether the program's cuInit has succeeded.
bool DriverIsInitialized();

// The CUDA version that the driver is of, major * 1000 + minor * 10; 0: there is no driver.
uint32_t DriverVersion();

}  // namespace gpuprof::tracer::cupti
