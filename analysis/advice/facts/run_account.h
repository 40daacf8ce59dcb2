// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the leading thread of a recording did: for advice about programs without steps. Called by
// the overview; reads only.

#pragma once

#include <optional>

#include "analysis/advice/facts/advice_facts.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

// Returns the account of a thread of the main process: its main thread if that computes, else the
// busiest. Empty: no thread was measured for as long as a second.
std::optional<RunAccount> AccountForRun(PassContext& context);

}  // namespace gpuprof::analysis
