// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Graphs.

#include "tests/fake_gpu/device/graph.h"

#include "tests/fake_gpu/cuda/driver.h"
#include "tests/fake_gpu/device/memory.h"
#include "tests/fake_gpu/device/work.h"

namespace {

using fake_gpu::Work;

CUresult Add(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
             const Work& work) {
  if (graph == nullptr || !graph->alive.load()) return CUDA_ERROR_INVALID_VALUE;
  *node = fake_gpu::AddNode(graph, work, {dependencies, dependencies + count});
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  DRIVER_CALL(cuGraphCreate, graph, flags);
  *graph = fake_gpu::CreateGraph();
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  DRIVER_CALL(cuGraphDestroy, graph);
  if (graph == nullptr || !graph->alive.load()) return call.End(CUDA_ERROR_INVALID_VALUE);
  fake_gpu::DestroyGraph(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  DRIVER_CALL(cuGraphClone, clone, graph);
  *clone = fake_gpu::CloneGraph(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* kernel) {
  DRIVER_CALL(cuGraphAddKernelNode_v2, node, graph, dependencies, count, kernel);
  Work work;
  work.type = Work::Type::kKernel;
  work.kernel = {.function = kernel->func != nullptr ? kernel->func : &kernel->kern->function,
                 .grid = {kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ},
                 .block = {kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ},
                 .dynamic_smem = kernel->sharedMemBytes};
  return call.End(Add(node, graph, dependencies, count, work));
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMCPY3D* copy, CUcontext context) {
  DRIVER_CALL(cuGraphAddMemcpyNode, node, graph, dependencies, count, copy, context);
  const void* from = copy->srcMemoryType == CU_MEMORYTYPE_HOST
                         ? copy->srcHost
                         : fake_gpu_cuda::PointerOf<const void>(copy->srcDevice);
  void* to = copy->dstMemoryType == CU_MEMORYTYPE_HOST ? copy->dstHost
                                                       : fake_gpu_cuda::PointerOf(copy->dstDevice);
  return call.End(
      Add(node, graph, dependencies, count, fake_gpu::CopyOf(to, from, copy->WidthInBytes, true)));
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* set, CUcontext context) {
  DRIVER_CALL(cuGraphAddMemsetNode, node, graph, dependencies, count, set, context);
  void* to = fake_gpu_cuda::PointerOf(set->dst);
  Work work;
  work.type = Work::Type::kSet;
  work.set = {
      to,  set->value, set->elementSize, set->width, static_cast<uint8_t>(fake_gpu::SpaceOf(to)),
      true};
  return call.End(Add(node, graph, dependencies, count, work));
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS* host) {
  DRIVER_CALL(cuGraphAddHostNode, node, graph, dependencies, count, host);
  Work work;
  work.type = Work::Type::kHost;
  work.host = {host->fn, host->userData};
  return call.End(Add(node, graph, dependencies, count, work));
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t count) {
  DRIVER_CALL(cuGraphAddEmptyNode, node, graph, dependencies, count);
  return call.End(Add(node, graph, dependencies, count, {}));
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t count, CUgraph child) {
  DRIVER_CALL(cuGraphAddChildGraphNode, node, graph, dependencies, count, child);
  Work work;
  work.type = Work::Type::kChild;
  const CUresult result = Add(node, graph, dependencies, count, work);
  if (result == CUDA_SUCCESS) (*node)->child = fake_gpu::CloneGraph(child);
  return call.End(result);
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  DRIVER_CALL(cuGraphGetNodes, graph, nodes, count);
  const std::lock_guard lock(graph->mutex);
  if (nodes != nullptr) {
    for (size_t i = 0; i < *count && i < graph->nodes.size(); ++i) nodes[i] = graph->nodes[i];
  }
  *count = graph->nodes.size();
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  DRIVER_CALL(cuGraphInstantiateWithFlags, exec, graph, flags);
  if (graph == nullptr || !graph->alive.load()) return call.End(CUDA_ERROR_INVALID_VALUE);
  *exec = fake_gpu::Instantiate(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  DRIVER_CALL(cuGraphExecUpdate_v2, exec, graph, info);
  if (exec == nullptr || !exec->alive.load() || graph == nullptr || !graph->alive.load())
    return call.End(CUDA_ERROR_INVALID_VALUE);
  const bool updated = fake_gpu::UpdateExec(exec, graph);
  *info = {updated ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
           nullptr, nullptr};
  return call.End(updated ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  DRIVER_CALL(cuGraphUpload, exec, stream);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  DRIVER_CALL(cuGraphLaunch, exec, stream);
  return call.End(fake_gpu::Launch(exec, fake_gpu::Resolve(stream, fake_gpu::current_context)));
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  DRIVER_CALL(cuGraphExecDestroy, exec);
  if (exec == nullptr || !exec->alive.load()) return call.End(CUDA_ERROR_INVALID_VALUE);
  fake_gpu::DestroyExec(exec);
  return CUDA_SUCCESS;
}
