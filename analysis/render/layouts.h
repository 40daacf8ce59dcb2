// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The layouts of the tables that the text of each result shows, in the order of the text. Each
// function stands in the file of its text. Any thread.

#pragma once

#include <span>

namespace google::protobuf {
class Descriptor;
}

namespace gpuprof::analysis {

struct TableLayout;

std::span<const TableLayout> ApiLayouts();
std::span<const TableLayout> CommunicationLayouts();
std::span<const TableLayout> CountersLayouts();
std::span<const TableLayout> CriticalPathLayouts();
std::span<const TableLayout> DeviceMemoryLayouts();
std::span<const TableLayout> FilesLayouts();
std::span<const TableLayout> FlightRecorderLayouts();
std::span<const TableLayout> GraphViewerLayouts();
std::span<const TableLayout> GraphsLayouts();
std::span<const TableLayout> HealthLayouts();
std::span<const TableLayout> HeapLayouts();
std::span<const TableLayout> IdleLayouts();
std::span<const TableLayout> KernelsLayouts();
std::span<const TableLayout> LocksLayouts();
std::span<const TableLayout> MemcpyLayouts();
std::span<const TableLayout> OpsLayouts();
std::span<const TableLayout> OverheadLayouts();
std::span<const TableLayout> OverlapLayouts();
std::span<const TableLayout> OverviewLayouts();
std::span<const TableLayout> PodsLayouts();
std::span<const TableLayout> PythonLayouts();
std::span<const TableLayout> RangesLayouts();
std::span<const TableLayout> StepsLayouts();
std::span<const TableLayout> StragglersLayouts();
std::span<const TableLayout> StreamsLayouts();
std::span<const TableLayout> SyncLayouts();
std::span<const TableLayout> MemoryProfileLayouts();
std::span<const TableLayout> MemoryViewerLayouts();
std::span<const TableLayout> OpProfileLayouts();
std::span<const TableLayout> RooflineLayouts();
std::span<const TableLayout> ServingLayouts();
std::span<const TableLayout> InputPipelineLayouts();
std::span<const TableLayout> TfDataLayouts();
std::span<const TableLayout> ThreadsLayouts();
std::span<const TableLayout> UnifiedMemoryLayouts();

// Returns the layouts of a result's tables. Empty: its text has no table that is laid out.
std::span<const TableLayout> LayoutsOf(const google::protobuf::Descriptor* result);

}  // namespace gpuprof::analysis
