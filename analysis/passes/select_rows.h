// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a trace that the options of a pass ask for: a window, steps, devices.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "analysis/passes/session.h"

namespace gpuprof::analysis {

// Makes the part of the trace, or none if the options ask for the whole trace. `words` then says
// what the part is. An error names the option that cannot be met.
Error SelectRows(std::string_view pass, Session* session, const PassOptions& options,
                 std::shared_ptr<const Trace>* part, std::string* words);
// Returns whether a pass does not take the part, which other passes do. It refuses the options, or
// chooses its part itself.
bool IsRefused(std::string_view pass, const PassOptions& options);

}  // namespace gpuprof::analysis
