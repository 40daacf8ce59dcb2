// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hears from processes of the run that they cannot record, and why (proto/obstacle.h). They may run
// as users who can write nowhere in the bundle. The witness process takes what comes while the
// command runs; the launcher takes the rest.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/obstacle.h"

namespace gpuprof::launcher {

class ObstacleInbox {
 public:
  ObstacleInbox() = default;
  ~ObstacleInbox();
  ObstacleInbox(const ObstacleInbox&) = delete;
  ObstacleInbox& operator=(const ObstacleInbox&) = delete;

  // Begins to listen. Returns the value of GPUPROF_LAUNCHER; "": it cannot listen, and processes
  // tell their stderr.
  std::string Open();
  int fd() const { return fd_; }
  // Sets another number of the same socket, in a process that has closed the first.
  void set_fd(int fd) { fd_ = fd; }

  // Takes the datagrams that are there. Allocates nothing.
  void Take();
  std::vector<proto::ObstacleReport> Reports() const;

 private:
  struct Shared;  // with the witness process

  Shared* shared_ = nullptr;
  uint64_t token_ = 0;
  int fd_ = -1;
};

// Returns a sentence for each cause. It has the number of processes and their names, the cause and
// the remedy.
std::vector<std::string> ObstacleLines(const std::vector<proto::ObstacleReport>& reports);

}  // namespace gpuprof::launcher
