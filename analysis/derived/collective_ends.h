// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When collectives of the host ended, by the marks of PyTorch's backends ("gloo:all_reduce"). A
// mark lasts from the arrival of a rank to the end of its collective. Marks are on threads of the
// backends. Pure, any thread.

#pragma once

#include <string_view>
#include <vector>

#include "analysis/derived/collective_entries.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns whether an operation is the mark of a backend for one of its collectives.
bool IsBackendMark(std::string_view op);

// Gives entries without an end the end of their mark. The entries are sorted by their start.
void FindEndsByMarks(const Process& process, std::vector<CollectiveEntry>* entries);

}  // namespace gpuprof::analysis
