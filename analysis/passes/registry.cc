// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See registry.h; holds the public functions Passes and Run too.

#include "analysis/passes/registry.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <map>

#include "analysis/base/figures.h"
#include "analysis/base/regular_expression.h"
#include "analysis/passes/host/short_name_fields.h"
#include "analysis/passes/page_need.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/select_rows.h"
#include "analysis/read/work_sums.h"
#include "analysis/render/finding_words.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/advice.pb.h"
#include "proto/results/api.pb.h"
#include "proto/results/baseline.pb.h"
#include "proto/results/collectives.pb.h"
#include "proto/results/counters.pb.h"
#include "proto/results/critical_path.pb.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/diff.pb.h"
#include "proto/results/files.pb.h"
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
#include "proto/results/python.pb.h"
#include "proto/results/ranges.pb.h"
#include "proto/results/roofline.pb.h"
#include "proto/results/serving.pb.h"
#include "proto/results/stacks.pb.h"
#include "proto/results/steps.pb.h"
#include "proto/results/streams.pb.h"
#include "proto/results/sync.pb.h"
#include "proto/results/tf_data.pb.h"
#include "proto/results/threads.pb.h"
#include "proto/results/trials.pb.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {
namespace {

using Kind = proto::ChunkKind;

// Names of threads, streams and processes come from these rows.
const TableSet kAlways = {Kind::kThreadEvent, Kind::kProcessEvent, Kind::kRange,
                          Kind::kRangePayload, Kind::kRowDetail};
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

const PassEntry* FindPass(std::string_view name) {
  for (const PassEntry& entry : PassTable())
    if (entry.info.name == name) return &entry;
  return nullptr;
}

Error CheckKey(const PassInfo& info, const std::string& by) {
  if (by.empty()) return {};
  std::string known;
  for (const std::string_view key : info.keys) {
    if (key == by) return {};
    known += (known.empty() ? "" : ", ") + std::string(key);
  }
  const std::string pass = "The pass '" + std::string(info.name) + "' has no ";
  if (known.empty()) return {ErrorKind::kUsage, pass + "keys to choose from; leave --by out."};
  return {ErrorKind::kUsage, pass + "key '" + by + "'; there are: " + known + "."};
}

// An option that few passes have.
struct RareOption {
  std::string_view name;
  bool (*is_given)(const PassOptions& options);
  std::vector<std::string_view> passes;
};

Error CheckRareOptions(std::string_view pass, const PassOptions& options) {
  static const std::vector<RareOption> rare = {
      {"--under-range",
       [](const PassOptions& all) { return !all.under_range.empty(); },
       {"kernels"}},
      {"--program",
       [](const PassOptions& all) { return !all.program.empty(); },
       {"memory_viewer", "graph_viewer"}},
      {"--memory-space",
       [](const PassOptions& all) { return all.memory_space.has_value(); },
       {"memory_viewer"}},
      {"--op", [](const PassOptions& all) { return !all.op.empty(); }, {"graph_viewer"}},
      {"--depth", [](const PassOptions& all) { return all.depth.has_value(); }, {"graph_viewer"}},
  };
  for (const RareOption& option : rare) {
    if (!option.is_given(options)) continue;
    std::string owners;
    bool has = false;
    for (const std::string_view owner : option.passes) {
      has |= owner == pass;
      owners += (owners.empty() ? "'" : " and '") + std::string(owner) + "'";
    }
    if (has) continue;
    const std::string name(option.name);
    return {ErrorKind::kUsage,
            "The pass '" + std::string(pass) + "' has no option " + name + ", only " + owners +
                (option.passes.size() == 1 ? " has" : " have") + " it; leave " + name + " out."};
  }
  return {};
}

// Sums are of the whole recording.
bool IsOfAll(const PassOptions& options) {
  return options.pid == 0 && !options.window && !options.steps && options.devices.empty() &&
         options.under_range.empty();
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
      {{"collectives",
        "Which rank came last to each collective, and how long others waited for it"},
       RunCollectives,
       results::Collectives::descriptor,
       "ranks",
       {Kind::kKernel, Kind::kOp},
       {Kind::kWait}},
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

TableSet SubjectsOf(std::string_view pass) {
  const PassEntry* entry = FindPass(pass);
  return entry == nullptr ? TableSet() : entry->tables;
}

TableSet TablesOf(std::string_view pass, const PassOptions& options) {
  const PassEntry* entry = FindPass(pass);
  if (entry == nullptr) return TableSet::All();
  // The events of a thread: headers count those of the whole recording, but not those of a part.
  if (pass == "threads" && (options.window || options.steps || !options.devices.empty()))
    return TableSet::All();
  TableSet tables = entry->tables | entry->also | kAlways;
  // Whether a call is inside a range or a step, its time tells.
  if (!options.under_range.empty() || options.steps) tables = tables | TableSet{Kind::kApi};
  // A step ends with the last work that it launched.
  if (options.steps) {
    tables =
        tables | kSteps | TableSet{Kind::kKernel, Kind::kMemcpy, Kind::kMemset, Kind::kGraphLaunch};
  }
  if (pass == "ops" && (options.by == "module" || options.by == "instance"))
    tables = tables | TableSet{Kind::kPython};
  const bool is_by_owner = pass == "graphs" && options.by == "owner";
  if (is_by_owner) tables = tables | TableSet::CallIds();
  if (is_by_owner || (pass == "kernels" && options.by == "op"))
    tables = tables | kSteps | TableSet{Kind::kApi, Kind::kLaunch};
  return tables.Without(options.left_out);
}

TableSet TooLargeTables(std::string_view pass, const Trace& trace, const PassOptions& options) {
  TableSet large;
  if (PageSumsAbove(pass, options) == 0) return large;
  std::map<Kind, uint64_t> rows;
  uint64_t all = 0, work = 0;
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds) {
      const Kind kind = static_cast<Kind>(totals.kind);
      rows[kind] += totals.rows;
      if (proto::IsSummedWork(kind)) work += totals.rows;
    }
  }
  // The largest first, until the others are few enough. What is summed has no rows.
  const bool has_sums = work > kMostWorkRows;
  std::vector<std::pair<uint64_t, Kind>> largest;
  for (const auto& [kind, count] : rows) {
    if (!TablesOf(pass, options).Has(kind) || (has_sums && SummableTables().Has(kind))) continue;
    largest.emplace_back(count, kind);
    all += count;
  }
  std::sort(largest.rbegin(), largest.rend());
  for (const auto& [count, kind] : largest) {
    if (all <= kMostWorkRows) break;
    large = large | TableSet{kind};
    all -= count;
  }
  return large;
}

std::string RegularExpressionFault(std::string_view pattern) {
  std::string fault;
  RegularExpression::Of(pattern, &fault);
  return fault;
}

uint64_t SumsAbove(std::string_view pass, const PassOptions& options) {
  return IsOfAll(options) && (pass == "overview" || pass == "advise") ? kMostWorkRows : 0;
}

uint64_t PageSumsAbove(std::string_view pass, const PassOptions& options) {
  const bool is_of_rows = options.by == "op" || !IsOfAll(options);
  return pass == "kernels" && !is_of_rows ? kMostWorkRows : SumsAbove(pass, options);
}

bool HasPageSums(std::string_view pass, const Trace& trace, const PassOptions& options) {
  const uint64_t most = PageSumsAbove(pass, options);
  uint64_t work = 0;
  for (const Process& process : trace.processes) {
    for (const KindTotals& totals : process.kinds)
      if (proto::IsSummedWork(static_cast<Kind>(totals.kind))) work += totals.rows;
  }
  return most != 0 && work > most;
}

std::string TooManyRows(std::string_view pass, const Trace& trace, const PassOptions& options) {
  // The first page must always be there.
  if (PageSumsAbove(pass, options) != 0) return "";
  // Only the rows of the part are read. Which part it is, the steps tell.
  if (options.window) return "";
  const TableSet wanted = options.steps ? TablesOf("steps") : TablesOf(pass, options);
  const uint64_t rows = RowsIn(trace, wanted);
  if (rows <= kMostWorkRows) return "";
  return "The recording has " + FormatNumber(rows) +
         " rows that this page needs. That is too much for a page. This command reads all of "
         "them: " +
         CommandOf(pass, options);
}

std::string CommandOf(std::string_view pass, const PassOptions& options) {
  std::string command = "gpuprof stats " + std::string(pass);
  if (!options.by.empty()) command += " --by " + options.by;
  if (options.pid != 0) command += " --pid " + std::to_string(options.pid);
  if (options.steps) command += " --steps " + std::to_string(options.steps->first);
  if (options.window) {
    command += " --window " + std::to_string(options.window->first) + "ns-" +
               std::to_string(options.window->second) + "ns";
  }
  for (size_t i = 0; i < options.devices.size(); ++i)
    command += (i == 0 ? " --device " : ",") + std::to_string(options.devices[i]);
  return command;
}

Error Run(std::string_view pass, const Trace& trace, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  Session session(trace);
  return Run(pass, &session, options, result);
}

namespace {

Error Ask(std::string_view pass, Session* session, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  if (FindPass(pass) != nullptr && !session->trace().tables.Contains(TablesOf(pass, options))) {
    return {ErrorKind::kUsage, "The trace was opened without rows that the pass '" +
                                   std::string(pass) + "' needs; open it in full."};
  }
  Session::Part* part = nullptr;
  if (Error error = session->Select(pass, options, &part)) return error;
  const PassEntry* entry = FindPass(pass);
  if (entry == nullptr) {
    std::string known;
    for (const PassEntry& each : PassTable())
      known += (known.empty() ? "" : ", ") + std::string(each.info.name);
    const std::string wrong = "There is no pass '" + std::string(pass) + "'; there are: ";
    return {ErrorKind::kUsage, wrong + known + "."};
  }
  if (Error error = CheckKey(entry->info, options.by)) return error;
  if (Error error = CheckRareOptions(entry->info.name, options)) return error;
  PassContext context(part != nullptr ? part->session.get() : session, options);
  if (Error error = context.Prepare()) return error;
  if (part != nullptr) context.SetSelectionNote(part->words);
  return entry->run(context, result);
}

}  // namespace

Error Run(std::string_view pass, Session* session, const PassOptions& options,
          std::unique_ptr<google::protobuf::Message>* result) {
  Error error = Ask(pass, session, options, result);
  session->ForgetMuch();
  if (!error) FillShortNames(result->get());
  return error;
}

}  // namespace gpuprof::analysis
