// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process's control socket: proto/control.h. A thread of its own, "gpuprof-sock", outside the
// program's table of descriptors, listens and reads; the control thread carries out what was asked.
// Owner only.

#pragma once

namespace gpuprof::inject {

// Starts a listener under the process's present name; an older listener leaves. Says nothing if the
// socket cannot be made (signals still work). One thread at a time.
void OpenControlSocket() noexcept;
// Ends the listener, while the socket still has its name. On a thread of the program: a descriptor
// is used for a moment.
void EndListener() noexcept;
// Removes the socket's name, so that no process finds the socket any more. Any thread.
void RemoveControlSocket() noexcept;
// Has the control thread remove the name, if nothing was recorded. The program may since have
// limited its own system calls (seccomp), so that its threads may not unlink. The caller waits for
// a moment.
void HaveControlSocketRemoved() noexcept;
// Forgets the socket: the parent's in a forked child, or that of a listener that has ended.
void ForgetControlSocket() noexcept;
// Carries out the request that waits, if any. Control thread.
void ServeControlSocket() noexcept;

}  // namespace gpuprof::inject
