// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where hardware counters are read: in a process of its own, a child of `gpuprof run`, beside the
// command.
//
// Not in the program: NVML would be a driver's library more in it, with threads, descriptors and
// locks of its own, in each of N ranks, all reading the same GPUs. Not in the launcher itself: NVML
// may hang in the kernel (a GPU off the bus) or crash, and the launcher owes the command its status
// and its end. A process can be left behind: what it wrote by then is a valid trace.
// `gpuprof env` alone has no parent that stays, and so no counters.
//
// It is of a session of its own, with all signals blocked and none of the descriptors that the
// launcher was started with; nothing but the pipe to the launcher ties it: at the pipe's end of
// file, so also when the launcher is killed, it finishes its file and ends.

#pragma once

#include <string>
#include <vector>

#include "launcher/base/trusted_folder.h"
#include "launcher/gpu/gpu_log.h"
#include "launcher/gpu/sampler.h"

namespace gpuprof::launcher {

class SamplerProcess {
 public:
  SamplerProcess() = default;
  SamplerProcess(const SamplerProcess&) = delete;
  SamplerProcess& operator=(const SamplerProcess&) = delete;

  // Call before the command starts: lays out what its processes tell by, in the bundle's folder.
  // The log is already open, or not wanted.
  void Prepare(const SamplerOptions& options, const TrustedFolder* folder, GpuLog* log);
  // Once the command runs, on the only thread. Where a log was asked for, waits for NVML to be
  // ready, two seconds at most, and returns what is to be said of it.
  std::vector<std::string> Start();
  // Has it end, waits two seconds at most, and returns what is to be said.
  std::vector<std::string> Stop();
  // After Stop: what was said and is not in a trace of counters, for the bundle to keep.
  const std::vector<std::string>& not_in_trace() const { return not_in_trace_; }

 private:
  std::vector<std::string> ReadReport(int limit_ms, bool to_end);
  std::string WhyNotEnded() const;
  std::vector<std::string> Fork();
  [[noreturn]] void RunInChild(int stop, int report);

  SamplerOptions options_;
  const TrustedFolder* folder_ = nullptr;
  GpuLog* log_ = nullptr;
  bool is_wanted_ = false;
  int pid_ = -1;
  int stop_ = -1;    // its end of file is the order to end
  int report_ = -1;  // words for the user
  std::string unread_;
  std::vector<std::string> said_;  // by the sampler
  std::vector<std::string> not_in_trace_;
  bool is_at_end_ = false;
  char phase_ = kPhaseReading;  // of the sampler
};

}  // namespace gpuprof::launcher
