// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the files of an XSpace recording: one file, or one of each host in a folder of a run. A log
// folder of TensorBoard has runs in plugins/profile/RUN, in itself or in folders below.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/import/foreign_file.h"

namespace gpuprof::analysis::import {

struct XSpaceRun {
  std::string folder;              // empty: one file was named
  std::vector<ForeignFile> files;  // sorted
  uint64_t other_runs = 0;         // in the named folder; this run is the newest
};

// Returns the file, or the files of the folder. None: nothing is an XSpace. A file is known by its
// bytes, or by its name. A folder and an archive are known by the names in it: of the runs in an
// archive, the newest is taken.
XSpaceRun FindXSpaceRun(const codec::InputPath& path);
// Returns the files of the newest run below a log folder.
XSpaceRun FindXSpaceRunBelow(const codec::InputPath& path);

}  // namespace gpuprof::analysis::import
