// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A snapshot: what a process has recorded so far, as a bundle of its own beside the files that it
// goes on writing. On the control thread, while the drain thread works on.

#pragma once

#include <cstdint>

#include "tracer/drain.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Into the folder snapshot-<name> of the bundle, which several processes may share; null: named by
// the time of day (UTC). A name that this process has used gets a number. `path` receives the
// folder's. Returns 0 or an errno value; then nothing is left behind.
int WriteSnapshot(const Settings& settings, const Drain::Snapshot& snapshot, const char* name,
                  char* path, uint32_t path_bytes);

}  // namespace gpuprof::tracer
