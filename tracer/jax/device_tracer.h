// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A session of JAX's profiler takes CUPTI, and its options have no name for that. The number that
// says so lies in the options' memory between two numbers that do have names.

#pragma once

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer::jax {

// Sets the number to 0 in options that are new. It leaves the two others with senseless values: set
// them next. False: the number was not found. With CPython's global interpreter lock.
bool DeviceTracerOff(const Python& python, PyObject* options);

}  // namespace gpuprof::tracer::jax
