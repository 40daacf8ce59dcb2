// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process's control socket: proto/control.h. A thread of its own, "gpuprof-sock", outside the
// program's table of descriptors, listens and reads; the control thread carries out what was asked.
// Owner only.

#pragma once

namespace gpuprof::inject {

// Starts a listener under the process's present name; an older one leaves. Quietly without where it
// cannot be had (signals still work). Control thread.
void OpenControlSocket() noexcept;
// Its name goes, so that nobody finds it any more. Any thread.
void RemoveControlSocket() noexcept;
// In a forked child: the parent's is not ours.
void ForgetControlSocket() noexcept;
// Carries out the request that waits, if any. Control thread.
void ServeControlSocket() noexcept;

}  // namespace gpuprof::inject
