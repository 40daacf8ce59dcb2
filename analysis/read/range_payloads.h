// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the range or mark of each extended payload of NVTX, and reads the payload's values. A
// payload is on the track of the thread that gave it, at the moment at which its range begins or
// ends.

#pragma once

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Fills range_value of every track, and empties range_payload. A range without a message gets the
// message of its payload. Values that cannot be read are added to the process's losses.
void ReadRangePayloads(Process* process);

}  // namespace gpuprof::analysis
