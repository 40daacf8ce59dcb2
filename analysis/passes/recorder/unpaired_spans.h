// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ends of operations and ranges whose begin is not in the capture (LOSS_UNPAIRED_SPAN). They are
// reported, but they are not losses of the capture. For passes; any thread.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/trace.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

uint64_t UnpairedSpans(const Process& process);

// Returns "3 ranges ended that began before the capture or had no begin"; "" if there are no
// unpaired ends.
std::string UnpairedText(const Process& process);

enum class SpanSubject { kOperations, kRanges };

// Adds a note for each selected process that has unpaired ends. For passes whose subject these
// spans are.
void AddUnpairedNotes(const PassContext& context, SpanSubject subject, results::Meta* meta);

}  // namespace gpuprof::analysis
