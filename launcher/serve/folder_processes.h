// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The running processes whose bundles lie in one folder, and their control, for `gpuprof serve
// DIR`. Only this user's processes count, also for root. A process whose bundle cannot be found
// from here does not count: it may run in another file system. Any thread.

#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct FolderProcess {
  int32_t pid = 0;
  std::string command;  // with secrets masked
  std::string state;    // as `gpuprof ps` prints it, but "recording" for a capture
  std::string title;    // of the bundle
};
using FolderProcesses = std::vector<FolderProcess>;

// What became of an action.
struct Change {
  enum class Kind { kDone, kRefused, kNoProcess, kBusy } kind = Kind::kRefused;
  std::string message;  // cause and fix, or the new state; without the process
};

class FolderProcessList {
 public:
  explicit FolderProcessList(const std::string& folder);

  // Asks the processes, at most once a second.
  std::shared_ptr<const FolderProcesses> Look();
  // Does what `gpuprof ctl ACTION PID` does: start, stop or snapshot. Waits for the process.
  Change Do(const std::string& action, int32_t pid);
  // Returns whether an action is waited for.
  bool IsBusy() const { return busy_ != 0; }

 private:
  // Returns whether a bundle lies in the folder, by its path as the process tells it.
  bool Holds(const std::string& bundle) const;

  bool is_there_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::mutex mutex_;
  std::shared_ptr<const FolderProcesses> processes_;
  std::chrono::steady_clock::time_point looked_at_;
  std::atomic<int> busy_ = 0;
};

}  // namespace gpuprof::launcher
