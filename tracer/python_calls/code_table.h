// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is known of a code object: whether its calls are recorded, and the name of its frames. Each
// is looked at once. An address comes to hold another code object: a few of its words are compared
// each time.
//
// Functions need CPython's global interpreter lock, on any thread, and a code object that lives.
// Only to decide about a new one takes Python's own functions. Nothing waits.

#pragma once

#include <cstdint>

#include "proto/name_table.h"
#include "tracer/python/layout.h"

namespace gpuprof::tracer {

struct Python;

// Makes the table. `globs`: as in IsTraced. The interpreter must have PyEval_GetGlobals. False:
// there is no memory.
bool CodeTableInit(const Python& python, const PythonLayout& layout, const char* globs);

// Returns the text of a code object's frame; null: its calls are not recorded. A code object that
// is not known yet must be that of the running frame.
proto::NameTable::Text* TextOfCode(const void* code);

}  // namespace gpuprof::tracer
