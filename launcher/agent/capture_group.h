// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The running processes that an agent captures together, and their control: what `gpuprof ctl` does
// for one process. One thread for an object.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "launcher/control/control_client.h"

namespace gpuprof::launcher {

// Which processes an agent may capture.
struct ProcessChoice {
  std::set<int32_t> pids;     // empty: all
  std::string bundle;         // whose traces go there; empty: to any
  std::optional<uid_t> user;  // whose they are; none: all that may be asked
};

// A process that was asked.
struct GroupMember {
  int32_t pid = 0;
  uid_t user = 0;
  std::string program, bundle, state;
  std::string root;            // stands before its paths, if it lives in another file system
  bool is_recorder = false;    // a flight recorder
  bool was_recording = false;  // somebody else began that
  bool is_started = false;     // by us
  uint64_t events_before = 0, events_after = 0;
  uint64_t lost_before = 0, lost_after = 0;
  std::string snapshot;      // the folder of its snapshot
  std::string Name() const;  // "process 4711 (python3)"
};

class CaptureGroup {
 public:
  // Finds the processes and asks for their states.
  void Find(const ProcessChoice& choice);

  // Starts those that do not record. `only_recorders`: flight recorders alone.
  void Start(bool only_recorders);
  // Stops those that Start() started, and asks the others how far they are.
  void Stop();
  // Has a snapshot written of each that holds something. `only_recorders`: flight recorders alone.
  void Snapshot(bool only_recorders);

  std::vector<GroupMember>& members() { return members_; }
  // Returns what processes refused, and why.
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  std::vector<Answer> AskAll(const std::vector<GroupMember*>& members, const std::string& action,
                             int timeout_ms);

  std::vector<GroupMember> members_;
  std::vector<std::string> refusals_;
};

}  // namespace gpuprof::launcher
