// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the tables of a trace as files of Arrow's IPC format: `gpuprof export -f arrow`. One
// thread.

#pragma once

#include "analysis/analysis.h"

namespace gpuprof::analysis {

// Writes a file NAME.arrow for each table that has rows. Results of passes are not among them.
Error ExportArrow(const Trace& trace, const ExportOptions& options, FileSink sink, void* context,
                  ExportReport* report);

}  // namespace gpuprof::analysis
