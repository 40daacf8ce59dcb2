// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See process_hosts.h.

#include "analysis/import/process_hosts.h"

#include <set>
#include <string>
#include <utility>

namespace gpuprof::analysis::import {

void TellProcessesApart(std::vector<Process>* processes) {
  std::set<std::pair<int32_t, std::string>> seen;
  for (Process& process : *processes) {
    if (seen.emplace(process.pid, process.host).second) continue;
    process.host += (process.host.empty() ? "" : " ") + process.file;
    seen.emplace(process.pid, process.host);
  }
}

}  // namespace gpuprof::analysis::import
