// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ends of operations and ranges whose begin the capture does not have (LOSS_UNPAIRED_SPAN): they
// are told, and are no loss of anything in the capture. For passes; any thread.

#pragma once

#include <cstdint>
#include <string>

#include "analysis/model/trace.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

uint64_t UnpairedSpans(const Process& process);

// "3 ranges ended that began before the capture or had no begin"; "" where there are none.
std::string UnpairedText(const Process& process);

enum class SpanSubject { kOperations, kRanges };

// For passes whose subject these spans are: says so of each process asked for that has some.
void AddUnpairedNotes(const PassContext& context, SpanSubject subject, results::Meta* meta);

}  // namespace gpuprof::analysis
