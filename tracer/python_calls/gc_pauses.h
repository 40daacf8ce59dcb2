// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Pauses of CPython's garbage collector: a function of ours, in C, among gc.callbacks.
//
// Functions need CPython's global interpreter lock.

#pragma once

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer {

// Null: it is done; else why it is not. Static storage.
const char* GcPausesBegin(const Python& python);
void GcPausesEnd(const Python& python);

}  // namespace gpuprof::tracer
