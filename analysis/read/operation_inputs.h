// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Gives operations of PyTorch what gpuprof recorded of their inputs, in short windows. A row of
// op_value has it as a text, at the start of its operation. For the loader of events, on one
// thread.

#pragma once

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Makes the column `detail` of operations, in tracks with inputs. The column is lazy: it reads the
// times of a segment's operations when somebody reads the segment.
void JoinOperationInputs(Process* process);

}  // namespace gpuprof::analysis
