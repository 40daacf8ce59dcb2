// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells imported processes apart that have one number.

#pragma once

#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis::import {

// Adds the name of the file to the host of a process, if another process has the same pid and host.
// Files of several ranks may not name the host.
void TellProcessesApart(std::vector<Process>* processes);

}  // namespace gpuprof::analysis::import
