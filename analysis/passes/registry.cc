// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See registry.h; holds the public function Passes too.

#include "analysis/passes/registry.h"

#include <google/protobuf/message.h>

#include "analysis/passes/passes.h"
#include "analysis/render/finding_words.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/advice.pb.h"
#include "proto/results/api.pb.h"
#include "proto/results/baseline.pb.h"
#include "proto/results/communication.pb.h"
#include "proto/results/counters.pb.h"
#include "proto/results/critical_path.pb.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/diff.pb.h"
#include "proto/results/files.pb.h"
#include "proto/results/flight_recorder.pb.h"
#include "proto/results/graph_viewer.pb.h"
#include "proto/results/graphs.pb.h"
#include "proto/results/health.pb.h"
#include "proto/results/heap.pb.h"
#include "proto/results/idle.pb.h"
#include "proto/results/input_pipeline.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/locks.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/memory_profile.pb.h"
#include "proto/results/memory_viewer.pb.h"
#include "proto/results/op_profile.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/overhead.pb.h"
#include "proto/results/overlap.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/pods.pb.h"
#include "proto/results/python.pb.h"
#include "proto/results/ranges.pb.h"
#include "proto/results/roofline.pb.h"
#include "proto/results/serving.pb.h"
#include "proto/results/stacks.pb.h"
#include "proto/results/steps.pb.h"
#include "proto/results/stragglers.pb.h"
#include "proto/results/streams.pb.h"
#include "proto/results/sync.pb.h"
#include "proto/results/tf_data.pb.h"
#include "proto/results/threads.pb.h"
#include "proto/results/trials.pb.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {
namespace {

using Kind = proto::ChunkKind;

const TableSet kWork = {Kind::kKernel, Kind::kMemcpy, Kind::kMemset, Kind::kGraphLaunch};
const TableSet kLaunchedWork = kWork | TableSet{Kind::kApi};
const TableSet kSteps = {Kind::kOp, Kind::kWait};
// What tells the operations that launched work, and the steps.
const TableSet kOwners = kSteps | TableSet::CallIds() | TableSet{Kind::kApi, Kind::kLaunch};
// What tells why a device waited.
const TableSet kHostWork =
    kLaunchedWork | kSteps |
    TableSet{Kind::kPython, Kind::kOverhead, Kind::kLaunch, Kind::kHostFunction};

// Runs a pass that tells findings, and puts them into words.
template <typename Result, Error (*kRun)(PassContext&, std::unique_ptr<google::protobuf::Message>*)>
Error WithFindings(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  if (Error error = kRun(context, result)) return error;
  const std::string word = DeviceWord(OverviewOf(context));
  for (const Finding& finding : FindingsOf(context))
    *static_cast<Result&>(**result).add_findings() = FindingInWords(finding, word);
  return {};
}

// Runs a pass that gives verdicts, and puts them into words.
template <typename Result, Error (*kRun)(PassContext&, std::unique_ptr<google::protobuf::Message>*)>
Error WithVerdicts(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  if (Error error = kRun(context, result)) return error;
  SayVerdicts(static_cast<Result*>(result->get()));
  return {};
}

}  // namespace

const std::vector<PassEntry>& PassTable() {
  static const std::vector<PassEntry> table = {
      {{"overview", "Time and memory of the run, and what to try"},
       WithFindings<results::Overview, RunOverview>,
       results::Overview::descriptor,
       "steps.categories",
       TableSet::All()},
      {{"advise", "What bounds the program, and what to try first"},
       WithFindings<results::Advice, RunAdvise>,
       results::Advice::descriptor,
       "findings",
       TableSet::All()},
      {{"steps", "Each step: what the host and each GPU did in it, and why the GPU had no work"},
       RunSteps,
       results::Steps::descriptor,
       "steps",
       kSteps,
       kWork | kHostWork},
      {{"ops",
        "Framework operations: time of the host and of GPUs, eager or compiled, by name, type, "
        "shape, category or module",
        {"name", "type", "shape", "category", "module", "instance", "process", "thread"}},
       RunOps,
       results::Ops::descriptor,
       "ops",
       {Kind::kOp},
       kLaunchedWork},
      {{"kernels",
        "Kernels on the GPU: count, total, mean, by name, launch configuration, stream, operation "
        "or family",
        {"name", "signature", "stream", "op", "family"}},
       RunKernels,
       results::Kernels::descriptor,
       "kernels",
       kWork,
       TableSet::CallIds() | TableSet{Kind::kOp, Kind::kOpValue}},
      {{"roofline",
        "Rates of operations and categories, what bounds them, and what the device lets them "
        "reach"},
       RunRoofline,
       results::Roofline::descriptor,
       "operations",
       {Kind::kKernel},
       kOwners},
      {{"op_profile",
        "Time of devices as a tree of programs, categories and operations, with their use of the "
        "peaks",
        {"program", "category"}},
       RunOpProfile,
       results::OpProfile::descriptor,
       "rows",
       kWork,
       kOwners},
      {{"serving",
        "Iterations of a server of language models: prefill and decode, tokens, and bubbles "
        "between "
        "forwards",
        {"phase", "batch"}},
       RunServing,
       results::Serving::descriptor,
       "iterations",
       kSteps,
       kWork | kHostWork},
      {{"memcpy",
        "Copies and memsets on the GPU: bytes, time, speed, by direction, stream or size",
        {"direction", "stream", "size"}},
       RunMemcpy,
       results::Memcpy::descriptor,
       "copies",
       kWork,
       {Kind::kApi}},
      {{"device_memory",
        "Memory allocated through CUDA: peak, still live, pools, by kind, device, pool, size or "
        "stream",
        {"kind", "device", "pool", "size", "stream"}},
       RunDeviceMemory,
       results::DeviceMemory::descriptor,
       "uses",
       {Kind::kDeviceMemory, Kind::kMemoryPool},
       kSteps | TableSet{Kind::kApi}},
      {{"unified_memory",
        "Managed memory: migrations, page faults, thrashing, by kind or device (--trace um)",
        {"kind", "device"}},
       RunUnifiedMemory,
       results::UnifiedMemory::descriptor,
       "uses",
       TableSet{Kind::kUnifiedMemory, Kind::kCounter}},
      {{"api",
        "CUDA calls: count, time, errors, delay until the GPU began",
        {"function", "thread"}},
       RunApi,
       results::ApiCalls::descriptor,
       "calls",
       kLaunchedWork},
      {{"sync",
        "Waits for the GPU, by kind and call, by thread, or by awaited stream",
        {"kind", "thread", "stream"}},
       RunSync,
       results::Syncs::descriptor,
       "syncs",
       kLaunchedWork | TableSet{Kind::kSync, Kind::kCudaEvent}},
      {{"streams",
        "GPUs and streams: how busy, what overlapped, which waited for which, why a GPU was idle"},
       RunStreams,
       results::Streams::descriptor,
       "streams",
       kWork | TableSet{Kind::kSync, Kind::kCudaEvent},
       {Kind::kApi, Kind::kLaunch, Kind::kHostFunction}},
      {{"idle", "Why each GPU had no work, and what the host did meanwhile"},
       RunIdle,
       results::Idle::descriptor,
       "gaps",
       kWork,
       kHostWork},
      {{"critical_path",
        "What the end of two steps waited for, and their length without some of the time"},
       RunCriticalPath,
       results::CriticalPaths::descriptor,
       "paths.shares",
       kWork,
       kHostWork | TableSet{Kind::kSync, Kind::kCudaEvent}},
      {{"overlap", "How far computing, collectives and copies ran at the same time"},
       RunOverlap,
       results::Overlap::descriptor,
       "devices",
       kWork},
      {{"pods", "What a step of a job is made of, by rank and by step, and which ranks are equal"},
       WithVerdicts<results::Pods, RunPods>,
       results::Pods::descriptor,
       "ranks",
       kWork | kSteps,
       kHostWork},
      {{"communication",
        "Groups of ranks: who came last to collectives, who waited, and what transfers reach"},
       WithVerdicts<results::Communication, RunCommunication>,
       results::Communication::descriptor,
       "ranks",
       {Kind::kKernel, Kind::kOp},
       kSteps | TableSet{Kind::kApi, Kind::kRange, Kind::kRangePayload, Kind::kGraphLaunch}},
      {{"stragglers",
        "What slow ranks, stages and steps cost a job, and how long the job would be without them"},
       WithVerdicts<results::Stragglers, RunStragglers>,
       results::Stragglers::descriptor,
       "ranks",
       {Kind::kKernel, Kind::kOp},
       kWork | kHostWork},
      {{"flight_recorder",
        "Dumps of PyTorch's flight recorder: who did not enter a collective, what differed, who "
        "was late"},
       WithVerdicts<results::FlightRecorder, RunFlightRecorder>,
       results::FlightRecorder::descriptor,
       "ranks",
       {}},
      {{"graphs",
        "Launches of CUDA graphs: contents, first launch, gaps between nodes, by graph, node or "
        "owner",
        {"graph", "node", "owner"}},
       RunGraphs,
       results::Graphs::descriptor,
       "graphs",
       kWork,
       {Kind::kApi}},
      {{"overhead",
        "Overhead of CUDA and CUPTI (compiling, loading), by kind or thread",
        {"kind", "thread"}},
       RunOverhead,
       results::Overheads::descriptor,
       "overheads",
       {Kind::kOverhead}},
      {{"ranges",
        "Ranges of NVTX, ITT and PyTorch, and marks: count, total, GPU time, by name or domain",
        {"name", "domain"}},
       RunRanges,
       results::Ranges::descriptor,
       "ranges",
       {Kind::kRange},
       kLaunchedWork | TableSet{Kind::kOp}},
      {{"counters",
        "Hardware counters of the GPUs: utilisation, tensor and DRAM activity, clocks, power"},
       RunCounters,
       results::Counters::descriptor,
       "counters",
       {Kind::kCounter}},
      {{"heap",
        "Heap and framework memory: allocated, peak, still live, by call stack and operation"},
       RunHeap,
       results::Heap::descriptor,
       "stacks",
       {Kind::kHeap, Kind::kTensor, Kind::kMapping},
       kSteps | TableSet{Kind::kPython}},
      {{"memory_profile",
        "Memory of PyTorch, TensorFlow and JAX: peak, what was live at it, pools, failed requests"},
       WithVerdicts<results::MemoryProfile, RunMemoryProfile>,
       results::MemoryProfile::descriptor,
       "stacks",
       {Kind::kTensor},
       kSteps | TableSet{Kind::kOp}},
      {{"memory_viewer",
        "Memory of programs that XLA compiled: peak, what is live at it, each buffer's life"},
       RunMemoryViewer,
       results::MemoryViewer::descriptor,
       "buffers",
       {}},
      {{"graph_viewer",
        "Programs that XLA compiled: operations with the most time, and producers and consumers of "
        "one"},
       RunGraphViewer,
       results::GraphViewer::descriptor,
       "nodes",
       kLaunchedWork | TableSet{Kind::kOp},
       kOwners},
      {{"locks", "Waits for locks and conditions, by object and caller"},
       RunLocks,
       results::Locks::descriptor,
       "locks",
       {Kind::kWait},
       kSteps},
      {{"files",
        "Reads of files: bytes, time, speed, by path or thread (--trace files)",
        {"path", "thread"}},
       RunFiles,
       results::Files::descriptor,
       "files",
       {Kind::kFileRead}},
      {{"input_pipeline",
        "How long steps wait for data, for which stage, and how many workers would suffice"},
       WithVerdicts<results::InputPipeline, RunInputPipeline>,
       results::InputPipeline::descriptor,
       "sources",
       {Kind::kOp},
       {Kind::kWait, Kind::kSample}},
      {{"tf_data", "Pipelines of tf.data: how long the program waited, and for which iterator"},
       WithVerdicts<results::TfData, RunTfData>,
       results::TfData::descriptor,
       "iterators",
       {Kind::kOp}},
      {{"python",
        "Functions of Python by samples: processor time, waits for the GIL, other waits; traced "
        "calls; pauses of the garbage collector",
        {"function", "line", "module", "thread"}},
       RunPython,
       results::Python::descriptor,
       "functions",
       {Kind::kSample},
       {Kind::kPython, Kind::kGcPause}},
      {{"stacks",
        "Folded call stacks for flame graphs, weighted by processor time, memory or waiting",
        StackWeightKeys()},
       RunStacks,
       results::Stacks::descriptor,
       "stacks",
       TableSet::All()},
      {{"threads", "Threads: lifetime, processor time, waits"},
       RunThreads,
       results::Threads::descriptor,
       "threads",
       {Kind::kThreadEvent, Kind::kWait},
       kSteps},
      {{"health", "The recording itself: losses and their causes, cost, clock"},
       RunHealth,
       results::Health::descriptor,
       "processes",
       TableSet::All()},
  };
  return table;
}

const std::vector<PassEntry>& PageTable() {
  static const std::vector<PassEntry> table = {
      {{"rules", "The rules of advise, and their thresholds: advise --rules"},
       nullptr,
       results::Rules::descriptor,
       "rules",
       {}},
      {{"diff", "Two recordings, compared: diff"},
       nullptr,
       results::Diff::descriptor,
       "kernels",
       {}},
      {{"baseline", "What a comparison needs of a recording: baseline show"},
       nullptr,
       results::Baseline::descriptor,
       "kernels",
       {}},
      {{"baselines", "The baselines of a folder: baseline list"},
       nullptr,
       results::Baselines::descriptor,
       "baselines",
       {}},
      {{"trials", "Changes of the environment, measured: try"},
       nullptr,
       results::Trials::descriptor,
       "trials",
       {}},
  };
  return table;
}

const std::vector<PassInfo>& Passes() {
  static const std::vector<PassInfo> infos = [] {
    std::vector<PassInfo> all;
    for (const PassEntry& entry : PassTable()) all.push_back(entry.info);
    return all;
  }();
  return infos;
}

const PassEntry* FindPass(std::string_view name) {
  for (const PassEntry& entry : PassTable())
    if (entry.info.name == name) return &entry;
  return nullptr;
}

TableSet SubjectsOf(std::string_view pass) {
  const PassEntry* entry = FindPass(pass);
  return entry == nullptr ? TableSet() : entry->tables;
}

}  // namespace gpuprof::analysis
