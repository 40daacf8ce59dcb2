// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_device.h.

#include "analysis/export/xspace_device.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "analysis/derived/device_work.h"
#include "analysis/export/detail_stats.h"
#include "analysis/model/names.h"
#include "analysis/passes/kernels/occupancy.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

// Lines of streams that have no number of their own.
constexpr int64_t kFirstOwnLine = int64_t{1} << 30;

// XProf knows copies by these names, XLA's own "MemcpyH2D" not. It takes others for computation.
std::string CopyName(uint32_t kind) {
  constexpr std::string_view kNames[] = {"MemcpyOther", "MemcpyHToD", "MemcpyDToH", "MemcpyHToA",
                                         "MemcpyAToH",  "MemcpyAToA", "MemcpyAToD", "MemcpyDToA",
                                         "MemcpyDToD",  "MemcpyHToH", "MemcpyP2P"};
  return std::string(kNames[kind < std::size(kNames) ? kind : 0]);
}

// Returns the name of an operation in the form that XProf takes apart: "aten/mm:" of "aten::mm",
// "nccl/all_reduce:" of "nccl:all_reduce". The types are then "mm" and "all_reduce". TensorFlow's
// names, "dense/MatMul:MatMul", have the form. XProf shows others as they are, with the type
// "Unknown".
std::string OpLabel(const std::string& name) {
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == ':';
  });
  const size_t colon = name.find(':');
  if (!is_plain || colon == std::string::npos || colon + 1 == name.size()) return name;
  if (std::isupper(static_cast<unsigned char>(name[colon + 1])) != 0) return name;
  std::string label;
  for (const char c : name) {
    if (c != ':') {
      label += c;
    } else if (!label.ends_with('/')) {
      label += '/';
    }
  }
  return label + ":";
}

// Returns the vendor as XLA spells it. "": not known.
std::string_view VendorOf(const proto::Device& device) {
  const std::string& name = device.name();
  if (name.find("AMD") != std::string::npos || name.starts_with("gfx")) return "AMD";
  const bool is_cuda = device.compute_major() != 0 || name.find("NVIDIA") != std::string::npos;
  return is_cuda ? "Nvidia" : "";
}

std::string LineName(const Track& track) {
  std::set<std::string> kinds;
  if (track.kernel.rows() + track.graph_launch.rows() != 0) kinds.insert("Compute");
  for (const uint32_t operation : track.memcpy.operation)
    kinds.insert(CopyName(proto::CopyKindOf(operation)));
  if (track.memset.rows() != 0) kinds.insert("Memset");
  std::string list;
  for (const std::string& kind : kinds) list += (list.empty() ? "" : ",") + kind;
  const std::string number = track.stream == kNoCudaId ? "unknown" : std::to_string(track.stream);
  return "Stream #" + number + "(" + list + ")" + (track.name.empty() ? "" : " " + track.name);
}

}  // namespace

XSpaceDevice::XSpaceDevice(PassContext& context, size_t process, int64_t start_ns)
    : process_(context.process(process)),
      ops_(context.ops(process)),
      start_ns_(start_ns),
      origin_(&context.ops(process), context.calls(process)) {}

std::set<uint32_t> XSpaceDevice::Devices() const {
  std::set<uint32_t> devices;
  ForEachDeviceWork(process_,
                    [&](const Track& track, const DeviceWork&) { devices.insert(track.device); });
  return devices;
}

XPlaneWriter XSpaceDevice::Plane(uint32_t device) {
  XPlaneWriter plane(int64_t{device} + 1, "/device:GPU:" + std::to_string(device));
  Describe(device, &plane);
  std::set<int64_t> lines;
  for (const Track& track : process_.tracks) {
    const size_t rows =
        track.kernel.rows() + track.memcpy.rows() + track.memset.rows() + track.graph_launch.rows();
    if (track.device != device || rows == 0) continue;
    int64_t line = track.stream < kFirstOwnLine ? int64_t{track.stream} : kFirstOwnLine;
    // Streams of two contexts may have one number.
    while (!lines.insert(line).second) line = std::max(kFirstOwnLine, *lines.rbegin() + 1);
    Stream(track, line, &plane);
  }
  return plane;
}

void XSpaceDevice::Describe(uint32_t id, XPlaneWriter* plane) const {
  const proto::Device* const device = process_.FindDevice(id);
  if (device == nullptr) return;
  const auto add = [&](std::string_view key, uint64_t value) {
    if (value != 0) plane->Unsigned(key, value);
  };
  if (const std::string_view vendor = VendorOf(*device); !vendor.empty())
    plane->Text("device_vendor", vendor);
  if (!device->name().empty()) plane->Text("gpu_device_name", device->name());
  add("clock_rate", device->core_clock_khz());
  add("core_count", device->multiprocessors());
  add("memory_bandwidth", device->memory_bandwidth_kb_per_s() * 1000);
  add("memory_size", device->memory_bytes());
  add("compute_cap_major", device->compute_major());
  if (device->compute_major() != 0) plane->Unsigned("compute_cap_minor", device->compute_minor());
}

void XSpaceDevice::Stream(const Track& track, int64_t line, XPlaneWriter* plane) {
  std::vector<DeviceWork> rows;
  ForEachDeviceWork(track, [&](const DeviceWork& work) { rows.push_back(work); });
  std::stable_sort(rows.begin(), rows.end(), [](const DeviceWork& x, const DeviceWork& y) {
    return x.span.start != y.span.start ? x.span.start < y.span.start : x.span.end > y.span.end;
  });
  plane->BeginLine(line, LineName(track));
  for (const DeviceWork& work : rows) {
    switch (work.kind) {
      case DeviceWorkKind::kKernel:
        Kernel(track, work.row, plane);
        break;
      case DeviceWorkKind::kCopy:
        Copy(track.memcpy, work.row, plane);
        break;
      case DeviceWorkKind::kSet:
        Set(track.memset, work.row, plane);
        break;
      case DeviceWorkKind::kGraph:
        GraphLaunch(track.graph_launch, work.row, plane);
        break;
    }
    plane->EndEvent();
  }
  plane->EndLine();
}

template <typename Table>
void XSpaceDevice::Begin(std::string_view name, const Table& table, size_t row,
                         XPlaneWriter* plane) const {
  const int64_t start = table.end_ns[row] - table.duration_ns[row];
  plane->BeginEvent(name, start - start_ns_, table.duration_ns[row]);
  if (table.correlation[row] != 0) plane->Number("correlation_id", table.correlation[row]);
  if (table.graph[row] != 0) plane->Number("cuda_graph_exec_id", table.graph[row]);
  if constexpr (requires { table.graph_node; }) {
    if (table.graph[row] != 0) plane->Unsigned("cuda_graph_node_id", table.graph_node[row]);
  }
}

const XSpaceDevice::Shape& XSpaceDevice::ShapeOf(uint32_t id, uint32_t device_id) {
  const auto [at, added] = shapes_.try_emplace(uint64_t{device_id} << 32 | id);
  Shape& shape = at->second;
  if (!added) return shape;
  const auto found = process_.signatures.find(id);
  if (found == process_.signatures.end()) {
    shape.name = "<unknown>";
    return shape;
  }
  const proto::Signature& launch = found->second;
  shape.name = Demangle(process_.String(launch.name()).c_str());
  shape.details = "regs:" + std::to_string(launch.registers()) +
                  " static_shared:" + std::to_string(launch.static_shared_bytes()) +
                  " dynamic_shared:" + std::to_string(launch.dynamic_shared_bytes());
  // Imported traces may lack the shape of a launch.
  if (launch.grid().empty()) return shape;
  shape.details +=
      " grid:" + DimensionsText(launch.grid()) + " block:" + DimensionsText(launch.block());
  const proto::Device* const device = process_.FindDevice(device_id);
  const auto occupancy = device == nullptr ? std::nullopt : OccupancyOf(*device, launch);
  if (occupancy) shape.details += " occ_pct:" + std::to_string(std::lround(100 * occupancy->ratio));
  return shape;
}

// Null: the range of a step, which is not an operation.
const std::string* XSpaceDevice::LabelOf(OpRef op) {
  const uint32_t name = process_.tracks[op.track].op.name[op.row];
  if (ops_.name_kind(name) == NameKind::kAnnotation) return nullptr;
  const auto [at, added] = labels_.try_emplace(name);
  if (added) at->second = OpLabel(process_.String(name));
  return &at->second;
}

void XSpaceDevice::Kernel(const Track& track, size_t row, XPlaneWriter* plane) {
  const KernelTable& kernels = track.kernel;
  const Shape& shape = ShapeOf(kernels.signature[row], track.device);
  Begin(shape.name, kernels, row, plane);
  plane->Text("kernel_details", shape.details);
  bool has_op = false;
  if (!kernels.detail.empty() && kernels.detail[row] != 0)
    has_op = AddDetailStats(process_.String(kernels.detail[row]), "tf_op", plane);
  if (has_op) return;
  const int64_t end = kernels.end_ns[row];
  const WorkOrigin origin = origin_.Of({DeviceWorkKind::kKernel,
                                        row,
                                        {end - kernels.duration_ns[row], end},
                                        kernels.correlation[row],
                                        kernels.weight[row],
                                        ExternalOf(kernels, row),
                                        IsInGraph(kernels, row),
                                        kernels.graph_node[row]});
  const std::string* const label = origin.owner ? LabelOf(*origin.owner) : nullptr;
  if (label != nullptr) {
    plane->Text("tf_op", *label);
  } else if (origin.in_graph) {
    // XProf leaves out kernels without an operation.
    plane->Text("tf_op", OpLabel("graph"));
  }
}

void XSpaceDevice::Copy(const MemcpyTable& table, size_t row, XPlaneWriter* plane) const {
  const uint32_t operation = table.operation[row];
  Begin(CopyName(proto::CopyKindOf(operation)), table, row, plane);
  std::string details = "kind_src:";
  details += MemoryKindName(proto::CopySourceOf(operation));
  details += " kind_dst:";
  details += MemoryKindName(proto::CopyDestinationOf(operation));
  if (table.bytes[row] != kUnknownBytes) details += " size:" + std::to_string(table.bytes[row]);
  if (table.peer[row] != 0)
    details += " dest:" + std::to_string(proto::PeerDestinationOf(table.peer[row]));
  details += proto::IsAsyncCopy(operation) ? " async:1" : " async:0";
  plane->Text("memcpy_details", details);
}

void XSpaceDevice::Set(const MemsetTable& table, size_t row, XPlaneWriter* plane) const {
  const uint32_t operation = table.operation[row];
  Begin("Memset", table, row, plane);
  std::string details = "kind:";
  details += MemoryKindName(proto::CopyDestinationOf(operation));
  if (table.bytes[row] != kUnknownBytes)
    details += " num_bytes:" + std::to_string(table.bytes[row]);
  details += proto::IsAsyncCopy(operation) ? " async:1" : " async:0";
  plane->Text("memset_details", details);
}

void XSpaceDevice::GraphLaunch(const GraphLaunchTable& table, size_t row,
                               XPlaneWriter* plane) const {
  Begin("CudaGraphExec:" + std::to_string(table.graph[row]), table, row, plane);
}

}  // namespace gpuprof::analysis
