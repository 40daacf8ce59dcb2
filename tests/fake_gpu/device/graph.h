// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Graphs: built by hand or by capture, instantiated into a copy with ids of its own, launched.

#pragma once

#include "tests/fake_gpu/device/sink.h"

namespace fake_gpu {

CUgraph CreateGraph();
void DestroyGraph(CUgraph graph);
CUgraphNode AddNode(CUgraph graph, const Work& work, std::vector<CUgraphNode> dependencies,
                    CUgraphNode original = nullptr);
CUgraph CloneGraph(CUgraph graph);
CUgraphExec Instantiate(CUgraph graph);
// What the nodes do becomes what the graph's do, as far as that is like the one it was made of;
// their ids stay. False: it is not.
bool UpdateExec(CUgraphExec exec, CUgraph graph);
void DestroyExec(CUgraphExec exec);
CUresult Launch(CUgraphExec exec, CUstream stream);

CUresult BeginCapture(CUstream stream);
CUresult EndCapture(CUstream stream, CUgraph* graph);

// What Enqueue, RecordEvent and WaitForEvent become on a stream that is captured.
CUresult CaptureWork(const Work& work, CUstream stream);
CUresult CaptureRecord(CUevent event, CUstream stream);
CUresult CaptureWait(CUstream stream, CUevent event);

}  // namespace fake_gpu
