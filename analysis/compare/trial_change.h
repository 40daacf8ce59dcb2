// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a measured change wins, from runs that are interleaved with those of the unchanged program.
// Pure; any thread.

#pragma once

#include <optional>

#include "proto/results/trials.pb.h"

namespace gpuprof::analysis {

// Compares runs of the same rounds: 1 - changed / unchanged, of the mean step, or of the run's time
// if a run has no steps. The interval of 95 % is Student's t of the rounds. None: fewer than two
// rounds, or a run without a time.
std::optional<results::TrialChange> ChangeOf(
    const google::protobuf::RepeatedPtrField<results::TrialRun>& unchanged,
    const google::protobuf::RepeatedPtrField<results::TrialRun>& changed);

}  // namespace gpuprof::analysis
