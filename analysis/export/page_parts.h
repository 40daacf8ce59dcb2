// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Parts of a recording that a report has all results of: single processes, single devices, and the
// steps that matter. Pure.

#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/export/wanted_steps.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct PagePart {
  // The name of the part in the page and in addresses of `gpuprof serve`: "pid=12", "device=0" or
  // "step=3".
  std::string name;
  std::string words;    // for people: "12, a typical one"; empty: the part is not a step
  Interval window;      // in which the events of the step are
  PassOptions options;  // what `gpuprof stats` is asked for
};

// Returns the parts, the most wanted first. A recording with one process has no part for it.
std::vector<PagePart> PagePartsOf(const Trace& trace, const std::vector<WantedStep>& steps);

}  // namespace gpuprof::analysis
