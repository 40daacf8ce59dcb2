// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The export of docs/extending.md: the names of processes, a line each. See analysis.h.

#include <string>

#include "analysis/analysis.h"
#include "analysis/model/process_name.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

Error ExportNames(const Trace& trace, const ExportOptions& options, Sink sink, void* context,
                  ExportReport* report) {
  for (const Process& process : trace.processes) {
    if (options.pid != 0 && process.pid != options.pid) continue;
    if (!sink(context, ProcessName(process) + "\n")) break;
    ++report->events;
  }
  return {};
}

}  // namespace gpuprof::analysis
