// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a page has of a bundle that is too large for it (proto/bundle_parts.proto). One thread.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/steps/step_marks.h"

namespace gpuprof::analysis {

// Reads parts.pb in a bundle's folder. Without it, or if it cannot be read, all is there: both stay
// as they are.
void ReadBundleParts(const std::string& folder, OpenOptions* options,
                     std::shared_ptr<const std::vector<StepMark>>* steps);

}  // namespace gpuprof::analysis
