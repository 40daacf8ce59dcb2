// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens Chrome JSON, above all the traces of torch.profiler: the files of a recording, one for each
// rank. Called by Open(); starts threads for the duration of the call.

#pragma once

#include <vector>

#include "analysis/analysis.h"
#include "analysis/import/foreign_file.h"
#include "analysis/model/model_builder.h"

namespace gpuprof::analysis::import {

inline constexpr char kChromeImporter[] = "Kineto JSON";

// Fills `trace`. What could not be read is in Trace::import_notes; a file that was cut is a fault,
// too. An Error only if nothing could be read.
Error ImportChrome(const std::vector<ForeignFile>& files, const OpenOptions& options,
                   ModelBuilder* model);

}  // namespace gpuprof::analysis::import
