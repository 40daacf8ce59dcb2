// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process's control socket: proto/control.h spoken on the control thread. Owner only.

#pragma once

namespace gpuprof::inject {

// Opens it, quietly without where it cannot be had (signals still work).
void OpenControlSocket() noexcept;
void CloseControlSocket(bool remove) noexcept;
// In a forked child: the parent's is not ours.
void ForgetControlSocket() noexcept;
// -1: none.
int ControlSocketFd() noexcept;
// Answers the request that waits, if any; bounded in time.
void ServeControlSocket() noexcept;

}  // namespace gpuprof::inject
