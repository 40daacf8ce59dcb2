// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The passes: one function each, and parts of them that the overview shows too. Called by Run()
// with a prepared context.

#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "analysis/derived/call_name.h"
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

class CallStackTable;
struct Finding;

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
Error RunRanges(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunCounters(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunHeap(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunLocks(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunStacks(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunAdvise(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunCriticalPath(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunCommunication(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunStragglers(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunOverlap(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunFlightRecorder(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunIdle(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunFiles(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunServing(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunRoofline(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunOpProfile(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunGraphViewer(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunMemoryViewer(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunMemoryProfile(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunInputPipeline(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunTfData(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunPods(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunPython(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunThreads(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);
Error RunHealth(PassContext& context, std::unique_ptr<google::protobuf::Message>* result);

// Returns the result of the pass `overview`, without short names. It stays until an overview with
// other options is asked for.
const results::Overview& OverviewOf(PassContext& context);
// Returns what the overview and `advise` tell, the greatest gain first. The registry puts it into
// words, and into the results of both.
const std::vector<Finding>& FindingsOf(PassContext& context);

// Rows without meta. Medians cost a copy of every duration; without, they are left at 0.
enum class OpGrouping { kName, kType, kShape, kCategory, kProcess, kThread };
void ComputeOps(PassContext& context, OpGrouping grouping, bool medians, results::Ops* out);

// Computes locks without names and stacks: the caller is an address until NameLock is called for a
// row.
void ComputeLocks(PassContext& context, results::Locks* out, std::vector<size_t>* process_of_row,
                  std::vector<uint32_t>* stack_of_row);
void NameLock(PassContext& context, size_t process, uint32_t stack, results::Lock* lock,
              CallStackTable* table);
// Fills edges, holders and intervals. The meta holds the window.
void FillWaitGraph(PassContext& context, results::Locks* out);
void FillDeadlocks(PassContext& context, results::Locks* out, CallStackTable* table);
// Returns the thread's last name, or its number if it has no name.
std::string ThreadName(const Process& process, int32_t tid);
// Returns the name of a thread that a lock reported. A lock between processes may be held by
// another process's thread.
std::string HolderName(const Trace& trace, const Process& process, int32_t tid);
// Returns the process of that thread, or `process` if no process is known to have the thread.
const Process& HolderProcess(const Trace& trace, const Process& process, int32_t tid);

// Appends one process's rows, unnamed: stacks hold only their ids.
void ComputeHeap(PassContext& context, size_t index, results::Heap* out);
void NameHeapStack(size_t process, results::HeapStack* stack, CallStackTable* table);
void ComputeTensors(PassContext& context, size_t index, results::Heap* out);
void ComputeMappings(PassContext& context, size_t index, results::Heap* out);

// Returns rows and sums of kernels by name, without meta.
const results::Kernels& KernelsByName(PassContext& context);
// Computes rows and sums of copies by direction, without meta.
void ComputeMemcpy(PassContext& context, results::Memcpy* out);

// Fills in the work of the GPUs, if they did any work.
void FillOverviewGpu(PassContext& context, results::Overview* out);

// Adds the files and losses of the samplers of hardware counters, and `with_notes` their notes.
void AddSamplers(const Trace& trace, bool with_notes, results::Meta* meta);

// Returns the weights that stacks can be folded by.
std::vector<std::string_view> StackWeightKeys();

// Describes how a process ended.
std::string EndOf(const Process& process);

}  // namespace gpuprof::analysis
