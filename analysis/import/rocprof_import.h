// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The importer of the JSON that `rocprofv3 --output-format json` writes. Any thread.

#pragma once

#include <vector>

#include "analysis/import/foreign_file.h"
#include "analysis/model/model_builder.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

inline constexpr char kRocprofImporter[] = "rocprofv3 JSON";

// Returns the files at a path: a file, members of an archive, or the files in a folder.
std::vector<ForeignFile> RocprofFiles(const codec::InputPath& path);
// Returns the files in the folders of a folder: rocprofv3 makes a folder for each machine.
std::vector<ForeignFile> RocprofFilesBelow(const codec::InputPath& path);
// Returns whether a file begins as one of rocprofv3.
bool LooksLikeRocprof(const ForeignFile& file);

// Reads files. What could not be read is in Trace::import_notes; a file that was cut is a fault,
// too. An Error only if nothing could be read.
Error ImportRocprof(const std::vector<ForeignFile>& files, const OpenOptions& options,
                    ModelBuilder* model);

}  // namespace gpuprof::analysis::import
