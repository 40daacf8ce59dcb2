// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Formats of `gpuprof export` that take more options than events need: those of stacks, tables and
// sums, and Perfetto's. What the launcher includes, next to analysis.h. One thread. Errors say
// cause and fix, as in analysis.h.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

struct ToolOptions : ExportOptions {
  // A weight of the pass `stacks`, for formats of stacks; empty: the format's own choice.
  std::string by = {};
  std::string symfs = {};  // as PassOptions has it
};

struct ToolReport : ExportReport {
  std::string remark = {};  // what else to say, one sentence; empty: nothing
};

// A format. It has one of the functions of `about`, or its own.
struct ToolFormat {
  ExportFormat about;
  Error (*write)(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                 ToolReport* report) = nullptr;
  bool is_compressed = false;  // whatever the file's name
  bool is_of_stacks = false;   // takes ToolOptions::by

  bool is_file() const { return write != nullptr || about.to_file != nullptr; }
};

// Returns all formats, those of ExportFormats() first.
std::vector<ToolFormat> AllFormats();

// Writes the trace for another tool. docs/exports.md describes each file.
Error ExportPerfetto(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                     ToolReport* report);
Error ExportPprof(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                  ToolReport* report);
Error ExportSpeedscope(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                       ToolReport* report);
Error ExportFolded(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                   ToolReport* report);
Error ExportOpenMetrics(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                        ToolReport* report);
Error ExportSqlite(const Trace& trace, const ToolOptions& options, Sink sink, void* context,
                   ToolReport* report);

}  // namespace gpuprof::analysis
