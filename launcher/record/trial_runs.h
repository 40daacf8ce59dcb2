// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs a command again and again for `gpuprof try`, each time recorded into a folder of its own,
// with changes of the environment. What the command prints goes to an unnamed file. One run at a
// time, on the main thread.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "proto/codec/open_regular.h"
#include "proto/results/trials.pb.h"

namespace gpuprof::launcher {

class TrialRuns {
 public:
  TrialRuns(std::vector<std::string> command, analysis::PassOptions options)
      : command_(std::move(command)), options_(std::move(options)) {}

  // Runs the command once with the change of a trial; an empty value removes a variable. Returns
  // empty, or why the run does not count. `out`: an empty folder that the recording goes to; empty:
  // a temporary one, which is removed.
  std::string Run(const results::Trial& trial, const std::string& out, results::TrialRun* run);
  // Returns whether the last run could not be started at all.
  bool could_not_start() const { return could_not_start_; }
  // Returns the last lines that the last run printed.
  std::string LastLines() const;

 private:
  std::string Measure(const std::string& bundle, results::TrialRun* run) const;

  std::vector<std::string> command_;
  analysis::PassOptions options_;
  codec::OwnedFile log_;
  bool could_not_start_ = false;
};

}  // namespace gpuprof::launcher
