// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is special about a bundle that `gpuprof import` made of another tool's files. Every pass
// says the same of the bundle as of these files. For Open, on one thread.

#pragma once

#include <cstdint>

#include "analysis/model/trace.h"
#include "proto/container.h"

namespace gpuprof::analysis {

// Makes the ticks of an imported trace bundle time (TraceFile::Place).
inline constexpr int64_t kImportedShift = -static_cast<int64_t>(proto::kImportedZeroTick);

// Takes from the manifest what the importer said: its name, its notes and the faults that it found.
// Other bundles stay as they are.
void TakeImport(Trace* trace);

}  // namespace gpuprof::analysis
