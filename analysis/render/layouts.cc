// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See layouts.h.

#include "analysis/render/layouts.h"

#include <google/protobuf/descriptor.h>

#include <string_view>

#include "analysis/render/table_layout.h"

namespace gpuprof::analysis {
namespace {

struct Entry {
  std::string_view result;  // name of the message
  std::span<const TableLayout> (*layouts)();
};

constexpr Entry kEntries[] = {
    {"ApiCalls", ApiLayouts},
    {"Communication", CommunicationLayouts},
    {"Counters", CountersLayouts},
    {"CriticalPaths", CriticalPathLayouts},
    {"DeviceMemory", DeviceMemoryLayouts},
    {"Files", FilesLayouts},
    {"FlightRecorder", FlightRecorderLayouts},
    {"GraphViewer", GraphViewerLayouts},
    {"Graphs", GraphsLayouts},
    {"Health", HealthLayouts},
    {"Heap", HeapLayouts},
    {"Idle", IdleLayouts},
    {"InputPipeline", InputPipelineLayouts},
    {"Kernels", KernelsLayouts},
    {"Locks", LocksLayouts},
    {"Memcpy", MemcpyLayouts},
    {"Ops", OpsLayouts},
    {"Overheads", OverheadLayouts},
    {"Overlap", OverlapLayouts},
    {"Overview", OverviewLayouts},
    {"Pods", PodsLayouts},
    {"Python", PythonLayouts},
    {"Ranges", RangesLayouts},
    {"Steps", StepsLayouts},
    {"Stragglers", StragglersLayouts},
    {"Streams", StreamsLayouts},
    {"Syncs", SyncLayouts},
    {"MemoryProfile", MemoryProfileLayouts},
    {"MemoryViewer", MemoryViewerLayouts},
    {"OpProfile", OpProfileLayouts},
    {"Roofline", RooflineLayouts},
    {"Serving", ServingLayouts},
    {"TfData", TfDataLayouts},
    {"Threads", ThreadsLayouts},
    {"UnifiedMemory", UnifiedMemoryLayouts},
};

}  // namespace

std::span<const TableLayout> LayoutsOf(const google::protobuf::Descriptor* result) {
  for (const Entry& entry : kEntries) {
    if (entry.result == result->name()) return entry.layouts();
  }
  return {};
}

}  // namespace gpuprof::analysis
