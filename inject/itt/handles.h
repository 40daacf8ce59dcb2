// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Domains and string handles as the program sees them. Those of equal names are one, whichever
// library asked; each leads to its text. Any thread: no lock, no allocation.

#pragma once

#include "inject/itt/abi.h"
#include "inject/ranges/messages.h"

namespace gpuprof::inject::itt {

// Once a process; any thread. False: no memory.
bool PrepareHandles() noexcept;

// Where there is no room the one that stands for all others: its ranges have no name or domain.
Domain* DomainOf(const char* name) noexcept;
StringHandle* StringOf(const char* text) noexcept;

// Null: none. What the program's part made before we came is bound at its first use.
ranges::Text* TextOf(Domain* domain) noexcept;
ranges::Text* TextOf(StringHandle* string) noexcept;

// Events are numbers.
int EventOf(ranges::Text* text) noexcept;
ranges::Text* TextOfEvent(int event) noexcept;

}  // namespace gpuprof::inject::itt
