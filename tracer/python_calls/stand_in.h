// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A callable in the place of a builtin function of Python. Python reports calls of builtin
// functions to profile functions, and no calls of this one. To the program it looks and behaves as
// the function does: it has its attributes, is equal to it, and does not become a method in a
// class.
//
// Functions need CPython's global interpreter lock. Before CPython 3.12.

#pragma once

#include <cstdint>

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer {

// Returns a new one; null: it cannot be made, and the error is cleared. `called`: what is called
// after each call that did not raise, with the time before the call in ticks.
PyObject* NewStandIn(const Python& python, PyObject* real, void (*called)(uint64_t since));
// Returns the function in whose place it is, without a reference.
PyObject* RealOfStandIn(PyObject* stand_in);

}  // namespace gpuprof::tracer
