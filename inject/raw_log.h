// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The only way the injected objects speak: one line on stderr, "gpuprof: ...", by one write system
// call from a stack buffer. Quiet by default; errno untouched; safe in hooks and signal handlers.

#pragma once

namespace gpuprof::inject {

// Says something that the user must know and can act on.
void Say(const char* text) noexcept;
// Keeps the text for LastSaid() and prints nothing: somebody else tells the user.
void KeepSaid(const char* text) noexcept;
// Keeps every text from now on, and prints none: the stderr of the program is not gpuprof's.
void KeepAllSaid() noexcept;
// The longest text that is kept.
inline constexpr int kMostSaid = 900;
// Returns the text that was said last; "" if nothing was said. A long text is cut at its end.
const char* LastSaid() noexcept;
// Says the text only with GPUPROF_DEBUG=1.
void Debug(const char* text) noexcept;
void SetDebug(bool on) noexcept;

}  // namespace gpuprof::inject
