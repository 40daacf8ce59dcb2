// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The importer of dumps of PyTorch's flight recorder, one file a rank. Any thread.

#pragma once

#include <vector>

#include "analysis/import/foreign_file.h"
#include "analysis/model/model_builder.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

inline constexpr char kFlightImporter[] = "PyTorch flight recorder";

// Returns the dumps at a path: a file, or those of a folder without traces of gpuprof.
std::vector<ForeignFile> FlightFiles(const codec::InputPath& path);
// Returns none: a folder of dumps is named itself.
std::vector<ForeignFile> FlightFilesBelow(const codec::InputPath& path);
// Returns whether a file begins as a dump.
bool LooksLikeFlightDump(const ForeignFile& file);

// Reads dumps, each as a process whose number is its rank and 1.
Error ImportFlightDumps(const std::vector<ForeignFile>& files, const OpenOptions& options,
                        ModelBuilder* model);

}  // namespace gpuprof::analysis::import
