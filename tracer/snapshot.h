// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A snapshot: what a process has recorded so far, as a bundle of its own beside the files that it
// goes on writing. On the control thread, while the drain thread works on.

#pragma once

#include <cstdint>

#include "tracer/drain.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

// Takes the snapshot of a request (proto/snapshot_request.h), into the folder snapshot-NAME of the
// bundle, which several processes may share. Without a name it is named by the time of day (UTC). A
// name that this process has used gets a number. The last file that comes into the folder is
// bundle.pb. Says what a trigger took, and removes the snapshots that are no longer kept. `path`
// receives the folder's. Returns 0 or an errno value; then nothing is left behind.
int TakeRequested(const Host& host, const Drain::Snapshot& snapshot, const char* request,
                  char* path, uint32_t path_bytes);

}  // namespace gpuprof::tracer
