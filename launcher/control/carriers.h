// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds running processes that carry the injected object. It reads /proc and does not ask the
// processes, as a process that was just forked has neither a control socket nor a ring yet. Called
// by run when the command has ended, and by ctl.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::launcher {

// Returns whether the process has gpuprof's object mapped. Programs left out by name have it mapped
// too.
bool LoadsRecorder(int32_t pid);

// Returns processes younger than this one whose traces go to `bundle`. Waits for those that end
// within `limit_ms`, and leaves them out.
std::vector<int32_t> AwaitCarriers(const std::string& bundle, int limit_ms);

}  // namespace gpuprof::launcher
