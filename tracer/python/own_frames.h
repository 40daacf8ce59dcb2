// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Frames of Python in the stacks that hooks take: a frame of the interpreter's loop gives way to
// the functions of Python that the loop runs.
//
// MergePython runs in hooks, on the thread whose stack it is: that thread's frames rest meanwhile,
// and are read as they are. It takes no lock, calls no function that needs the interpreter's lock,
// and allocates nothing. The other functions are for the control thread, or around fork.

#pragma once

#include <cstdint>

#include "tracer/python/interpreter.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Begins to merge. False: the interpreter does not export what is needed.
bool OwnFramesBegin(const Host* host, const Interpreter& interpreter);

// Replaces frames in `pcs`, innermost first, of `count`, with room for `most`. Returns how many
// there are then.
uint32_t MergePython(uint64_t* pcs, uint32_t count, uint32_t most) noexcept;

}  // namespace gpuprof::tracer
