// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who sent the capture signal. Programs use SIGUSR1 among themselves (Postgres sends it thousands
// of times a second). A signal of a recorded process is the program's own business. It must neither
// begin nor end a capture.

#pragma once

#include <signal.h>

namespace gpuprof::inject {

// Returns whether the signal comes from this process or from a child that it has made. Also true
// for another process that writes into the same bundle or is dormant. A shell, or another sender
// that is left out by name, counts if `gpuprof run` started the sender and the program has a
// handler. Without a handler the signal is meant for gpuprof. Signal handlers; no lock, no heap.
bool IsProgramsOwn(const siginfo_t* info, bool has_handler) noexcept;

// Notes a child that this process has made, in whatever way.
void NoteChild(int pid) noexcept;

// Forgets what is known of other processes, in a forked child.
void ForgetSenders() noexcept;

}  // namespace gpuprof::inject
