// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bytes of an input file, and where a bundle's files are. For the reader and for verify, any
// thread.
//
// Files are read, not mapped: another program may cut a file while it is being decoded, and a
// mapping would then end this program with SIGBUS. Reading costs about 0.2 ns a byte from the page
// cache.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"

namespace gpuprof::analysis {

struct FileBytes {
  std::unique_ptr<uint8_t[]> data;
  uint64_t bytes = 0;
};

// The whole file, or its first `most_bytes`: as long as it was when opened or as short as it
// became. Refuses what is not a regular file.
Result<FileBytes> ReadFile(const std::string& path, uint64_t most_bytes = UINT64_MAX);

// The <pid> and <start> of "p<pid>-<start>".
struct Stem {
  std::string name;
  int32_t pid = 0;
  uint64_t start_id = 0;
};
bool ParseStem(const std::string& name, Stem* stem);

struct BundleFiles {
  std::string directory;
  bool is_bundle = false;           // a directory was named, not one file
  std::vector<std::string> traces;  // names of .gpt files, sorted
  std::vector<Stem> rings;          // with a ring file, or with segments; sorted by name
  bool has_manifest = false;
};

// Finds the files of `path`: a bundle directory or one .gpt file (then with its ring file and the
// manifest beside it, if any).
Result<BundleFiles> FindFiles(const std::string& path);

}  // namespace gpuprof::analysis
