// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Verdicts of results in sentences: the command prints them, and the page of reports shows them.
// Pure; any thread.

#pragma once

namespace gpuprof::results {
class FlightRecorder;
class Communication;
class InputPipeline;
class MemoryProfile;
class Pods;
class Stragglers;
class TfData;
}  // namespace gpuprof::results

namespace gpuprof::analysis {

// Writes the fields `verdict`, or `words`, of a result whose figures are there.
void SayVerdicts(results::Communication* result);
void SayVerdicts(results::FlightRecorder* result);
void SayVerdicts(results::InputPipeline* result);
void SayVerdicts(results::MemoryProfile* result);
void SayVerdicts(results::Pods* result);
void SayVerdicts(results::Stragglers* result);
void SayVerdicts(results::TfData* result);

}  // namespace gpuprof::analysis
