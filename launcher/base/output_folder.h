// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// New files that a verb writes piece by piece below a folder, one after another. Folders are made
// where they are missing. Without an end (Finish), what was made is removed. One thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/base/output_file.h"

namespace gpuprof::launcher {

class OutputFolder {
 public:
  explicit OutputFolder(std::string folder) : folder_(std::move(folder)) {}
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Adds a piece to a file, by its path below the folder. Another path ends the file before.
  // Returns false after a fault, which Finish tells.
  bool Write(const std::string& path, std::string_view bytes);
  // Completes the last file. Returns empty, or cause and fix.
  std::string Finish();
  // Returns the files, as paths.
  const std::vector<std::string>& files() const { return files_; }

 private:
  bool Open(const std::string& path);
  bool End();

  std::string folder_;
  std::string path_, fault_;
  std::unique_ptr<OutputFile> file_;  // the open one
  std::vector<std::string> files_;    // complete
  std::vector<std::string> made_;     // folders, outer ones first
  bool is_finished_ = false;
};

}  // namespace gpuprof::launcher
