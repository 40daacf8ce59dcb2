// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See tool_formats.h.

#include "analysis/export/tool_formats.h"

namespace gpuprof::analysis {
namespace {

constexpr ToolFormat kToolFormats[] = {
    {.about = {.name = "perfetto",
               .meaning = "Perfetto's own format, for its page and trace_processor",
               .output = "the new file, an archive if there are several ranks; -: standard output",
               .place = "the file",
               .example = "trace.pftrace"},
     .write = ExportPerfetto},
    {.about = {.name = "pprof",
               .meaning = "stacks for pprof and all that read its profiles",
               .output = "the new file, always compressed; -: standard output",
               .place = "the file",
               .example = "profile.pb.gz"},
     .write = ExportPprof,
     .is_compressed = true,
     .is_of_stacks = true},
    {.about = {.name = "speedscope",
               .meaning = "stacks and timelines of threads for speedscope",
               .output = "the new file; -: standard output",
               .place = "the file",
               .example = "profile.speedscope.json"},
     .write = ExportSpeedscope,
     .is_of_stacks = true},
    {.about = {.name = "folded",
               .meaning = "stacks, a line each, for flamegraph.pl and inferno",
               .output = "the new file; -: standard output",
               .place = "the file",
               .example = "stacks.folded"},
     .write = ExportFolded,
     .is_of_stacks = true},
    {.about = {.name = "openmetrics",
               .meaning = "sums and gauges as OpenMetrics, for Prometheus",
               .output = "the new file; -: standard output",
               .place = "the file",
               .example = "metrics.txt"},
     .write = ExportOpenMetrics},
    {.about = {.name = "sqlite",
               .meaning = "all tables of events and results as a database of SQLite",
               .output = "the new file; -: standard output",
               .place = "the file",
               .example = "trace.sqlite"},
     .write = ExportSqlite},
};

}  // namespace

std::vector<ToolFormat> AllFormats() {
  std::vector<ToolFormat> all;
  for (const ExportFormat& format : ExportFormats()) all.push_back({.about = format});
  all.insert(all.end(), std::begin(kToolFormats), std::end(kToolFormats));
  return all;
}

}  // namespace gpuprof::analysis
