// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The traces of a bundle on one time axis, with their tables, before any row is read. Called on one
// thread; starts threads for the duration of the call.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/model_builder.h"
#include "analysis/read/trace_file.h"

namespace gpuprof::analysis {

using TraceFiles = std::vector<std::unique_ptr<TraceFile>>;

struct PlacedFiles {
  TraceFiles files;     // by start time; children after parents
  TraceFiles samplers;  // of hardware counters
};

// Reads the headers and tables of a bundle or of one .gpt file. The manifest and faults go to
// `model`; processes stay in the files. `may_recover`: the traces of dead processes are finished.
// `threads` 0: as many as cores. `parts`: what is there of the files; null: all.
Error PlaceFiles(const codec::InputPath& path, bool may_recover, int threads, ModelBuilder* model,
                 PlacedFiles* placed, std::shared_ptr<const FileParts> parts = nullptr);

}  // namespace gpuprof::analysis
