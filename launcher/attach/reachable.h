// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which running processes can be recorded, and how: for `gpuprof ps --why`. Reads /proc alone.

#pragma once

#include <string>
#include <vector>

#include "launcher/attach/target_facts.h"

namespace gpuprof::launcher {

struct Reachable {
  TargetFacts facts;
  // "ctl": gpuprof is in it. "attach": attach may be tried. "restart": it has to be started again.
  std::string way;
  std::string next;  // the command to type
};

// Looks at this user's processes; as root, at those of every user. Threads of the kernel and this
// process are left out.
std::vector<Reachable> FindReachable();

// Returns the list as a table.
std::string ReachableText(const std::vector<Reachable>& processes);
// Returns the list as JSON.
std::string ReachableJson(const std::vector<Reachable>& processes);

}  // namespace gpuprof::launcher
