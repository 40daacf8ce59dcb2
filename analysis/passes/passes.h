// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The passes: one function each, and parts of them that the overview shows too. Called by Run()
// with a prepared context.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "analysis/passes/context.h"

namespace gpuprof::results {
class Heap;
class HeapStack;
class Kernels;
class Lock;
class Locks;
class Memcpy;
class Meta;
class Ops;
class Overview;
}  // namespace gpuprof::results

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

// Computes locks without names: frames hold only addresses until NameLock is called for a row.
void ComputeLocks(PassContext& context, results::Locks* out, std::vector<size_t>* process_of_row,
                  std::vector<uint32_t>* stack_of_row);
void NameLock(PassContext& context, size_t process, uint32_t stack, results::Lock* lock);
// Fills edges, holders and intervals. The meta holds the window.
void FillWaitGraph(PassContext& context, results::Locks* out);
void FillDeadlocks(PassContext& context, results::Locks* out);
// Returns the name of a proto::ApiFunction, without the release that CUPTI adds to the runtime's
// names.
std::string ApiFunctionName(const Process& process, uint32_t function);
// Returns the thread's last name, or its number if it has no name.
std::string ThreadName(const Process& process, int32_t tid);
// Returns the name of a thread that a lock reported. A lock between processes may be held by
// another process's thread.
std::string HolderName(const Trace& trace, const Process& process, int32_t tid);
// Returns the process of that thread, or `process` if no process is known to have the thread.
const Process& HolderProcess(const Trace& trace, const Process& process, int32_t tid);

// Appends one process's rows, unnamed: stacks hold only their ids.
void ComputeHeap(PassContext& context, size_t index, results::Heap* out);
void NameHeapStack(PassContext& context, size_t process, results::HeapStack* stack);
void ComputeTensors(PassContext& context, size_t index, results::Heap* out);
void ComputeMappings(PassContext& context, size_t index, results::Heap* out);

// Computes rows and sums without meta: kernels by name, copies by direction.
void ComputeKernels(PassContext& context, results::Kernels* out);
void ComputeMemcpy(PassContext& context, results::Memcpy* out);

// Fills in the work of the GPUs, if they did any work.
void FillOverviewGpu(PassContext& context, results::Overview* out);

// Adds the files and losses of the samplers of hardware counters, and `with_notes` their notes.
void AddSamplers(const Trace& trace, bool with_notes, results::Meta* meta);

// Returns the weights that stacks can be folded by.
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
// The recorder's fixed costs are not shown as a share of a shorter capture (ns).
inline constexpr int64_t kLeastForShares = 10'000'000;
// Limits an estimate of the time in the program's threads to their processor time. The processor
// time excludes gpuprof's own threads. Some of the timed code may have been waiting.
int64_t WithinProcessorTime(const Process& process, int64_t estimate_ns);
// Returns whether the process's recorder noted its own cost. Otherwise zeros in its health mean
// nothing.
bool IsCostKnown(const Process& process);

// Returns the role of a process in the run: training, inference, loader_worker, helper, program.
std::string RoleOf(PassContext& context, size_t index);
// Describes how a process ended.
std::string EndOf(const Process& process);

}  // namespace gpuprof::analysis
