// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What recording needs of a machine, one check each. Called by doctor. Looks and probes, changes
// nothing that stays.

#pragma once

#include <string>
#include <vector>

#include "launcher/base/settings.h"

namespace gpuprof::launcher {

struct Check {
  enum class Level { kOk, kInfo, kWarn, kFail };
  std::string name;
  Level level = Level::kOk;
  std::string found;  // what there is
  std::string fix;    // for kWarn and kFail
};

std::vector<Check> RunChecks(const std::vector<Setting>& settings, const Variables& environment);

// Checks the facts that are given, and reads nothing else. Declared for their tests.
Check CheckClocksource(const std::string& current, const std::string& cpu_flags);
Check CheckSignal(const Variables& environment, const std::string& signal);
Check CheckVariables(const Variables& environment);

}  // namespace gpuprof::launcher
