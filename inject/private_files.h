// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Threads of one process may have different tables of descriptors. Ours that hold files open for
// long, or open some now and then, leave the program's: what they open is not seen in
// /proc/self/fd, is not closed by a program that closes all, and never takes the number that the
// program counts on, as a daemon does that closes 0 and opens another.
//
// A thread that has left must not do anything for the program: not run its code, nor load a driver
// that keeps descriptors. Nor can it write to the program's stderr.

#pragma once

namespace gpuprof::inject {

// The calling thread gets a table of its own, empty, so that no pipe or socket of the program's is
// held open by it. False: the system does not let it; it goes on in the program's. Tool threads,
// once.
bool LeaveProgramsFiles() noexcept;

}  // namespace gpuprof::inject
