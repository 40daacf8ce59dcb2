// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finishes the traces of processes that end while the command runs. Otherwise their ring files
// would stay on the disk until its end, and a job may start many thousand short programs. Processes
// of other hosts and of other namespaces are left until then. One thread of `gpuprof run`. It takes
// at most a few percent of a processor, and looks seldom at processes that live long.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "launcher/base/trusted_folder.h"

namespace gpuprof::launcher {

class DeadProcesses {
 public:
  DeadProcesses() = default;
  ~DeadProcesses() { Stop(); }
  DeadProcesses(const DeadProcesses&) = delete;
  DeadProcesses& operator=(const DeadProcesses&) = delete;

  // Begins to look. `folder` is the bundle's. The traces of process `root` are left alone: how it
  // ended is known later. Without a thread everything is finished at the end, by FinishProcesses.
  void Start(const TrustedFolder* folder, int32_t root);
  // Returns once the thread has ended, after the trace that it is at.
  void Stop();

  // Looks once, and returns how many traces it finished. `spent_ns` grows by the processor time
  // that went into looking. For Start's thread, and for tests.
  int Look(const TrustedFolder& folder, int32_t root, uint64_t* spent_ns);

 private:
  // A ring file whose process lived, or that cannot be finished.
  struct Ring {
    uint64_t seen_ns;
    uint64_t next_ns;
  };
  void Run(const TrustedFolder* folder, int32_t root);

  std::map<std::string, Ring> rings_;  // by stem; of the thread
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace gpuprof::launcher
