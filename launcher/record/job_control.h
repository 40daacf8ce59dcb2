// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Job control: if the command stops by itself, the launcher stops with it. The shell waits for the
// launcher alone. Otherwise it would never learn that the command has stopped. Examples are
// `suspend` in bash, and Ctrl-Z in the prompts of Node and Python, which read it as a key.

#pragma once

#include <sys/types.h>

#include <atomic>

namespace gpuprof::launcher {

// Stops this process by `signal`, which stopped `command`. Returns when this process has been
// continued. The launcher's handler passes SIGCONT on to the command. If only the command is
// continued (`kill -CONT PID`), a helper process continues this process. Returns at once if the
// command goes on within milliseconds: then a signal for the whole process group is on its way.
// Main thread.
void StopWithCommand(pid_t command, int signal);

// Returns whether `pid` is the helper. Its SIGCONT is not meant for the command. Signal handlers.
bool IsStopHelper(pid_t pid);

}  // namespace gpuprof::launcher
