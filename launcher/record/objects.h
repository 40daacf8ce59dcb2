// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the two injected objects, and builds the environment that makes the dynamic loader take
// them in. Called by run, env and doctor. Never loads an object.

#pragma once

#include <string>
#include <vector>

#include "launcher/base/settings.h"

namespace gpuprof::launcher {

struct Objects {
  std::string inject;  // absolute
  std::string tracer;
  std::string error;  // cause and fix; empty: both found
};

// Looks at GPUPROF_INJECT and GPUPROF_TRACER (`settings`), then next to the command. There it looks
// first into ../lib/gpuprof/ of an installed tree, wherever the tree was moved, then into the build
// tree.
Objects FindObjects(const std::vector<Setting>& settings);
Objects FindObjectsFrom(const std::string& command_folder, const std::string& inject,
                        const std::string& tracer);

// Returns the path of the running command, without links; empty if there is no /proc.
std::string OwnPath();

// Returns the folder of the running command; empty if there is no /proc to read it from.
std::string OwnFolder();

// Maps both objects as the loader does. Returns "", or why no program can load them, and the fix.
// Returns "" also if this process lacks the memory or the descriptors to try.
std::string WhyUnloadable(const Objects& objects);

// Returns LD_PRELOAD with `inject` added, each object once. A sanitizer's runtime comes first, as
// it aborts the program otherwise. gpuprof's object comes second, as events of a preloaded
// allocator flow only to objects in front of the allocator. The objects of `existing` follow.
std::string ComposePreload(const std::string& inject, const std::string& sanitizer,
                           const std::string& existing);

// Returns whether `preload` already holds an injected object of gpuprof. The command then runs
// inside another `gpuprof run` or a prepared container.
bool PreloadHasOurs(const std::string& preload);

// Returns the variables for the injected object: every setting that differs from its default, as
// NAME=value. The paths of the bundle and the tracer are absolute.
Variables RecorderVariables(const std::vector<Setting>& settings, const std::string& bundle,
                            const Objects& objects);

}  // namespace gpuprof::launcher
