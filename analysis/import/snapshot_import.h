// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The importer of PyTorch's memory snapshots: pickles of torch.cuda.memory._dump_snapshot(). Any
// thread.

#pragma once

#include <vector>

#include "analysis/import/foreign_file.h"
#include "analysis/model/model_builder.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

inline constexpr char kSnapshotImporter[] = "PyTorch memory snapshot";

// Returns whether a file begins as a pickle of protocol 2 to 5.
bool BeginsAsPickle(std::string_view beginning);

// Returns the pickles at a path: a file, or those of a folder without traces of gpuprof.
std::vector<ForeignFile> SnapshotFiles(const codec::InputPath& path);
// Returns none: a folder of snapshots is named itself.
std::vector<ForeignFile> SnapshotFilesBelow(const codec::InputPath& path);

// Reads snapshots, each as a process: a snapshot does not name its own.
Error ImportSnapshots(const std::vector<ForeignFile>& files, const OpenOptions& options,
                      ModelBuilder* model);

}  // namespace gpuprof::analysis::import
