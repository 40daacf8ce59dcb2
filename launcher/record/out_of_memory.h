// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Acts when the command cannot get memory that it needs itself, under `ulimit -v` or in a full
// container. It prints one line, and the user's command goes on as if it had been typed alone.
// Installed by main; `run` reports how far it is. Called by the runtime if no handler caught
// std::bad_alloc, which may be on any thread. Allocates nothing before it has printed the line.

#pragma once

#include <cstddef>

namespace gpuprof::launcher {

class BundleDirectory;

// Prepares for a lack of memory. Once, before anything else.
void PrepareForNoMemory(int argc, char** argv);

// Sets the user's command: the last `words` words of the command line. If memory runs out before
// the command was started, the command is run unrecorded. If memory runs out later, its end is
// waited for and passed on. `bundle` lives as long as the process.
void RunWithoutMemory(size_t words, BundleDirectory* bundle);

}  // namespace gpuprof::launcher
