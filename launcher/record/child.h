// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Runs the user's command so that it cannot tell the launcher is there. It has the launcher's
// process group, terminal, descriptors, signal mask and dispositions. Signals sent to the launcher
// reach it. One child at a time, on the main thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/base/settings.h"

namespace gpuprof::launcher {

class ObstacleInbox;

struct ChildResult {
  int32_t pid = 0;
  int exec_error = 0;  // errno of fork or exec; 0: the command ran
  bool fork_failed = false;
  int wait_status = 0;  // as waitpid reported it
  uint64_t wall_ns = 0;
  // Returns the exit status; 128 + signal if a signal killed the child, as in a shell.
  int ExitStatus() const;
};

// Starts `command` by execvp in the launcher's environment with `changes` made to it. Returns when
// the command has ended. `on_started` is called with its process id once it runs: children made
// there are younger than the command. `inbox` is emptied meanwhile.
ChildResult RunChild(const std::vector<std::string>& command, const Variables& changes,
                     const std::function<void(int32_t)>& on_started = {},
                     ObstacleInbox* inbox = nullptr);

// Returns `environment` with `changes` made to it, as a list of NAME=value. Its variables keep
// their order and are changed in place; new variables follow.
std::vector<std::string> ChangedEnvironment(const char* const* environment, Variables changes);

// Returns whether the last RunChild started its command. EndLikeStarted waits for this command's
// end, if it has not ended, and ends as it did. For when memory has run out, on any thread; both
// allocate nothing.
bool WasStarted();
[[noreturn]] void EndLikeStarted();

// Ends this process as the child ended: exits with its status, or dies of its signal without a core
// file of the launcher.
[[noreturn]] void EndLike(const ChildResult& result);

}  // namespace gpuprof::launcher
