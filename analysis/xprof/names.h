// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names of stats and of host events that XProf's pages give a meaning to. Pure functions, any
// thread. Source: the schema of XPlanes in openxla/xla, as XProf 2.24.0 uses it.

#pragma once

#include <cstdint>
#include <string_view>

namespace gpuprof::analysis::xprof {

enum class StatKey : uint8_t {
  kOther,
  kStepId,           // "id"
  kIterNum,          // "iter_num"
  kStepNum,          // "step_num"
  kGraphType,        // "graph_type"
  kParentId,         // "parent_id"
  kElementId,        // "element_id"
  kProducerType,     // "_pt"
  kProducerId,       // "_p"
  kConsumerType,     // "_ct"
  kConsumerId,       // "_c"
  kConsumerPid,      // "_pid"
  kProcessId,        // "process_id"
  kRoot,             // "_r"
  kAsync,            // "_a"
  kCorrelationId,    // "correlation_id"
  kGroupId,          // "group_id"
  kStepName,         // "step_name"
  kIsEager,          // "is_eager"
  kIsFunc,           // "is_func"
  kTfOp,             // "tf_op"
  kHloOp,            // "hlo_op"
  kHloModule,        // "hlo_module"
  kProgramId,        // "program_id"
  kEquation,         // "equation"
  kShape,            // "shape"
  kKernelDetails,    // "kernel_details"
  kStageId,          // "_ipl_stage_id"
  kStageName,        // "_ipl_stage_name"
  kStageCategory,    // "_ipl_stage_cat"
  kFlops,            // "flops"
  kBytesAccessed,    // "bytes_accessed"
  kDeviceOffset,     // "device_offset_ps"
  kDeviceDuration,   // "device_duration_ps"
  kClockRate,        // "clock_rate"
  kCoreCount,        // "core_count"
  kMemoryBandwidth,  // "memory_bandwidth"
  kComputeMajor,     // "compute_cap_major"
  kComputeMinor,     // "compute_cap_minor"
  kDeviceVendor,     // "device_vendor"
  kGpuDeviceName,    // "gpu_device_name"
  kPeakTeraflops,    // "peak_teraflops_per_second"
  kPeakSramRead,     // "peak_sram_rd_bw_gigabytes_per_second"
  kPeakSramWrite,    // "peak_sram_wr_bw_gigabytes_per_second"
  kMxuUtilization,   // "matrix_unit_utilization_percent"
  kHbmUtilization,   // "hbm_utilization_percent"
  kHloProto,         // "Hlo Proto", and "HLO Proto" of older files
  kIndexOnHost,      // "index_on_host"
  kDeviceOrdinal,    // "device_ordinal"
  kAllocatorName,    // "allocator_name"
  kBytesReserved,    // "bytes_reserved"
  kBytesAllocated,   // "bytes_allocated"
  kBytesAvailable,   // "bytes_available"
  kFragmentation,    // "fragmentation"
  kPeakBytesInUse,   // "peak_bytes_in_use"
  kRequestedBytes,   // "requested_bytes"
  kAllocationBytes,  // "allocation_bytes"
  kAddress,          // "addr"
  kRegionType,       // "region_type"
  kDataType,         // "data_type"
};
StatKey StatKeyOf(std::string_view name);

// What an event of a host is, by its name. kNone: the name says nothing.
enum class EventType : uint8_t {
  kNone,
  kOther,  // a name that XProf knows, without a meaning for these pages
  kTraceContext,
  kSessionRun,
  kFunctionRun,
  kRunGraph,
  kTfOpRun,
  kEagerExecute,
  kExecutorProcess,
  kCapturedFunction,  // a function of tf.data runs
  kLoopOp,            // a loop of TensorFlow 1
  kIteratorGetNext,
  kIteratorGetNextAsOptional,
  kIterator,
  kBatchingSessionRun,
  kProcessBatch,
  kKernelLaunch,   // also: an event of a host that has a correlation
  kKernelExecute,  // also: an event of a device that has a correlation
};
// Knows whole names. Names of operations, "name:Type", are not in the table.
EventType EventTypeOf(std::string_view name);

}  // namespace gpuprof::analysis::xprof
