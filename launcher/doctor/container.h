// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a container takes away from recording, and the words of `docker run` or of a pod that give
// it back. Called by doctor; looks and probes, changes nothing that stays. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/doctor/doctor_checks.h"

namespace gpuprof::launcher {

struct ContainerFacts {
  std::vector<std::string> signs;    // names of what made the container, as far as seen
  std::string seccomp;               // of /proc/self/status: 0, 1 or 2
  uint64_t capabilities = 0;         // the effective set
  bool is_user_namespace = false;    // root here is another user outside
  bool can_write_root = true;        // of the file system /
  bool can_leave_files = true;       // a thread may have a descriptor table of its own
  uint64_t shared_memory_bytes = 0;  // of /dev/shm; 0: none is mounted
  std::string ptrace_scope;          // kernel.yama.ptrace_scope; empty: no Yama
  std::string memory_limit;          // of the control group; empty or max: none
};

ContainerFacts ReadContainerFacts();

// Judges the facts that are given, and reads nothing else.
std::vector<Check> ContainerChecks(const ContainerFacts& facts);

}  // namespace gpuprof::launcher
