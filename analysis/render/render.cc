// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The public functions Render and Remarks, and the table of what shows each result as a text.

#include <google/protobuf/message.h>

#include <algorithm>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/passes/registry.h"
#include "analysis/render/json.h"
#include "analysis/render/text.h"
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

struct TextEntry {
  const google::protobuf::Descriptor* (*type)();
  // Writes the text. Text that other tools read may be long: it is written piecewise.
  void (*text)(const google::protobuf::Message& result, const TextOptions& options, Output* out);
  // For text that other tools read: complete unless a limit was asked for, and what is to be said
  // goes elsewhere (Remarks).
  std::string (*remarks)(const google::protobuf::Message& result,
                         const TextOptions& options) = nullptr;
  int columns = kTableColumns;  // of the widest text table
};

// Gives a text function of one result the signature of the table.
template <typename Result, std::string (*kText)(const Result&, const TextOptions&)>
void TextOf(const google::protobuf::Message& result, const TextOptions& options, Output* out) {
  out->Put(PlainLines(kText(static_cast<const Result&>(result), options)));
}

void StacksTextOf(const google::protobuf::Message& result, const TextOptions& options,
                  Output* out) {
  WriteStacks(static_cast<const results::Stacks&>(result), options, out);
}

std::string StacksRemarksOf(const google::protobuf::Message& result, const TextOptions& options) {
  return StacksRemarks(static_cast<const results::Stacks&>(result), options);
}

// For a pull request or a log: less than other tables have.
constexpr int kPageColumns = 100;

const std::vector<TextEntry>& TextTable() {
  static const std::vector<TextEntry> table = {
      {results::Overview::descriptor, TextOf<results::Overview, OverviewText>},
      {results::Advice::descriptor, TextOf<results::Advice, AdviceText>},
      {results::Steps::descriptor, TextOf<results::Steps, StepsText>},
      {results::Ops::descriptor, TextOf<results::Ops, OpsText>},
      {results::Kernels::descriptor, TextOf<results::Kernels, KernelsText>},
      {results::Memcpy::descriptor, TextOf<results::Memcpy, MemcpyText>},
      {results::DeviceMemory::descriptor, TextOf<results::DeviceMemory, DeviceMemoryText>},
      {results::UnifiedMemory::descriptor, TextOf<results::UnifiedMemory, UnifiedMemoryText>},
      {results::ApiCalls::descriptor, TextOf<results::ApiCalls, ApiText>},
      {results::Syncs::descriptor, TextOf<results::Syncs, SyncText>},
      {results::Streams::descriptor, TextOf<results::Streams, StreamsText>},
      {results::Idle::descriptor, TextOf<results::Idle, IdleText>},
      {results::CriticalPaths::descriptor, TextOf<results::CriticalPaths, CriticalPathText>},
      {results::Overlap::descriptor, TextOf<results::Overlap, OverlapText>},
      {results::Graphs::descriptor, TextOf<results::Graphs, GraphsText>},
      {results::Overheads::descriptor, TextOf<results::Overheads, OverheadText>},
      {results::Pods::descriptor, TextOf<results::Pods, PodsText>},
      {results::Python::descriptor, TextOf<results::Python, PythonText>},
      {results::Ranges::descriptor, TextOf<results::Ranges, RangesText>},
      {results::Communication::descriptor, TextOf<results::Communication, CommunicationText>},
      {results::Stragglers::descriptor, TextOf<results::Stragglers, StragglersText>},
      {results::Counters::descriptor, TextOf<results::Counters, CountersText>},
      {results::Heap::descriptor, TextOf<results::Heap, HeapText>},
      {results::Locks::descriptor, TextOf<results::Locks, LocksText>},
      {results::Files::descriptor, TextOf<results::Files, FilesText>},
      {results::FlightRecorder::descriptor, TextOf<results::FlightRecorder, FlightRecorderText>},
      {results::OpProfile::descriptor, TextOf<results::OpProfile, OpProfileText>},
      {results::Roofline::descriptor, TextOf<results::Roofline, RooflineText>},
      {results::Serving::descriptor, TextOf<results::Serving, ServingText>},
      {results::MemoryProfile::descriptor, TextOf<results::MemoryProfile, MemoryProfileText>},
      {results::GraphViewer::descriptor, TextOf<results::GraphViewer, GraphViewerText>},
      {results::MemoryViewer::descriptor, TextOf<results::MemoryViewer, MemoryViewerText>},
      {results::InputPipeline::descriptor, TextOf<results::InputPipeline, InputPipelineText>},
      {results::TfData::descriptor, TextOf<results::TfData, TfDataText>},
      {results::Threads::descriptor, TextOf<results::Threads, ThreadsText>},
      {results::Health::descriptor, TextOf<results::Health, HealthText>},
      {results::Rules::descriptor, TextOf<results::Rules, RulesText>},
      {results::Diff::descriptor, TextOf<results::Diff, DiffText>, nullptr, kPageColumns},
      {results::Baseline::descriptor, TextOf<results::Baseline, BaselineText>, nullptr,
       kPageColumns},
      {results::Baselines::descriptor, TextOf<results::Baselines, BaselinesText>, nullptr,
       kPageColumns},
      {results::Trials::descriptor, TextOf<results::Trials, TrialsText>, nullptr, kPageColumns},
      {results::Stacks::descriptor, StacksTextOf, StacksRemarksOf},
  };
  return table;
}

const TextEntry* FindText(const google::protobuf::Descriptor* type) {
  for (const TextEntry& entry : TextTable()) {
    if (entry.type() == type) return &entry;
  }
  return nullptr;
}

// Returns the path of the field that CSV shows of a result; empty: nobody prints it.
std::string_view MainTableOf(const google::protobuf::Descriptor* type) {
  for (const std::vector<PassEntry>* table : {&PassTable(), &PageTable()}) {
    for (const PassEntry& entry : *table) {
      if (entry.type() == type) return entry.main_table;
    }
  }
  return {};
}

TextOptions TextOptionsOf(const TextEntry& entry, const PassOptions& options, int width) {
  const uint32_t unasked = entry.remarks == nullptr ? kTextRows : 0;
  TextOptions text;
  text.limit = options.limit.value_or(unasked);
  text.width = width;
  text.table_width = width > 0 ? std::min(width, entry.columns) : entry.columns;
  text.wide = options.wide;
  if (options.wide) text.table_width = 0;
  return text;
}

}  // namespace

void Render(const google::protobuf::Message& result, Format format, const PassOptions& options,
            int width, Sink sink, void* context) {
  Output out(sink, context);
  if (format == Format::kJson) return WriteJson(result, &out);
  const TextEntry* entry = FindText(result.GetDescriptor());
  if (entry == nullptr) return;
  if (format == Format::kCsv) return WriteCsv(result, MainTableOf(entry->type()), &out);
  entry->text(result, TextOptionsOf(*entry, options, width), &out);
}

std::string Render(const google::protobuf::Message& result, Format format,
                   const PassOptions& options, int width) {
  std::string text;
  Render(result, format, options, width, AppendToString, &text);
  return text;
}

std::string Remarks(const google::protobuf::Message& result, const PassOptions& options) {
  const TextEntry* entry = FindText(result.GetDescriptor());
  if (entry == nullptr || entry->remarks == nullptr) return "";
  return entry->remarks(result, TextOptionsOf(*entry, options, 0));
}

}  // namespace gpuprof::analysis
