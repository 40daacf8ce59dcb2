// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The log folder of an agent: it keeps what was captured, as TensorBoard finds it, whatever becomes
// of the client. Any thread; one call at a time.

#pragma once

#include <string>
#include <vector>

#include "launcher/agent/capturer.h"
#include "launcher/agent/kept_runs.h"

namespace gpuprof::launcher {

class LogFolder {
 public:
  // `folder`: empty: nothing is kept. `host`: this machine's name.
  LogFolder(std::string folder, std::string host, KeepLimit keep = {});

  // Writes the traces of a capture to the run that the client asked for. If the client itself
  // writes there, nothing is written. Returns the folder of the run; empty: none was written, and
  // `fault` says why, if that is a fault. Older runs of this agent are removed beyond the limit.
  std::string Keep(const ProfileRequest& request, const std::vector<CapturedTrace>& traces,
                   std::string* fault);

 private:
  std::string folder_, prefix_;  // of the files' names
  KeptRuns kept_;
};

// Returns a text as a part of a file's name: letters, digits, dots, dashes and underscores. Empty:
// nothing is left of it.
std::string FileNamePart(std::string_view text);
// Returns the name of a run that begins now: 2026_11_26_15_40_00, in UTC.
std::string RunNameNow();

}  // namespace gpuprof::launcher
