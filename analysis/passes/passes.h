// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The passes: one function each, and parts of them that the overview shows too. Called by Run()
// with a prepared context.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"
#include "proto/results/api.pb.h"
#include "proto/results/counters.pb.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/graphs.pb.h"
#include "proto/results/health.pb.h"
#include "proto/results/heap.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/nvtx.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/overhead.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/stacks.pb.h"
#include "proto/results/steps.pb.h"
#include "proto/results/streams.pb.h"
#include "proto/results/sync.pb.h"
#include "proto/results/threads.pb.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {

Error RunOverview(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunSteps(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunOps(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunKernels(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunMemcpy(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunDeviceMemory(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunApi(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunSync(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunGraphs(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunOverhead(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunUnifiedMemory(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunStreams(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunNvtx(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunCounters(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunHeap(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunLocks(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunStacks(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunThreads(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunHealth(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);

// Rows without meta. Medians cost a copy of every duration; without, they are left at 0.
enum class OpGrouping { kName, kProcess, kThread };
void ComputeOps(PassContext& context, OpGrouping grouping, bool medians, results::Ops* out);

// Without names: frames hold only addresses until NameLock is called for a row.
void ComputeLocks(PassContext& context, results::Locks* out, std::vector<size_t>* process_of_row,
                  std::vector<uint32_t>* stack_of_row);
void NameLock(PassContext& context, size_t process, uint32_t stack, results::Lock* lock);
// Edges, holders and intervals; the meta tells the window.
void FillWaitGraph(PassContext& context, results::Locks* out);
void FillDeadlocks(PassContext& context, results::Locks* out);
// Of a proto::ApiFunction, without the release that CUPTI puts behind the runtime's names.
std::string ApiFunctionName(const Process& process, uint32_t function);
// As it was called last; its number when it has no name.
std::string ThreadName(const Process& process, int32_t tid);
// Of a thread that a lock told of: a lock between processes may be held by one of another.
std::string HolderName(const Trace& trace, const Process& process, int32_t tid);
// The process of that thread: `process` where none is known to have it.
const Process& HolderProcess(const Trace& trace, const Process& process, int32_t tid);

// Appends one process's rows, unnamed: stacks hold only their ids.
void ComputeHeap(PassContext& context, size_t index, results::Heap* out);
void NameHeapStack(PassContext& context, size_t process, results::HeapStack* stack);
void ComputeTensors(PassContext& context, size_t index, results::Heap* out);
void ComputeMappings(PassContext& context, size_t index, results::Heap* out);

// Rows and sums without meta: kernels by name, copies by direction.
void ComputeKernels(PassContext& context, results::Kernels* out);
void ComputeMemcpy(PassContext& context, results::Memcpy* out);

// What GPUs did, where they did anything.
void FillOverviewGpu(PassContext& context, results::Overview* out);

// What the samplers of hardware counters read, and, `with_notes`, what was in their way.
void AddSamplers(const Trace& trace, bool with_notes, results::Meta* meta);

// The weights that stacks can be folded by.
std::vector<std::string_view> StackWeightKeys();

// What the hooks of heap and mapping events took from a process's threads, stacks included:
// estimated from those that were timed. low_ns to high_ns: 95 % confidence.
struct HookCost {
  uint64_t count = 0;
  int64_t ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};
HookCost HookCostOf(const Process& process);
// What the recorder does once is no share of a shorter capture (ns).
inline constexpr int64_t kLeastForShares = 10'000'000;
// What was spent in the program's threads by an estimate, but at most the processor time that the
// process had besides our own threads: some of what was timed may have stood still.
int64_t WithinProcessorTime(const Process& process, int64_t estimate_ns);
// Whether its recorder noted what it had spent; else zeros in its health are none.
bool IsCostKnown(const Process& process);

// What a process is in the run: training, inference, loader_worker, helper, program.
std::string RoleOf(PassContext& context, size_t index);
// How it ended, in words.
std::string EndOf(const Process& process);

}  // namespace gpuprof::analysis
