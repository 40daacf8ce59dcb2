// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// All that a row of a table says about its event, as words for people. Pure; any thread.

#pragma once

#include <cstddef>
#include <vector>

#include "analysis/derived/row_details.h"
#include "analysis/model/trace.h"
#include "analysis/timeline/timeline.h"
#include "proto/table_spec.h"

namespace gpuprof::analysis::timeline {

// Returns the values of a row in the order of the schema, without its times and its name. `row`
// exists in the track's table of this kind.
std::vector<EventField> FieldsOf(const Process& process, const Track& track, proto::ChunkKind kind,
                                 size_t row);

// Returns what the detail of an imported row says: shapes and types of an operation, and which
// operation of XLA or TensorFlow a kernel is.
std::vector<EventField> DetailFieldsOf(const Process& process, const Track& track,
                                       proto::ChunkKind kind, size_t row, RowDetails* details);

}  // namespace gpuprof::analysis::timeline
