// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Asks PyTorch to which process groups of torch.distributed the process belongs: their names, and
// the ranks of each. The trace needs them to tell collectives of several groups apart. PyTorch
// keeps them in a dict of Python, and lets them go when the program destroys them.
//
// Python is entered only after the process has called a collective in this capture, now and then,
// at the capture's end, and at Python's exit.

#pragma once

#include <cstdint>

#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer {

// Returns whether a collective was called in this capture. Control thread.
bool CollectivesAreUsed();

// A capture begins, or has ended: looks again soon. Control thread.
void GroupsBeginCapture();
void GroupsEndCapture();
// Returns whether a look is due. Any thread.
bool GroupsAreDue();
// Has a look, without the interpreter's lock. Python may end the thread inside of it, or hold it.
// The agent's thread.
void LookForGroups(const Python& python);

// Returns the note of a group that was found: "ranks 0-3 of group 1, tp". Null: there are not so
// many. Notes stay: the program may have destroyed the group. Any thread.
const char* GroupNote(uint32_t index);

// In a forked child: the groups are the parent's.
void GroupsAfterForkChild();

}  // namespace gpuprof::tracer
