// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds files of another tool that cannot be of one run, although they lie in one folder. They are
// of one rank twice, of jobs of different sizes, or of different times. For the notes of all
// passes.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns the text of a note about the files of the selected processes. "": they may be of one run.
// Files that one process wrote one after another are of one run.
std::string UnrelatedFilesNote(const Trace& trace, const std::vector<size_t>& selected);

}  // namespace gpuprof::analysis
