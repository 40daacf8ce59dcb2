// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Facts of servers of language models, for rules. One thread.

#pragma once

#include <cstddef>

#include "analysis/advice/facts/advice_facts.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Returns the facts of the thread of a process that leads. No gaps: it does not serve.
ServingFacts FindServing(PassContext& context, size_t index);

}  // namespace gpuprof::analysis
