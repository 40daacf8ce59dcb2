// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The captures in a folder, for `gpuprof serve DIR`: bundles in folders, their snapshots, single
// .gpt files, and traces of other tools. Names are looked at, and the beginnings of files that may
// be traces. A file that has not changed is looked at once. Links are listed and not
// followed. Any thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace gpuprof::launcher {

struct ServedCapture {
  uint64_t id = 0;    // stays, also if the capture vanishes and comes back
  std::string title;  // its name in the folder, as bytes
  analysis::InputPath path;
  bool is_folder = false;
  analysis::ForeignInput foreign;  // of another tool; no importer: gpuprof's own
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
  uint64_t state = 0;  // another one after each change of its files
  std::string fault;   // why it cannot be read, in a sentence; empty: no fault is known
};
using Captures = std::vector<ServedCapture>;

// Returns whether the folder is a bundle itself, by the names in it. Traces whose names no process
// of gpuprof gave do not make it one.
bool IsOneBundle(const std::string& folder);
// Returns whether the folder is a log folder of TensorBoard, which is one recording.
bool IsLogFolder(const std::string& folder);

class CaptureList {
 public:
  explicit CaptureList(std::string folder);

  // Looks at the folder, at most once a second. Sorted by title.
  std::shared_ptr<const Captures> Look();
  const std::string& folder() const { return folder_; }

 private:
  // What is known of a file or folder of other tools while it does not change.
  struct Known {
    std::string status;
    analysis::ForeignInput foreign;
    std::string fault;
  };

  void Add(ServedCapture capture, Captures* captures);
  void AddLink(const std::string& title, const analysis::InputPath& path, Captures* captures);
  void AddFile(const std::string& title, const analysis::InputPath& path, Captures* captures);
  void AddFolder(const std::string& title, const analysis::InputPath& path, Captures* captures);
  void AddBundle(const std::string& title, const analysis::InputPath& path,
                 const std::vector<std::string>& names, Captures* captures);
  void AddWhole(Captures* captures);
  const Known& LookAt(const analysis::InputPath& path, bool is_folder, bool is_deep);

  const std::string folder_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> ids_;             // by title
  std::map<std::string, Known> known_, known_now_;  // by path; of the look before, and of this one
  std::shared_ptr<const Captures> captures_;
  std::chrono::steady_clock::time_point looked_at_;
};

}  // namespace gpuprof::launcher
