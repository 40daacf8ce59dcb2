// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The top object of a Chrome trace, with its members in Kineto's order: what stands before the
// events, and what stands behind them. One thread.

#pragma once

#include <string>
#include <vector>

#include "analysis/export/event_writer.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Writes everything up to the events. `rank`: "" if not known.
void WriteHeader(const Trace& trace, const std::vector<const Process*>& processes,
                 const std::string& rank, EventWriter* out);

// Writes what follows the events. `name`: of the file.
void WriteFooter(std::string_view name, EventWriter* out);

}  // namespace gpuprof::analysis
