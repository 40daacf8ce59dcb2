// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the command does when memory that it needs itself cannot be had, under `ulimit -v` or in a
// full container: one line, and the user's command goes on as if it had been typed alone. Installed
// by main; `run` tells how far it is. Called by the runtime where nobody caught std::bad_alloc,
// which may be on any thread; allocates nothing before it has told.

#pragma once

#include <cstddef>

namespace gpuprof::launcher {

class BundleDirectory;

// Once, before anything else.
void PrepareForNoMemory(int argc, char** argv);

// From here on the command line's last `words` words are run, unrecorded, should memory run out
// before the command was started; afterwards its end is waited for and passed on. `bundle` lives as
// long as the process.
void RunWithoutMemory(size_t words, BundleDirectory* bundle);

}  // namespace gpuprof::launcher
