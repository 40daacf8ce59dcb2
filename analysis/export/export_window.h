// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a trace that an export is of. One thread.

#pragma once

#include <memory>

#include "analysis/analysis.h"
#include "analysis/derived/selection.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns the part that begins in the window of the options. Null: all of the trace is meant.
inline std::shared_ptr<const Trace> PartOf(const Trace& trace, const ExportOptions& options) {
  if (!options.window) return nullptr;
  const int64_t origin = options.is_clock_window ? trace.origin_realtime_ns : 0;
  Selection selection;
  selection.window = TimeWindow{options.window->first - origin, options.window->second - origin};
  return Select(trace, selection);
}

}  // namespace gpuprof::analysis
