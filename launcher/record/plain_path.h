// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Another path to a folder whose own path the loader cannot take: LD_PRELOAD ends a path at a space
// or a colon. The other path is a link in a folder of this user. It stays, because processes that
// inherit LD_PRELOAD may outlive the command. The next run uses the same link. Any thread.

#pragma once

#include <string>

namespace gpuprof::launcher {

// Returns whether LD_PRELOAD can hold the path.
bool IsPlain(const std::string& path);

// Returns a path without spaces and colons to the folder `target`, or "" and cause and fix.
std::string PlainPathTo(const std::string& target, std::string* error);

}  // namespace gpuprof::launcher
