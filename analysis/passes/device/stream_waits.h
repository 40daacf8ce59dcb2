// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Waits of streams for each other: which stream's events they were for, and how long they held the
// waiting stream's work up.

#pragma once

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"
#include "proto/results/streams.pb.h"

namespace gpuprof::analysis {

// Appends one row for each pair of streams.
void AddStreamWaits(const Process& process, const CallIndex& calls, results::Streams* out);

}  // namespace gpuprof::analysis
