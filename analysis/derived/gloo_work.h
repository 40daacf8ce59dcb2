// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What gloo's own threads did for the collectives of a process: "gloo:all_reduce" for the call
// "c10d::allreduce_". Pure, any thread.

#pragma once

#include "analysis/derived/collective_entries.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Adds ends, bytes and threads of gloo to the calls of the host, and the groups that notes of the
// process name. Bytes are those of the rank's input. Other calls stay as they are.
void AddGlooWork(const Process& process, RankEntries* rank);

}  // namespace gpuprof::analysis
