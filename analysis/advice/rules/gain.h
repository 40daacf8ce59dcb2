// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a change wins of a step: the one definition, for all rules. A gain has a low and a high end,
// and a method. Pure; one thread.

#pragma once

#include <cstdint>

#include "analysis/advice/rules/rules.h"

namespace gpuprof::analysis {

// A gain before it is compared with the step. The change is the code of what was changed or
// subtracted.
struct GainRange {
  results::GainMethod method = results::GAIN_METHOD_NOT_COMPUTED;
  int64_t low_ns = 0, high_ns = 0;
  Sentence change;
};

// Returns a gain of at most `ns`: so much time was subtracted. A part of the time may remain.
GainRange Bound(int64_t ns, Sentence change);
// Returns what the replay of the dependency graph says: a step is `ns` shorter if the change leaves
// nothing of the time. The change surely wins `least_part` of the gain.
GainRange Replayed(int64_t ns, Sentence change, double least_part = 0.7);
// Returns the gain of work that nothing hides for `exposed_ns`. `saved_ns` is what the replay
// says of a step without this work. It is 0 if it was not played, or if the file does not show what
// waits for the work. The low end follows from the replay. The high end is the exposed time: no
// step wins more, and it wins so much if the host keeps pace.
GainRange ExposedGain(int64_t saved_ns, int64_t exposed_ns, Sentence change);
// Returns a gain that the recording cannot tell.
GainRange NotComputed(Sentence change);

// Returns the step that all gains are of, or the recording where there are no steps (ns).
int64_t BaseOf(const AdviceFacts& facts);

// Sets the gain: at most the whole base. The severity follows from its high end.
void SetGain(const AdviceFacts& facts, const GainRange& gain, Finding* finding);
// Sets a gain that was not computed, where `share` of the base is known to be lost: the severity
// follows from that share.
void SetUnknownGain(const AdviceFacts& facts, Sentence change, double share, Finding* finding);

// Limits a gain of one rank: a step of the job is never shorter than what its slowest rank
// computes. What is said of the ranks themselves keeps its gain.
void LimitToRanks(const AdviceFacts& facts, Finding* finding);

// Returns whether the finding has a gain with a figure.
bool IsComputed(const Finding& finding);
// Returns the middle of the range, which findings are sorted by.
int64_t MiddleNs(const Finding& finding);
// Returns the high end. 0: no gain, or none that was computed.
int64_t HighNs(const Finding& finding);
double HighRatio(const Finding& finding);

}  // namespace gpuprof::analysis
