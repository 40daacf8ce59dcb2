// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See names.h.

#include "analysis/xprof/names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace gpuprof::analysis::xprof {
namespace {

template <typename Value>
using Entry = std::pair<std::string_view, Value>;

template <typename Value, size_t size>
Value Find(const std::array<Entry<Value>, size>& sorted, std::string_view name, Value none) {
  const auto at = std::lower_bound(
      sorted.begin(), sorted.end(), name,
      [](const Entry<Value>& entry, std::string_view wanted) { return entry.first < wanted; });
  return at != sorted.end() && at->first == name ? at->second : none;
}

template <typename Value, size_t size>
constexpr std::array<Entry<Value>, size> Sorted(std::array<Entry<Value>, size> entries) {
  std::sort(entries.begin(), entries.end(),
            [](const Entry<Value>& x, const Entry<Value>& y) { return x.first < y.first; });
  return entries;
}

constexpr auto kStats = Sorted(std::to_array<Entry<StatKey>>({
    {"id", StatKey::kStepId},
    {"iter_num", StatKey::kIterNum},
    {"step_num", StatKey::kStepNum},
    {"graph_type", StatKey::kGraphType},
    {"parent_id", StatKey::kParentId},
    {"element_id", StatKey::kElementId},
    {"_pt", StatKey::kProducerType},
    {"_p", StatKey::kProducerId},
    {"_ct", StatKey::kConsumerType},
    {"_c", StatKey::kConsumerId},
    {"_pid", StatKey::kConsumerPid},
    {"process_id", StatKey::kProcessId},
    {"_r", StatKey::kRoot},
    {"_a", StatKey::kAsync},
    {"correlation_id", StatKey::kCorrelationId},
    {"group_id", StatKey::kGroupId},
    {"step_name", StatKey::kStepName},
    {"is_eager", StatKey::kIsEager},
    {"is_func", StatKey::kIsFunc},
    {"tf_op", StatKey::kTfOp},
    {"hlo_op", StatKey::kHloOp},
    {"hlo_module", StatKey::kHloModule},
    {"program_id", StatKey::kProgramId},
    {"equation", StatKey::kEquation},
    {"shape", StatKey::kShape},
    {"kernel_details", StatKey::kKernelDetails},
    {"_ipl_stage_id", StatKey::kStageId},
    {"_ipl_stage_name", StatKey::kStageName},
    {"_ipl_stage_cat", StatKey::kStageCategory},
    {"flops", StatKey::kFlops},
    {"bytes_accessed", StatKey::kBytesAccessed},
    {"device_offset_ps", StatKey::kDeviceOffset},
    {"device_duration_ps", StatKey::kDeviceDuration},
    {"clock_rate", StatKey::kClockRate},
    {"core_count", StatKey::kCoreCount},
    {"memory_bandwidth", StatKey::kMemoryBandwidth},
    {"compute_cap_major", StatKey::kComputeMajor},
    {"compute_cap_minor", StatKey::kComputeMinor},
    {"device_vendor", StatKey::kDeviceVendor},
    {"gpu_device_name", StatKey::kGpuDeviceName},
    {"peak_teraflops_per_second", StatKey::kPeakTeraflops},
    {"peak_sram_rd_bw_gigabytes_per_second", StatKey::kPeakSramRead},
    {"peak_sram_wr_bw_gigabytes_per_second", StatKey::kPeakSramWrite},
    {"matrix_unit_utilization_percent", StatKey::kMxuUtilization},
    {"hbm_utilization_percent", StatKey::kHbmUtilization},
    {"Hlo Proto", StatKey::kHloProto},
    {"HLO Proto", StatKey::kHloProto},
    {"index_on_host", StatKey::kIndexOnHost},
    {"device_ordinal", StatKey::kDeviceOrdinal},
    {"allocator_name", StatKey::kAllocatorName},
    {"bytes_reserved", StatKey::kBytesReserved},
    {"bytes_allocated", StatKey::kBytesAllocated},
    {"bytes_available", StatKey::kBytesAvailable},
    {"fragmentation", StatKey::kFragmentation},
    {"peak_bytes_in_use", StatKey::kPeakBytesInUse},
    {"requested_bytes", StatKey::kRequestedBytes},
    {"allocation_bytes", StatKey::kAllocationBytes},
    {"addr", StatKey::kAddress},
    {"region_type", StatKey::kRegionType},
    {"data_type", StatKey::kDataType},
}));

// Names of kOther matter: an event with one of these names is neither a launch nor an execution,
// though it may have a correlation.
constexpr auto kEvents = Sorted(std::to_array<Entry<EventType>>({
    {"TraceContext", EventType::kTraceContext},
    {"SessionRun", EventType::kSessionRun},
    {"FunctionRun", EventType::kFunctionRun},
    {"RunGraph", EventType::kRunGraph},
    {"TfOpRun", EventType::kTfOpRun},
    {"EagerExecute", EventType::kEagerExecute},
    {"ExecutorState::Process", EventType::kExecutorProcess},
    {"InstantiatedCapturedFunction::Run", EventType::kCapturedFunction},
    {"InstantiatedCapturedFunction::RunWithBorrowedArgs", EventType::kCapturedFunction},
    {"InstantiatedCapturedFunction::RunInstantiated", EventType::kCapturedFunction},
    {"InstantiatedCapturedFunction::RunAsync", EventType::kCapturedFunction},
    {"ParallelForOp", EventType::kLoopOp},
    {"ForeverOp", EventType::kLoopOp},
    {"WhileOp-EvalCond", EventType::kLoopOp},
    {"WhileOp-StartBody", EventType::kLoopOp},
    {"ForOp", EventType::kLoopOp},
    {"IteratorGetNextOp::DoCompute", EventType::kIteratorGetNext},
    {"IteratorGetNextAsOptionalOp::DoCompute", EventType::kIteratorGetNextAsOptional},
    {"Iterator", EventType::kIterator},
    {"BatchingSessionRun", EventType::kBatchingSessionRun},
    {"ProcessBatch", EventType::kProcessBatch},
    {"OrbaxServing::ProcessBatch", EventType::kProcessBatch},
    {"KernelLaunch", EventType::kKernelLaunch},
    {"KernelExecute", EventType::kKernelExecute},
    {"UnknownHostEventType", EventType::kOther},
    {"RunGraphDone", EventType::kOther},
    {"ExecutorDoneCallback", EventType::kOther},
    {"MemoryAllocation", EventType::kOther},
    {"MemoryDeallocation", EventType::kOther},
    {"RemotePerfCounter", EventType::kOther},
    {"Iterator::Prefetch::Generator", EventType::kOther},
    {"PrefetchProduce", EventType::kOther},
    {"PrefetchConsume", EventType::kOther},
    {"ParallelInterleaveProduce", EventType::kOther},
    {"ParallelInterleaveConsume", EventType::kOther},
    {"ParallelInterleaveInitializeInput", EventType::kOther},
    {"ParallelMapProduce", EventType::kOther},
    {"ParallelMapConsume", EventType::kOther},
    {"MapAndBatchProduce", EventType::kOther},
    {"MapAndBatchConsume", EventType::kOther},
    {"ParseExampleProduce", EventType::kOther},
    {"ParseExampleConsume", EventType::kOther},
    {"ParallelBatchProduce", EventType::kOther},
    {"ParallelBatchConsume", EventType::kOther},
    {"BrainSessionRun", EventType::kOther},
    {"ConcatInputTensors", EventType::kOther},
    {"MergeInputTensors", EventType::kOther},
    {"ScheduleWithoutSplit", EventType::kOther},
    {"ScheduleWithSplit", EventType::kOther},
    {"ScheduleWithEagerSplit", EventType::kOther},
    {"ASBSQueue::Schedule", EventType::kOther},
    {"OrbaxServing::ConcatInputBuffers", EventType::kOther},
    {"TfrtModelRun", EventType::kOther},
    {"ServingModelRun", EventType::kOther},
    {"EnqueueRequestLocked", EventType::kOther},
    {"RunProgramRequest", EventType::kOther},
    {"HostCallbackRequest", EventType::kOther},
    {"TransferH2DRequest", EventType::kOther},
    {"TransferPreprocessedH2DRequest", EventType::kOther},
    {"TransferD2HRequest", EventType::kOther},
    {"OnDeviceSendRequest", EventType::kOther},
    {"OnDeviceRecvRequest", EventType::kOther},
    {"OnDeviceSendRecvLocalRequest", EventType::kOther},
    {"CustomWait", EventType::kOther},
    {"OnDeviceSendRequestMulti", EventType::kOther},
    {"OnDeviceRecvRequestMulti", EventType::kOther},
    {"PjrtAsyncWait", EventType::kOther},
    {"DoEnqueueProgram", EventType::kOther},
    {"DoEnqueueContinuationProgram", EventType::kOther},
    {"WriteHbm", EventType::kOther},
    {"ReadHbm", EventType::kOther},
    {"TpuExecuteOp", EventType::kOther},
    {"CompleteCallbacks", EventType::kOther},
    {"TPUPartitionedCallOp-InitializeVarOnTPU", EventType::kOther},
    {"TPUPartitionedCallOp-ExecuteRemote", EventType::kOther},
    {"TPUPartitionedCallOp-ExecuteLocal", EventType::kOther},
    {"Linearize", EventType::kOther},
    {"Delinearize", EventType::kOther},
    {"TransferBufferFromDevice-FastPath", EventType::kOther},
    {"tpu::System::TransferToDevice=>IssueEvent", EventType::kOther},
    {"tpu::System::TransferToDevice=>IssueEvent=>Done", EventType::kOther},
    {"tpu::System::TransferFromDevice=>IssueEvent", EventType::kOther},
    {"tpu::System::TransferFromDevice=>IssueEvent=>Done", EventType::kOther},
    {"tpu::System::Execute", EventType::kOther},
}));

}  // namespace

StatKey StatKeyOf(std::string_view name) { return Find(kStats, name, StatKey::kOther); }

EventType EventTypeOf(std::string_view name) { return Find(kEvents, name, EventType::kNone); }

}  // namespace gpuprof::analysis::xprof
