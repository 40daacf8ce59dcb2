// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the two injected objects, and builds the environment that makes the dynamic loader take
// them in. Called by run, env and doctor. Never loads an object.

#pragma once

#include <string>
#include <vector>

#include "launcher/settings.h"

namespace gpuprof::launcher {

struct Objects {
  std::string inject;  // absolute
  std::string tracer;
  std::string error;  // cause and fix; empty: both found
};

// Looks at GPUPROF_INJECT and GPUPROF_TRACER (`settings`), then beside the command: ../lib/gpuprof/
// of an installed tree, wherever it was moved, then the build tree.
Objects FindObjects(const std::vector<Setting>& settings);
Objects FindObjectsFrom(const std::string& command_folder, const std::string& inject,
                        const std::string& tracer);

// The folder of the running command; empty where there is no /proc that tells it.
std::string OwnFolder();

// LD_PRELOAD with `inject` in it: a sanitizer's runtime first (it aborts the program otherwise),
// then ours (events of a preloaded allocator flow only to those in front of it), then what was
// there already, each once.
std::string ComposePreload(const std::string& inject, const std::string& sanitizer,
                           const std::string& existing);

// Whether `preload` already holds an injected object of gpuprof: the command runs inside another
// `gpuprof run` or a prepared container.
bool PreloadHasOurs(const std::string& preload);

// What the injected object is handed: every setting that is no default, as NAME=value, with the
// bundle and the tracer's path absolute.
Variables RecorderVariables(const std::vector<Setting>& settings, const std::string& bundle,
                            const Objects& objects);

}  // namespace gpuprof::launcher
