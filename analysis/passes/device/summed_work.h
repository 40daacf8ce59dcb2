// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The overview's figures of GPUs whose work was summed block by block (Trace::has_sums). One
// thread.

#pragma once

#include "analysis/passes/context.h"
#include "analysis/passes/device/used_devices.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/overview.pb.h"

namespace gpuprof::analysis {

// Fills how long the devices were busy, at least and at most. Blocks of one stream tell how long it
// was busy, but not when. Streams may be active at the same time. Then the device was busy at
// least as long as the busiest stream, and at most as long as all streams together.
void FillSummedUse(PassContext& context, const UsedDevices& devices, results::OverviewGpu* gpu);

// Fills the count, bytes and time of all copies and memsets.
void SumCopies(PassContext& context, results::Memcpy* out);

}  // namespace gpuprof::analysis
