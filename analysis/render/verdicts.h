// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Verdicts of results in sentences: the command prints them, and the page of reports shows them.
// Pure; any thread.

#pragma once

namespace gpuprof::results {
class InputPipeline;
class MemoryProfile;
class TfData;
}  // namespace gpuprof::results

namespace gpuprof::analysis {

// Writes the fields `verdict` of a result whose figures are there.
void SayVerdicts(results::InputPipeline* result);
void SayVerdicts(results::MemoryProfile* result);
void SayVerdicts(results::TfData* result);

}  // namespace gpuprof::analysis
