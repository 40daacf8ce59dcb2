// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls of Python functions before CPython 3.12: a profile function, in C, for each thread. A
// thread that has one of the program's own keeps it.
//
// Functions need CPython's global interpreter lock, unless they say otherwise.

#pragma once

#include <cstdint>

#include "tracer/python/interpreter.h"
#include "tracer/python_agent/python_api.h"

namespace gpuprof::tracer {

// Finds what is needed and gives all threads but the calling one the function. Null: it is done;
// else why it is not. Static storage.
const char* ProfileBegin(const Python& python, const Interpreter& interpreter);
// Gives it to threads that have come since, unless they got it where they began. Returns null, or
// what is missing. Static storage.
const char* ProfileLook();
// Takes it from all threads.
void ProfileEnd();

// A thread of the program is about to make one. Looks whether it has the lock, and gives the new
// thread the function: CPython has made what it knows of a thread by then.
void ProfileThreadBegins();

// In a forked child.
void ProfileAfterFork();
// How many threads had a profile function of their own. Any thread.
uint32_t ThreadsWithOwnProfile();

}  // namespace gpuprof::tracer
