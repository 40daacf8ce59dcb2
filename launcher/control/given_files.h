// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the files of a process that may not make them itself. Root started the process, which has
// become another user, and root asks for its first capture. The files belong to that user and lie
// in root's bundle. The process gets their descriptors with the request.

#pragma once

#include <string>
#include <vector>

#include "launcher/control/control_client.h"

namespace gpuprof::launcher {

class GivenFiles {
 public:
  GivenFiles() = default;
  ~GivenFiles();
  GivenFiles(const GivenFiles&) = delete;
  GivenFiles& operator=(const GivenFiles&) = delete;

  // Makes the files, if this is root, the process runs as another user and has recorded nothing,
  // and its bundle is root's. Asks the process for its bundle.
  void Make(const Endpoint& endpoint);
  // Removes those that the process has not written to.
  void RemoveUnused();
  const std::vector<int>& descriptors() const { return descriptors_; }

 private:
  int folder_ = -1;
  std::vector<std::string> names_;
  std::vector<int> descriptors_;
};

}  // namespace gpuprof::launcher
