// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A folder of its own for files that end with the verb, and a file without a name. They lie below
// TMPDIR, or /tmp. One thread.

#pragma once

#include <string>

#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { Remove(); }

  // Makes the folder, which its owner alone may enter. Returns empty, or cause and fix.
  std::string Make();
  // Removes the folder and its files.
  void Remove();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Makes a file without a name, which goes with its descriptor. Returns empty, or cause and fix.
std::string MakeUnnamedFile(codec::OwnedFile* file);

}  // namespace gpuprof::launcher
