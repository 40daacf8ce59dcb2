// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_facts.h.

#include "analysis/advice/facts/device_facts.h"

namespace gpuprof::analysis {

int64_t DeviceFacts::PerStep(results::TimeCategory category) const {
  for (const results::CategoryTime& part : series.categories()) {
    if (part.category() == category) return part.total_ns() / static_cast<int64_t>(series.count());
  }
  return 0;
}

int64_t DeviceFacts::SavedPerStep(results::WhatIfSubject subject) const {
  // The path has steps only where devices' work tells their ends. What the whole recording saves is
  // no figure of a step: the time between steps is in it.
  if (series.window() != results::STEP_WINDOW_ALL && !path.has_first_step()) return 0;
  const auto steps = static_cast<int64_t>(path.last_step() - path.first_step() + 1);
  for (const results::WhatIf& what_if : path.what_ifs()) {
    if (what_if.subject() == subject)
      return what_if.saved_ns() / (path.has_first_step() ? steps : 1);
  }
  return 0;
}

}  // namespace gpuprof::analysis
