// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Some programs cannot bear threads of a recorder: a filter of system calls would kill them, or
// would leave them outside the sandbox. Some system calls need a process with a single thread. The
// hooks of these calls (inject/hooks/sandbox.cc) end gpuprof's threads first. The trace ends there
// and says why.

#pragma once

namespace gpuprof::inject {

// Ends the trace and gpuprof's threads: the program filters its system calls from now on. gpuprof
// makes no more system call in the process and its forked children. On a thread of the program,
// outside signal handlers.
void DepartForFilter() noexcept;

// Ends the trace and gpuprof's threads, if the program itself has only the calling thread. The
// process is dormant afterwards. Its forked children are recorded as its settings say. On a thread
// of the program, outside signal handlers.
void DepartIfAlone() noexcept;

// Ends the trace and gpuprof's threads: the calling thread gives rights up by a call that leaves
// the other threads their rights. The process is dormant afterwards, without threads of gpuprof; a
// later capture's threads have what the thread has that begins it. Its forked children are recorded
// as its settings say. On a thread of the program, outside signal handlers.
void DepartForRights() noexcept;

// Ends the trace and gpuprof's threads: a limit leaves the program less than it needs. The process
// is dormant afterwards. Returns whether anything was given back. On a thread of the program,
// outside signal handlers.
bool DepartForLimits() noexcept;

// Returns whether the capture that began with the program would go on, had the process not been
// left alone. For a fork.
bool CapturesInChildren() noexcept;

}  // namespace gpuprof::inject
