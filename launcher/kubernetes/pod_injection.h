// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Changes manifests so that the containers of a pod are recorded: an init container copies gpuprof
// from its image into a volume, and the containers get that volume, another one for bundles, and
// the recorder's variables. Pure; one thread.

#pragma once

#include <string>
#include <vector>

#include "launcher/base/settings.h"

namespace gpuprof::launcher {

inline constexpr char kObjectsMount[] = "/gpuprof";
inline constexpr char kTracesMount[] = "/gpuprof-traces";

struct InjectionOptions {
  std::string image;                    // of gpuprof
  std::vector<std::string> containers;  // empty: those that ask for a GPU, or else all
  bool is_for_all = false;              // all workloads, also those that do not ask for it
  std::string claim;                    // the claim of a volume for bundles; empty: an emptyDir
  std::string size_limit;               // of the emptyDir
  Variables variables;                  // of the recorder, except GPUPROF_BUNDLE
};

struct Injection {
  std::string text;                // the changed manifest
  std::string fault;               // cause and fix: then nothing was changed
  std::vector<std::string> notes;  // what was done, and what was left as it is
};

Injection InjectIntoManifest(const std::string& manifest, const InjectionOptions& options);

}  // namespace gpuprof::launcher
