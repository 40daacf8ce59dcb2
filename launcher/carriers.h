// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds running processes that carry the injected object by what /proc says of them, without asking
// them: a process that was forked a moment ago has neither a control socket nor a ring yet. Called
// by run when the command has ended, and by ctl.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::launcher {

// Whether the process has our object mapped: programs left out by name have it too.
bool LoadsRecorder(int32_t pid);

// Younger processes than this one whose traces go to `bundle`. Those that end within `limit_ms` are
// waited for and left out.
std::vector<int32_t> AwaitCarriers(const std::string& bundle, int limit_ms);

}  // namespace gpuprof::launcher
