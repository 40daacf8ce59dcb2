// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The tool that a variable of CUDA or NVTX named before the launcher put ours there: it is loaded
// and called as it would have been. On the program's thread that initialises the library.

#pragma once

namespace gpuprof::inject {

// The function `entry` of the object that the variable `chained` names. Null: there was no tool, or
// it cannot be loaded, which is said once for each `original`, the variable it stood in.
void* ChainedEntry(const char* chained, const char* original, const char* entry) noexcept;

// The same for a function that a tool need not have, of which nothing is said. `has_object`:
// whether there is a tool at all.
void* OptionalChainedEntry(const char* chained, const char* entry, bool* has_object) noexcept;

}  // namespace gpuprof::inject
