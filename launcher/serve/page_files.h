// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The files that a page reads: those of a bundle, or of the bundle that is made of another tool's
// trace for a report alone. Called by `gpuprof report` and `gpuprof serve`. One thread.

#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "launcher/base/temporary_folder.h"

namespace gpuprof::launcher {

class PageFiles {
 public:
  // Finds the files of a bundle or of one .gpt file. Holds the folder of a bundle. Returns false if
  // the input is neither.
  bool Find(const analysis::InputPath& input);
  // Writes the trace of another tool as a bundle in a temporary folder, which goes with this
  // object. Returns the exit status.
  int Import(const analysis::Trace& trace);

  // Returns where the files are: the input, or the folder that Import made.
  const analysis::InputPath& place() const { return place_; }
  const std::vector<analysis::ReportFile>& files() const { return files_; }
  // Returns the same with names that can stand in addresses, which are text.
  std::vector<analysis::ReportFile> ForPage() const;
  // Returns one sentence about what the files lack, or "".
  const std::string& left_out() const { return left_out_; }

 private:
  bool AddFolder(const std::string& lead);
  bool AddTraces();

  std::vector<analysis::ReportFile> files_;
  analysis::InputPath place_;
  std::string left_out_;
  TemporaryFolder folder_;
};

// Returns the last part of a path: the page's title.
std::string LastPart(const std::string& path);

}  // namespace gpuprof::launcher
