// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the tool that a variable of CUDA or NVTX named before the launcher put gpuprof's object
// there. The tool is loaded and called as if gpuprof were absent. On the program's thread that
// initialises the library.

#pragma once

namespace gpuprof::inject {

// Returns the function `entry` of the object that the variable `chained` names. Null: there was no
// tool, or the tool cannot be loaded. A failed load is said once for each `original`, the variable
// that named the tool.
void* ChainedEntry(const char* chained, const char* original, const char* entry) noexcept;

// Returns the function `entry` as ChainedEntry does, but a tool need not have this function. Its
// absence is not said. `has_object` receives whether there is a tool at all.
void* OptionalChainedEntry(const char* chained, const char* entry, bool* has_object) noexcept;

}  // namespace gpuprof::inject
