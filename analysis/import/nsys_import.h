// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The importer of databases that `nsys export --type sqlite` made of reports of Nsight Systems.
// Any thread.

#pragma once

#include <vector>

#include "analysis/import/foreign_file.h"
#include "analysis/model/model_builder.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

inline constexpr char kNsysImporter[] = "Nsight Systems SQLite";

// Returns the databases at a path: a file, members of an archive, or the exports in a folder that
// has no other traces.
std::vector<ForeignFile> NsysFiles(const codec::InputPath& path);
// Returns none: a folder of exports is named itself.
std::vector<ForeignFile> NsysFilesBelow(const codec::InputPath& path);
// Returns whether a file is an export, and no other database. A compressed file may be one.
bool LooksLikeNsys(const ForeignFile& file);

// Reads exports. What could not be read is in Trace::import_notes; a damaged table is a fault, too.
// An Error only if nothing could be read.
Error ImportNsys(const std::vector<ForeignFile>& files, const OpenOptions& options,
                 ModelBuilder* model);

}  // namespace gpuprof::analysis::import
