// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What /proc tells about a process before anything is done to it: whether gpuprof can attach, and
// if not, why. Nothing is stopped. Called by attach, detach and ps.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct TargetFacts {
  int32_t pid = 0;
  int32_t inner_pid = 0;  // in its own namespace
  uid_t user = 0;
  std::string program;  // base name of the executable
  std::vector<std::string> command;
  bool has_recorder = false;  // gpuprof's object is in it
  bool has_cuda = false;      // libcuda is in it
  bool has_torch = false;
  bool has_python = false;
  bool is_other_mount = false;  // another mount namespace, or another root
  double age_s = 0;

  // One word; empty: attach may be tried. The words: ended, self, kernel, rights, traced, stopped,
  // zombie, machine, static, musl, seccomp, sanitizer, already.
  std::string refusal;
  std::string reason;  // what stands in the way, and what to do
};

TargetFacts LookAtTarget(int32_t pid);

// Returns the command line by which the process would be recorded from its start.
std::string RestartLine(const TargetFacts& facts);

// Returns a number of /proc/PID/status; -1: it is not there.
int64_t StatusNumber(int32_t pid, const std::string& key);

// Returns whether the process's root shows the same file at this path.
bool SeesSameFile(int32_t pid, const std::string& path);

}  // namespace gpuprof::launcher
