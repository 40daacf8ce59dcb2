// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The snapshots that this process has taken, of which it keeps the newest (GPUPROF_SNAPSHOTS).
// Control thread.

#pragma once

#include <cstdint>

#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Notes a snapshot that the process has taken into `folder`. If there are more than `keep`, removes
// the oldest ones: the process's own trace, the link to the bundle's description, and the folder.
// Follows no link. A folder that holds anything else stays, without this process's trace. `keep` 0:
// all stay.
void KeepSnapshot(const char* folder, const Settings& settings, uint64_t keep);

}  // namespace gpuprof::tracer
