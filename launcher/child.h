// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs the user's command so that it cannot tell the launcher is there: same process group,
// terminal, descriptors, signal mask and dispositions, and signals sent to the launcher reach it.
// One child at a time, on the main thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/settings.h"

namespace gpuprof::launcher {

struct ChildResult {
  int32_t pid = 0;
  int exec_error = 0;  // errno of fork or exec; 0: the command ran
  bool fork_failed = false;
  int wait_status = 0;  // as waitpid told
  uint64_t wall_ns = 0;
  // 128 + signal where it was killed, as a shell says it.
  int ExitStatus() const;
};

// Starts `command` by execvp in our environment with `changes` made to it. Returns when it has
// ended. `on_started` is called once it runs: children made there are younger than it.
ChildResult RunChild(const std::vector<std::string>& command, const Variables& changes,
                     const std::function<void()>& on_started = {});

// The environment as a list of NAME=value: ours in its own order, changed in place, what is new
// behind it.
std::vector<std::string> ChangedEnvironment(const char* const* environment, Variables changes);

// For when memory has run out, on any thread: whether the last RunChild started its command, and
// its end, waited for if it has not come. They allocate nothing.
bool WasStarted();
[[noreturn]] void EndLikeStarted();

// Ends this process as the child ended: exits with its status, or dies of its signal without a core
// file of our own.
[[noreturn]] void EndLike(const ChildResult& result);

}  // namespace gpuprof::launcher
