// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Samples of threads, as rows of results. analysis/derived/host_functions.h defines the figures.
// One thread.

#pragma once

#include <string>

#include "analysis/derived/host_functions.h"
#include "analysis/derived/host_samples.h"
#include "analysis/passes/context.h"

namespace gpuprof::results {
class OverviewFunctions;
class Python;
}  // namespace gpuprof::results

namespace gpuprof::analysis {

// Returns the samples of a process, which are kept for all questions.
const HostSamples& SamplesOf(PassContext& context, size_t index);

// Adds the samples of a process.
void AddSamples(PassContext& context, size_t index, HostFunctions* functions);

// Fills all but the meta. `by`: function, line, module or thread.
void FillFunctionTimes(PassContext& context, const std::string& by, results::Python* out);

// Fills the functions that used most processor time. False: there are no samples.
bool FillTopFunctions(PassContext& context, results::OverviewFunctions* out);

// Returns whether one of the selected processes has an interpreter of Python.
bool HasInterpreter(PassContext& context);

// Lowers a confidence to what so many samples of stacks allow, and says so.
void LimitToStackSamples(uint64_t samples, results::Confidence* confidence);

}  // namespace gpuprof::analysis
