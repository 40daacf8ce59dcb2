// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of importers: a row for each format of another tool that Open reads. Any thread.

#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/import/foreign_file.h"
#include "analysis/model/model_builder.h"

namespace gpuprof::analysis::import {

// Files of one recording, and what reads them. Without files there is no recording.
struct Recording {
  std::vector<ForeignFile> files;
  std::function<Error(const OpenOptions& options, ModelBuilder* model)> import;
};

struct Importer {
  std::string_view name;  // of the format: Trace::importer
  // Finds a recording at a path: a file, an archive, or the files of a folder.
  Recording (*find)(const codec::InputPath& path);
  // Finds a recording in the folders of a folder.
  Recording (*find_below)(const codec::InputPath& path);
  // Returns whether a file that was found begins as a recording does. Null: files that are found
  // are known by their bytes.
  bool (*looks)(const ForeignFile& file) = nullptr;
  // The folders of a folder are looked at before the folder is taken for a bundle.
  bool is_below_first = false;
};

// Returns the importers in the order in which they are asked.
std::span<const Importer> Importers();

}  // namespace gpuprof::analysis::import
