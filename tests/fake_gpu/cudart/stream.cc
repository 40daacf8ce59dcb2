// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Streams, events and graphs.

#include "tests/fake_gpu/cudart/runtime.h"

using fake_gpu_cudart::Address;
using fake_gpu_cudart::Own;
using fake_gpu_cudart::TheDriver;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  RUNTIME_CALL(cudaStreamCreate, 3020, stream);
  NEED_READY();
  FORWARD(TheDriver().cuStreamCreate(stream, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  RUNTIME_CALL(cudaStreamCreateWithFlags, 5000, stream, flags);
  NEED_READY();
  FORWARD(TheDriver().cuStreamCreate(stream, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  RUNTIME_CALL(cudaStreamCreateWithPriority, 5050, stream, flags, priority);
  NEED_READY();
  FORWARD(TheDriver().cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamDestroy, 5050, stream);
  NEED_READY();
  FORWARD(TheDriver().cuStreamDestroy_v2(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamSynchronize, 3020, stream);
  NEED_READY();
  FORWARD(TheDriver().cuStreamSynchronize(stream));
}

extern "C" cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamSynchronize_ptsz, 7000, stream);
  NEED_READY();
  FORWARD(TheDriver().cuStreamSynchronize(Own(stream)));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  RUNTIME_CALL(cudaStreamQuery, 3020, stream);
  NEED_READY();
  FORWARD(TheDriver().cuStreamQuery(stream));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  RUNTIME_CALL(cudaStreamGetPriority, 5050, stream, priority);
  NEED_READY();
  FORWARD(TheDriver().cuStreamGetPriority(stream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  RUNTIME_CALL(cudaStreamGetFlags, 5050, stream, flags);
  NEED_READY();
  FORWARD(TheDriver().cuStreamGetFlags(stream, flags));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  RUNTIME_CALL(cudaStreamWaitEvent, 3020, stream, event, flags);
  NEED_READY();
  FORWARD(TheDriver().cuStreamWaitEvent(stream, event, flags));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  RUNTIME_CALL(cudaLaunchHostFunc, 10000, stream, function, data);
  NEED_READY();
  FORWARD(TheDriver().cuLaunchHostFunc(stream, function, data));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  RUNTIME_CALL(cudaEventCreate, 3020, event);
  NEED_READY();
  FORWARD(TheDriver().cuEventCreate(event, 0));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  RUNTIME_CALL(cudaEventCreateWithFlags, 3020, event, flags);
  NEED_READY();
  FORWARD(TheDriver().cuEventCreate(event, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  RUNTIME_CALL(cudaEventDestroy, 3020, event);
  NEED_READY();
  FORWARD(TheDriver().cuEventDestroy_v2(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  RUNTIME_CALL(cudaEventRecord, 3020, event, stream);
  NEED_READY();
  FORWARD(TheDriver().cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  RUNTIME_CALL(cudaEventRecordWithFlags, 11010, event, stream, flags);
  NEED_READY();
  FORWARD(TheDriver().cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  RUNTIME_CALL(cudaEventSynchronize, 3020, event);
  NEED_READY();
  FORWARD(TheDriver().cuEventSynchronize(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  RUNTIME_CALL(cudaEventQuery, 3020, event);
  NEED_READY();
  FORWARD(TheDriver().cuEventQuery(event));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  RUNTIME_CALL(cudaEventElapsedTime, 12080, milliseconds, start, end);
  NEED_READY();
  FORWARD(TheDriver().cuEventElapsedTime_v2(milliseconds, start, end));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  RUNTIME_CALL(cudaStreamBeginCapture, 10000, stream, mode);
  NEED_READY();
  FORWARD(TheDriver().cuStreamBeginCapture_v2(stream, static_cast<CUstreamCaptureMode>(mode)));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  RUNTIME_CALL(cudaStreamEndCapture, 10000, stream, graph);
  NEED_READY();
  FORWARD(TheDriver().cuStreamEndCapture(stream, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  RUNTIME_CALL(cudaStreamIsCapturing, 10000, stream, status);
  NEED_READY();
  CUstreamCaptureStatus found{};
  const CUresult result = TheDriver().cuStreamIsCapturing(stream, &found);
  *status = static_cast<cudaStreamCaptureStatus>(found);
  FORWARD(result);
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  RUNTIME_CALL(cudaGraphCreate, 10000, graph, flags);
  NEED_READY();
  FORWARD(TheDriver().cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  RUNTIME_CALL(cudaGraphDestroy, 10000, graph);
  NEED_READY();
  FORWARD(TheDriver().cuGraphDestroy(graph));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaKernelNodeParams* kernel) {
  RUNTIME_CALL(cudaGraphAddKernelNode, 10000, node, graph, dependencies, count, kernel);
  NEED_READY();
  CUfunction function = fake_gpu_cudart::FunctionOf(kernel->func);
  if (function == nullptr) FORWARD(CUDA_ERROR_INVALID_HANDLE);
  CUDA_KERNEL_NODE_PARAMS driver{};
  driver.func = function;
  driver.gridDimX = kernel->gridDim.x;
  driver.gridDimY = kernel->gridDim.y;
  driver.gridDimZ = kernel->gridDim.z;
  driver.blockDimX = kernel->blockDim.x;
  driver.blockDimY = kernel->blockDim.y;
  driver.blockDimZ = kernel->blockDim.z;
  driver.sharedMemBytes = kernel->sharedMemBytes;
  driver.kernelParams = kernel->kernelParams;
  FORWARD(TheDriver().cuGraphAddKernelNode_v2(node, graph, dependencies, count, &driver));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count, void* to,
                                     const void* from, size_t bytes, cudaMemcpyKind kind) {
  RUNTIME_CALL(cudaGraphAddMemcpyNode1D, 11010, node, graph, dependencies, count, to, from, bytes,
               kind);
  NEED_READY();
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = Address(from);
  copy.dstDevice = Address(to);
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  FORWARD(TheDriver().cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy,
                                           fake_gpu::current_context));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const cudaMemsetParams* set) {
  RUNTIME_CALL(cudaGraphAddMemsetNode, 10000, node, graph, dependencies, count, set);
  NEED_READY();
  const CUDA_MEMSET_NODE_PARAMS driver{Address(set->dst), set->pitch, set->value,
                                       set->elementSize,  set->width, set->height};
  FORWARD(TheDriver().cuGraphAddMemsetNode(node, graph, dependencies, count, &driver,
                                           fake_gpu::current_context));
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  RUNTIME_CALL(cudaGraphClone, 10000, clone, graph);
  NEED_READY();
  FORWARD(TheDriver().cuGraphClone(clone, graph));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  RUNTIME_CALL(cudaGraphAddChildGraphNode, 10000, node, graph, dependencies, count, child);
  NEED_READY();
  FORWARD(TheDriver().cuGraphAddChildGraphNode(node, graph, dependencies, count, child));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  RUNTIME_CALL(cudaGraphExecUpdate, 10020, exec, graph, info);
  NEED_READY();
  CUgraphExecUpdateResultInfo found{};
  const CUresult result = TheDriver().cuGraphExecUpdate_v2(exec, graph, &found);
  info->result = static_cast<cudaGraphExecUpdateResult>(found.result);
  info->errorNode = found.errorNode;
  info->errorFromNode = found.errorFromNode;
  FORWARD(result);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  RUNTIME_CALL(cudaGraphInstantiate, 12000, exec, graph, flags);
  NEED_READY();
  FORWARD(TheDriver().cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  RUNTIME_CALL(cudaGraphUpload, 10000, exec, stream);
  NEED_READY();
  FORWARD(TheDriver().cuGraphUpload(exec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  RUNTIME_CALL(cudaGraphLaunch, 10000, exec, stream);
  NEED_READY();
  FORWARD(TheDriver().cuGraphLaunch(exec, stream));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  RUNTIME_CALL(cudaGraphExecDestroy, 10000, exec);
  NEED_READY();
  FORWARD(TheDriver().cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  RUNTIME_CALL(cudaGraphGetNodes, 10000, graph, nodes, count);
  NEED_READY();
  FORWARD(TheDriver().cuGraphGetNodes(graph, nodes, count));
}
