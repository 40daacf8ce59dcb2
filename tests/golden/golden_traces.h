// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The hand-made traces whose results are kept as expected text. Each is small enough to be checked
// by eye. Test code only.

#pragma once

#include <string>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis::test {

struct GoldenTrace {
  std::string name;
  Trace trace;
};

// training: two epochs with two loader workers, sampled heap, tensors, a contended mutex.
// server: no steps, exact heap, threads that come and go, a wait that never ends.
// graphs: launches of CUDA graphs by their nodes and as wholes.
// service: Python whose threads were sampled: busy functions, waits for the GIL, a peer, a pool.
// damaged: lost records, a cut file, a killed process, operations still open.
std::vector<GoldenTrace> MakeGoldenTraces();

}  // namespace gpuprof::analysis::test
