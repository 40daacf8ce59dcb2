// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which of several processes the figures about one process are of. One choice for all passes.

#pragma once

#include <cstddef>
#include <optional>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Returns the selected process with the steps of the run. Without steps, returns the process that
// used most processor time; where that was not measured, the one that lived longest. None: no
// process is selected.
std::optional<size_t> MainProcess(PassContext& context);

}  // namespace gpuprof::analysis
