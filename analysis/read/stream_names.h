// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gives streams' tracks the names that the program gave to the streams' handles through NVTX, so
// that everything that shows a stream has its name. When a file is opened, its events decoded and
// its times in place. One thread at a time for a process.

#pragma once

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Sets Track::name of streams. Of several names of one stream the last counts. A handle comes again
// when its stream was destroyed: a name is the stream's that had the handle when it was given.
// Where that cannot be told, as nobody saw which streams came and went between two captures, it is
// nobody's.
void NameStreams(Process* process);

}  // namespace gpuprof::analysis
