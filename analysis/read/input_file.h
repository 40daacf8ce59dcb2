// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bytes of an input file, and where a bundle's files are. For the reader and for verify, any
// thread.
//
// Files are read, not mapped: another program may cut a file while it is being decoded, and a
// mapping would then end this program with SIGBUS. Traces are read by blocks (trace_input.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis {

struct FileBytes {
  std::unique_ptr<uint8_t[]> data;
  uint64_t bytes = 0;
};

// Returns the first bytes of a file, at most `most_bytes`. They are fewer if the file becomes
// shorter meanwhile. Refuses what is not a regular file.
Result<FileBytes> ReadFile(const codec::InputPath& path, uint64_t most_bytes);

// Returns the first `size` bytes of an open file, or as few as it has. `path` is for the error.
Result<FileBytes> ReadOpenFile(int fd, const std::string& path, uint64_t size);

// Returns why `path` could not be opened, with what to do; `cause` is an errno value.
Error OpenError(const std::string& path, int cause);

// Returns an error's message without the path that it begins with, for a fault that names its file.
std::string CauseOf(const Error& error, const std::string& path);

// The <pid> and <start> of "p<pid>-<start>", with the folder of its rank before it, if any.
struct Stem {
  std::string name;
  int32_t pid = 0;
  uint64_t start_id = 0;
};
bool ParseStem(const std::string& name, Stem* stem);

// The folder of a rank in the bundle of its job.
struct BundlePart {
  std::string folder;
  bool has_manifest = false;
  bool has_unrecorded = false;
};

struct BundleFiles {
  codec::InputPath directory;
  codec::InputPath named;           // the file, if one was named
  bool is_bundle = false;           // a directory was named, not one file
  std::vector<std::string> traces;  // names of .gpt files, sorted; those of ranks with folder
  std::vector<Stem> rings;          // with a ring file, or with segments; sorted by name
  bool has_manifest = false;
  bool has_unrecorded = false;    // proto::kUnrecordedFile
  std::vector<BundlePart> parts;  // the folders of ranks, sorted

  // Returns where a trace of `traces` is.
  codec::InputPath PathOf(const std::string& name) const {
    return is_bundle || name != traces.front() ? directory.Below(name) : named;
  }
};

// Finds the files of `path`: a bundle directory or one .gpt file (then with its ring file and the
// manifest beside it, if any).
Result<BundleFiles> FindFiles(const codec::InputPath& path);

}  // namespace gpuprof::analysis
