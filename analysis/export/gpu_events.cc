// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See gpu_events.h.

#include "analysis/export/gpu_events.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "analysis/model/names.h"
#include "analysis/passes/kernels/occupancy.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

// CUpti_ActivityMemoryKind in Kineto's words.
std::string_view MemoryWord(uint32_t kind) {
  constexpr std::string_view kWords[] = {"Unknown", "Pageable", "Pinned",        "Device",
                                         "Array",   "Managed",  "Device Static", "Managed Static"};
  return kind < std::size(kWords) ? kWords[kind] : kWords[0];
}

// CUpti_ActivitySynchronizationType in Kineto's words.
std::string_view WaitWord(uint32_t kind) {
  switch (kind) {
    case kEventWait:
      return "Event Sync";
    case kStreamEventWait:
      return "Stream Wait Event";
    case kStreamWait:
      return "Stream Sync";
    case kContextWait:
      return "Context Sync";
    default:
      return "<unknown>";
  }
}

uint64_t Product(const google::protobuf::RepeatedField<uint32_t>& triple) {
  uint64_t product = 1;
  for (const uint32_t value : triple) product *= value;
  return product;
}

void AddMember(std::string_view key, const std::string& value, std::string* json) {
  if (!json->empty()) *json += ", ";
  AppendJsonString(key, json);
  *json += ": " + value;
}

std::string ArrayOf(const google::protobuf::RepeatedField<uint32_t>& triple) {
  std::string text = "[";
  for (const uint32_t value : triple) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

std::string SixDecimals(double value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, 6);
  return {text, end.ptr};
}

// How a launch fills the device. Kineto's occupancy is what the launch allows, or less if the grid
// has too few blocks.
void AddFilling(const proto::Device& device, const proto::Signature& launch, std::string* json) {
  if (device.multiprocessors() == 0 || device.threads_per_warp() == 0 || launch.grid().empty() ||
      launch.block().empty())
    return;
  const double blocks =
      static_cast<double>(Product(launch.grid())) / static_cast<double>(device.multiprocessors());
  const double warps = blocks * static_cast<double>(Product(launch.block())) /
                       static_cast<double>(device.threads_per_warp());
  AddMember("blocks per SM", SixDecimals(blocks), json);
  AddMember("warps per SM", SixDecimals(warps), json);
}

void AddOccupancy(const proto::Device& device, const proto::Signature& launch, std::string* json) {
  const auto occupancy = OccupancyOf(device, launch);
  if (!occupancy) return;
  const double warps = static_cast<double>(Product(launch.grid())) *
                       static_cast<double>(Product(launch.block())) /
                       static_cast<double>(device.threads_per_warp()) /
                       static_cast<double>(device.multiprocessors());
  const double ratio =
      std::min(occupancy->ratio, warps / static_cast<double>(device.warps_per_multiprocessor()));
  AddMember("est. achieved occupancy %",
            std::to_string(static_cast<int>(std::lround(100 * std::min(ratio, 1.0)))), json);
}

}  // namespace

bool GpuEvents::Write(size_t index) {
  const Track& track = process_.tracks[index];
  home_ = &process_.tracks[records_.OfDevice(static_cast<uint32_t>(index))];
  return Kernels(track) && Copies(track) && Sets(track) && Waits(track) && HostFunctions(track);
}

const GpuEvents::Shape& GpuEvents::ShapeOf(uint32_t id, uint32_t device_id) {
  const auto [at, added] = shapes_.try_emplace(uint64_t{device_id} << 32 | id);
  if (!added) return at->second;
  Shape& shape = at->second;
  const auto found = process_.signatures.find(id);
  if (found == process_.signatures.end()) {
    shape.name = "<unknown>";
    return shape;
  }
  const proto::Signature& launch = found->second;
  // Names of an imported file stay as they were.
  const std::string name = process_.String(launch.name());
  shape.name = is_imported_ ? name : Demangle(name.c_str());
  // Imported traces may lack the shape of a launch.
  const bool has_grid = !launch.grid().empty();
  const uint64_t shared = uint64_t{launch.static_shared_bytes()} + launch.dynamic_shared_bytes();
  if (has_grid || launch.registers() != 0)
    AddMember("registers per thread", std::to_string(launch.registers()), &shape.front);
  if (has_grid || shared != 0) AddMember("shared memory", std::to_string(shared), &shape.front);
  if (!has_grid) return shape;
  const proto::Device* device = process_.FindDevice(device_id);
  if (device != nullptr) AddFilling(*device, launch, &shape.front);
  AddMember("grid", ArrayOf(launch.grid()), &shape.front);
  AddMember("block", ArrayOf(launch.block()), &shape.front);
  if (device != nullptr) AddOccupancy(*device, launch, &shape.front);
  return shape;
}

// The call of the row, and where the row ran.
void GpuEvents::Origin(const Track& track, uint32_t correlation) {
  out_->Arg("device", StreamNumber(home_->device));
  out_->Arg("context", track.context);
  out_->Arg("stream", StreamNumber(track.stream));
  if (correlation != 0) out_->Arg("correlation", correlation);
}

void GpuEvents::GraphNode(uint32_t graph, uint64_t node) {
  if (graph == 0) return;
  out_->Arg("graph id", graph);
  out_->Arg("graph node id", node);
}

// Bytes a nanosecond are gigabytes a second.
void GpuEvents::Bandwidth(uint64_t bytes, int64_t duration_ns) {
  if (bytes == kUnknownBytes) return;
  out_->Arg("bytes", bytes);
  if (duration_ns > 0)
    out_->Arg("memory bandwidth (GB/s)",
              static_cast<double>(bytes) / static_cast<double>(duration_ns));
}

void GpuEvents::FlowEnd(const Track& track, uint32_t correlation, int64_t start_ns) {
  if (correlation == 0 || !index_.Find(correlation)) return;
  out_->FlowEnd(kLaunchFlow, places_.FlowOf(correlation), PlaceOf(track), start_ns);
}

bool GpuEvents::Kernels(const Track& track) {
  const KernelTable& kernels = track.kernel;
  const Place place = PlaceOf(track);
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const Shape& shape = ShapeOf(kernels.signature[row], home_->device);
    const uint32_t correlation = kernels.correlation[row];
    const int64_t start = kernels.end_ns[row] - kernels.duration_ns[row];
    out_->Span("kernel", shape.name, place, start, kernels.duration_ns[row]);
    const uint64_t external = links_.OfWork(kernels, row);
    if (external != 0) out_->Arg("External id", external);
    out_->Arg("queued", 0);
    Origin(track, correlation);
    out_->Members(shape.front);
    GraphNode(kernels.graph[row], kernels.graph_node[row]);
    if (!kernels.detail.empty()) out_->Members(members_.Of(kernels.detail[row]));
    if (!out_->End()) return false;
    FlowEnd(track, correlation, start);
  }
  return true;
}

bool GpuEvents::Copies(const Track& track) {
  const MemcpyTable& copies = track.memcpy;
  const Place place = PlaceOf(track);
  for (size_t row = 0; row < copies.rows(); ++row) {
    const uint32_t operation = copies.operation[row];
    const uint32_t correlation = copies.correlation[row];
    const int64_t start = copies.end_ns[row] - copies.duration_ns[row];
    std::string name = "Memcpy ";
    name += CopyKindName(proto::CopyKindOf(operation));
    name += " (";
    name += MemoryWord(proto::CopySourceOf(operation));
    name += " -> ";
    name += MemoryWord(proto::CopyDestinationOf(operation));
    name += ")";
    out_->Span("gpu_memcpy", name, place, start, copies.duration_ns[row]);
    const uint64_t external = links_.OfWork(copies, row);
    if (external != 0) out_->Arg("External id", external);
    Origin(track, correlation);
    Bandwidth(copies.bytes[row], copies.duration_ns[row]);
    if (copies.peer[row] != 0) {
      out_->Arg("fromDevice", proto::PeerSourceOf(copies.peer[row]));
      out_->Arg("toDevice", proto::PeerDestinationOf(copies.peer[row]));
    }
    GraphNode(copies.graph[row], copies.graph_node[row]);
    if (!out_->End()) return false;
    FlowEnd(track, correlation, start);
  }
  return true;
}

bool GpuEvents::Sets(const Track& track) {
  const MemsetTable& sets = track.memset;
  const Place place = PlaceOf(track);
  for (size_t row = 0; row < sets.rows(); ++row) {
    const uint32_t correlation = sets.correlation[row];
    const int64_t start = sets.end_ns[row] - sets.duration_ns[row];
    std::string name = "Memset (";
    name += MemoryWord(proto::CopyDestinationOf(sets.operation[row]));
    name += ")";
    out_->Span("gpu_memset", name, place, start, sets.duration_ns[row]);
    const uint64_t external = links_.OfWork(sets, row);
    if (external != 0) out_->Arg("External id", external);
    Origin(track, correlation);
    Bandwidth(sets.bytes[row], sets.duration_ns[row]);
    GraphNode(sets.graph[row], sets.graph_node[row]);
    if (!out_->End()) return false;
    FlowEnd(track, correlation, start);
  }
  return true;
}

// Without the argument `stream`: readers take rows with it for work of the device.
bool GpuEvents::HostFunctions(const Track& track) {
  const HostFunctionTable& functions = track.host_function;
  const Place place = PlaceOf(track);
  for (size_t row = 0; row < functions.rows(); ++row) {
    const uint32_t correlation = functions.correlation[row];
    const int64_t start = functions.end_ns[row] - functions.duration_ns[row];
    out_->Span("host_function", "Host function", place, start, functions.duration_ns[row]);
    const uint64_t external = links_.OfCorrelation(correlation);
    if (external != 0) out_->Arg("External id", external);
    out_->Arg("device", StreamNumber(home_->device));
    out_->Arg("context", track.context);
    if (correlation != 0) out_->Arg("correlation", correlation);
    out_->Arg("thread", functions.thread[row]);
    GraphNode(functions.graph[row], functions.graph_node[row]);
    if (!out_->End()) return false;
    FlowEnd(track, correlation, start);
  }
  return true;
}

bool GpuEvents::Waits(const Track& track) {
  const SyncTable& waits = track.sync;
  for (size_t row = 0; row < waits.rows(); ++row) {
    const std::string_view name = WaitWord(waits.operation[row]);
    const int64_t start = waits.end_ns[row] - waits.duration_ns[row];
    const uint32_t stream = waits.stream[row];
    out_->Span("cuda_sync", name, places_.OfStream(*home_, stream), start, waits.duration_ns[row]);
    const uint64_t external = links_.OfCorrelation(waits.correlation[row]);
    if (external != 0) out_->Arg("External id", external);
    out_->Arg("cuda_sync_kind", name);
    const uint32_t kind = waits.operation[row];
    if (kind == kEventWait || kind == kStreamEventWait) {
      const EventRecord* record = records_.Find(waits, row);
      if (record != nullptr) {
        out_->Arg("wait_on_stream", StreamNumber(process_.tracks[record->track].stream));
        out_->Arg("wait_on_cuda_event_record_corr_id", record->correlation);
      }
      if (waits.event[row] != 0) out_->Arg("wait_on_cuda_event_id", waits.event[row]);
    }
    out_->Arg("stream", StreamNumber(stream));
    out_->Arg("correlation", waits.correlation[row]);
    out_->Arg("device", StreamNumber(home_->device));
    out_->Arg("context", track.context);
    if (!out_->End()) return false;
  }
  return true;
}

}  // namespace gpuprof::analysis
