// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The line of an instruction, from the table that a code object of CPython carries. The forms are
// described in CPython's Objects/lnotab_notes.txt and Objects/locations.md. Trusts no byte.

#pragma once

#include <cstdint>

#include "tracer/python/layout.h"

namespace gpuprof::tracer {

// Returns the line of the instruction at byte `offset` of the code. 0: it has no line.
int32_t LineAt(LineFormat format, const uint8_t* table, uint32_t bytes, int32_t first_line,
               uint32_t offset);

}  // namespace gpuprof::tracer
