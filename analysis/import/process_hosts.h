// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells imported processes apart that have one number.

#pragma once

#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis::import {

// Two processes with one pid are told apart by their host. Files of several ranks may not name it:
// then the name of the file is added.
void TellProcessesApart(std::vector<Process>* processes);

}  // namespace gpuprof::analysis::import
