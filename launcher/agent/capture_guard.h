// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stops what an agent has started if the agent is killed: otherwise its processes would record for
// ever. A process of its own waits for the end of the agent. Any thread.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

class CaptureGuard {
 public:
  // Starts the process. Call it before the first thread. Without memory or processes there is no
  // guard, and the agent works all the same.
  CaptureGuard();
  // Ends the process, which stops what is still started.
  ~CaptureGuard();
  CaptureGuard(const CaptureGuard&) = delete;
  CaptureGuard& operator=(const CaptureGuard&) = delete;

  // Says that these processes will be started, or that they are stopped.
  void Started(const std::vector<int32_t>& pids);
  void Stopped(const std::vector<int32_t>& pids);

 private:
  void Tell(const std::vector<int32_t>& pids, bool is_start);

  codec::OwnedFile pipe_;
  pid_t process_ = -1;
};

}  // namespace gpuprof::launcher
