// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's part about the devices themselves: their names and sizes, and their hardware
// counters. One thread.

#pragma once

#include "analysis/passes/context.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Lists the devices of the selected processes. A device with a uuid is listed once, however many
// processes used it.
void FillDevices(const PassContext& context, results::OverviewEnvironment* environment);

// Fills how active the units of the verdict's device were, over the counted steps of its process,
// or over the recording without steps. PM sampling goes before GPM.
void FillActivity(PassContext& context, results::Verdict* verdict);

}  // namespace gpuprof::analysis
