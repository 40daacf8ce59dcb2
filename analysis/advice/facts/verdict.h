// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What bounds a program, by the time of its busiest device: for the passes `overview` and `advise`.
// One thread.

#pragma once

#include <cstddef>
#include <optional>

#include "analysis/advice/facts/device_facts.h"
#include "analysis/passes/context.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Fills the verdict, the devices' steps and the steps a second. Returns what rules about devices
// look at. None: no work of a device was recorded.
std::optional<DeviceFacts> FillVerdict(PassContext& context, results::Overview* out);

}  // namespace gpuprof::analysis
