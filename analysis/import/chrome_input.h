// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the files of a recording in Chrome JSON: one file, an archive, or a folder with a file for
// each rank.

#pragma once

#include <string>
#include <vector>

#include "analysis/import/foreign_file.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

// Returns the files at a path, sorted. None: nothing is read as JSON. A file is known by its first
// bytes. A folder is judged by the names in it: it has files of JSON and no trace of gpuprof. An
// archive is judged by the names and beginnings of its members.
std::vector<ForeignFile> ChromeFiles(const codec::InputPath& path);

// Returns the traces in the folders of a folder, as of jobs with a folder for each rank. Their
// beginnings are looked at.
std::vector<ForeignFile> ChromeFilesBelow(const codec::InputPath& path);

// Returns whether a file begins as a trace. Settings and tables of other programs are JSON, too.
bool LooksLikeTrace(const ForeignFile& file);

}  // namespace gpuprof::analysis::import
