// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process's control socket: proto/control.h. A thread of its own, "gpuprof-sock", outside the
// program's table of descriptors, listens and reads; the control thread carries out what was asked.
// Owner only.

#pragma once

namespace gpuprof::inject {

// Starts a listener under the process's present name; an older one leaves. Quietly without where it
// cannot be had (signals still work). One thread at a time.
void OpenControlSocket() noexcept;
// Its name goes, so that nobody finds it any more. Any thread.
void RemoveControlSocket() noexcept;
// The same where nothing was recorded: by the control thread, as a program that has shut itself
// into a filter of system calls since (seccomp) is allowed no unlink. The caller waits for a
// moment.
void HaveControlSocketRemoved() noexcept;
// In a forked child: the parent's is not ours.
void ForgetControlSocket() noexcept;
// Carries out the request that waits, if any. Control thread.
void ServeControlSocket() noexcept;

}  // namespace gpuprof::inject
