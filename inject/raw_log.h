// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The only way the injected objects speak: one line on stderr, "gpuprof: ...", by one write system
// call from a stack buffer. Quiet by default; errno untouched; safe in hooks and signal handlers.

#pragma once

namespace gpuprof::inject {

// Said always: something the user must know and can act on.
void Say(const char* text) noexcept;
// What was said last, "" if nothing was; the beginning of it when it was long.
const char* LastSaid() noexcept;
// Said with GPUPROF_DEBUG=1.
void Debug(const char* text) noexcept;
void SetDebug(bool on) noexcept;

}  // namespace gpuprof::inject
