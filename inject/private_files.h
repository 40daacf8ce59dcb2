// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads of one process may have different tables of descriptors. Some of gpuprof's threads hold
// files open for long, or open some now and then. These threads leave the program's table. Their
// files are not seen in /proc/self/fd, and a program that closes all descriptors does not close
// them. They never take a number that the program counts on, as a daemon does that closes 0 and
// opens another file.
//
// A thread that has left must not do anything for the program: not run its code, nor load a driver
// that keeps descriptors. Nor can it write to the program's stderr.

#pragma once

namespace gpuprof::inject {

// Gives the calling thread an empty table of its own, so that it holds no pipe or socket of the
// program open. False: the system does not allow it, and the thread goes on in the program's table.
// Tool threads, once.
bool LeaveProgramsFiles() noexcept;

}  // namespace gpuprof::inject
