// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens Chrome JSON, above all the traces of torch.profiler: one file, or a folder of files, one
// for each rank. Called by Open(); starts threads for the duration of the call.

#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/model_builder.h"

namespace gpuprof::analysis::import {

inline constexpr char kChromeImporter[] = "Kineto JSON";

// Returns whether `path` is a file of JSON, by its first bytes. A folder is judged by the names in
// it: it has files of JSON and no trace of gpuprof.
bool IsChromeInput(const InputPath& path);

// Returns the files of this input, sorted: the file itself, or those of a folder.
std::vector<InputPath> ChromeFiles(const InputPath& path);

// Fills `trace`. What could not be read is in Trace::import_notes; a file that was cut is a fault,
// too. An Error only if nothing could be read.
Error ImportChrome(const InputPath& path, const OpenOptions& options, ModelBuilder* model);

}  // namespace gpuprof::analysis::import
