// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What rules look at of the host: the way of data into the steps, reads of files, the time between
// steps. For the pass `advise`; one thread.

#pragma once

#include <cstddef>
#include <optional>

#include "analysis/advice/facts/advice_facts.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Fills the facts of the input and of the host. `leading`: the process with most steps; none: no
// steps were found.
void FillHostFacts(PassContext& context, std::optional<size_t> leading, AdviceFacts* facts);

// input_facts.cc
void FillInputFacts(PassContext& context, size_t leading, InputFacts* facts);
void FillIteratorFacts(PassContext& context, InputFacts* facts);

}  // namespace gpuprof::analysis
