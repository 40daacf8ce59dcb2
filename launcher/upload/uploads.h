// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs the user's own command (`gpuprof run --upload`) for the finished bundle, and for each of its
// snapshots while the program runs. One command at a time, one thread of `gpuprof run` until the
// program has ended, then the main thread. Removes nothing.
//
// The command runs in a process group of its own, with the folder as $1 and in GPUPROF_BUNDLE, with
// nothing on standard input, and with standard error as its output. Its environment has nothing
// else of gpuprof's, so it is not recorded.

#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "launcher/base/trusted_folder.h"

namespace gpuprof::launcher {

// The environment of an upload, as NAME=value.
std::vector<std::string> UploadEnvironment(const char* const* environment,
                                           const std::string& folder);

class Uploads {
 public:
  Uploads() = default;
  ~Uploads() { Stop(); }
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // `command`: for /bin/sh; empty: nothing is uploaded. `limit_ns`: how long one may take while the
  // program runs, and how long all may take after its end.
  void Prepare(std::string command, uint64_t limit_ns);
  bool is_wanted() const { return !command_.empty(); }
  // Begins to look for snapshots in the bundle. Without a thread they are uploaded at the end.
  void Start(const TrustedFolder* folder, const std::string& path);
  // Ends the thread. A command that runs goes on.
  void Stop();
  // Uploads the snapshots that are left, and then the bundle. Returns when all is done, at the
  // limit, or when a signal asks this process to end. The program has ended.
  void Finish();

 private:
  enum class Phase { kRunning, kFinal };
  void Run();
  void FindSnapshots(Phase phase);
  // Looks after the command that runs, and starts the next. Returns whether there is anything left.
  bool Step();
  void StartCommand(const std::string& folder);
  void EndCommand();
  void LeaveWaiting(const char* why);
  void Report(int wait_status);

  std::string command_;
  uint64_t limit_ns_ = 0;
  const TrustedFolder* folder_ = nullptr;
  std::string path_;

  std::set<std::string> known_;      // snapshots that are queued, or were
  std::deque<std::string> waiting_;  // folders
  pid_t pid_ = -1;                   // of the command that runs
  std::string uploading_;
  uint64_t deadline_ns_ = 0;
  uint64_t kill_ns_ = 0;  // when a command that was asked to end is killed; 0: it was not asked
  std::string why_ended_;

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace gpuprof::launcher
