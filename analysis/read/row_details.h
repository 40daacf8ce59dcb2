// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gives rows of imported traces the values that a bundle has in a table of its own. For the loader
// of events, on one thread.

#pragma once

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Moves the rows of each RowDetailTable to the rows that they name. A column without any value
// stays empty, except those of imported operations. `is_whole`: no block of the file is missing
// but those that are left out. Otherwise rows do not have their numbers any more, and all that
// refers to rows by numbers is dropped.
void JoinRowDetails(bool is_imported, bool is_whole, Process* process);

}  // namespace gpuprof::analysis
