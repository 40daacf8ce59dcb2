// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes one imported process as a .gpt file. One thread a file.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/base/result.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct ImportedFile {
  std::string path;                // of the new file
  uint64_t start_id = 0;           // in place of a start: keeps the order of the processes
  int64_t origin_realtime_ns = 0;  // of the bundle
};

// Writes the file. Returns its size, or why the file could not be written or cannot hold the
// process.
Result<uint64_t> WriteImportedFile(const Process& process, const ImportedFile& file);

}  // namespace gpuprof::analysis
