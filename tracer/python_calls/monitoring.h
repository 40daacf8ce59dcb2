// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of Python functions from CPython 3.12 on: sys.monitoring calls functions of ours, in C, in
// all threads. A function that is not recorded turns its events off at their first time.
//
// Functions need CPython's global interpreter lock.

#pragma once

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer {

// Takes an id of sys.monitoring. Null: it is done; else why it is not. Static storage.
const char* MonitoringBegin(const Python& python);
// Gives it back.
void MonitoringEnd(const Python& python);

}  // namespace gpuprof::tracer
