// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_names.h. The names are those of XLA's xplane_schema.cc, cupti_collector.cc and
// rocm_collector.cc.

#include "analysis/import/xspace_names.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "analysis/import/kineto_fields.h"

namespace gpuprof::analysis::import {
namespace {

template <typename Value>
struct Named {
  std::string_view name;
  Value value;
};

template <typename Value, size_t kCount>
std::optional<Value> Find(const Named<Value> (&table)[kCount], std::string_view name) {
  for (const Named<Value>& row : table)
    if (row.name == name) return row.value;
  return std::nullopt;
}

std::optional<uint64_t> NumberAt(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

uint32_t Small(std::optional<uint64_t> number) {
  return number && *number < 0xffffffff ? static_cast<uint32_t>(*number) : 0;
}

// Calls `on_pair` with each "key:value" of a packed text.
template <typename OnPair>
void ForPairs(std::string_view packed, const OnPair& on_pair) {
  while (!packed.empty()) {
    const size_t end = std::min(packed.find_first_of(" \n"), packed.size());
    const std::string_view pair = packed.substr(0, end);
    packed.remove_prefix(std::min(end + 1, packed.size()));
    const size_t colon = pair.find(':');
    if (colon != std::string_view::npos) on_pair(pair.substr(0, colon), pair.substr(colon + 1));
  }
}

void ReadDimensions(std::string_view text, std::array<uint32_t, 3>* out) {
  for (uint32_t& size : *out) {
    size = Small(NumberAt(text));
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

// CUpti_ActivityMemoryKind, by its number or by XLA's name.
uint8_t MemoryKindOf(std::string_view text) {
  constexpr Named<uint8_t> kKinds[] = {
      {"unknown", 0}, {"pageable", 1},      {"pinned", 2},        {"device", 3},
      {"array", 4},   {"managed", 5},       {"device_static", 6}, {"managed_static", 7},
      {"host", 1},    {"Pageable", 1},      {"Pinned", 2},        {"Device", 3},
      {"Managed", 5}, {"Device Static", 6}, {"Managed Static", 7}};
  if (const auto number = NumberAt(text)) return *number <= 7 ? static_cast<uint8_t>(*number) : 0;
  return Find(kKinds, text).value_or(0);
}

constexpr Named<StatRole> kRoles[] = {
    {"hlo_op", StatRole::kHloOp},
    {"correlation_id", StatRole::kCorrelation},
    {"context_id", StatRole::kContext},
    {"kernel_details", StatRole::kKernelDetails},
    {"memcpy_details", StatRole::kCopyDetails},
    {"memset_details", StatRole::kSetDetails},
    {"Memset_details", StatRole::kSetDetails},
    {"cuda_graph_exec_id", StatRole::kGraph},
    {"cuda_graph_node_id", StatRole::kGraphNode},
    {"scope_range_id", StatRole::kScope},
    {"_r", StatRole::kRoot},
    {"step_name", StatRole::kStepName},
    {"step_num", StatRole::kStepNumber},
    {"iter_num", StatRole::kIteration},
    {"group_id", StatRole::kGroup},
    {"device_id", StatRole::kIgnored},
    {"device_offset_ps", StatRole::kIgnored},
    {"device_duration_ps", StatRole::kIgnored},
    {"flow", StatRole::kLink},
    {"_p", StatRole::kLink},
    {"_pt", StatRole::kLink},
    {"_c", StatRole::kLink},
    {"_ct", StatRole::kLink},
    {"symbol_id", StatRole::kIgnored},
    {"Hlo Proto", StatRole::kIgnored},
    {"hlo_proto", StatRole::kIgnored},
};

constexpr std::string_view kDerivedNames[] = {"XLA Modules",
                                              "Launch Stats",
                                              "Framework Name Scope",
                                              "Framework Ops",
                                              "TensorFlow Name Scope",
                                              "TensorFlow Ops",
                                              "Source code",
                                              "Source Code",
                                              "XLA TraceMe",
                                              "XLA Overhead",
                                              "Overlay",
                                              "Host Offload",
                                              "Host Offload Ops",
                                              "Sparse Core Steps",
                                              "Sparse Core Modules",
                                              "Sparse Core Ops"};

// XProf gives the lines that it derives ids from here on, as signed 32 bits in some releases.
bool IsDerivedId(int64_t id) {
  constexpr uint32_t kBase = 0xdeadbeef, kCount = 1 << 16;
  if (id < INT32_MIN || id > UINT32_MAX) return false;
  const auto low = static_cast<uint32_t>(id);
  return low >= kBase && low - kBase < kCount;
}

}  // namespace

PlaneName PlaneNameOf(std::string_view name) {
  PlaneName out;
  constexpr Named<PlaneKind> kKnown[] = {
      {"/host:metadata", PlaneKind::kMetadata},
      {"/host:__ScopeRangeCallStack__", PlaneKind::kScopes},
      {"Task Environment", PlaneKind::kTask},
  };
  if (const auto known = Find(kKnown, name)) {
    out.kind = *known;
    return out;
  }
  if (name.starts_with("/host:")) {
    out.kind = PlaneKind::kHost;
    return out;
  }
  constexpr Named<PlaneKind> kDevices[] = {{"/device:GPU:", PlaneKind::kGpu},
                                           {"/device:TPU:", PlaneKind::kTpu}};
  for (const auto& [prefix, kind] : kDevices) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    const std::optional<uint64_t> number = NumberAt(rest);
    if (!number || *number >= 0xffffffff) continue;
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    out.kind = kind;
    out.device = static_cast<uint32_t>(*number);
    out.part = rest.substr(digits);
    if (out.part.starts_with(' ')) out.part.erase(0, 1);
  }
  return out;
}

DeviceLine DeviceLineOf(PlaneKind plane, int64_t id, std::string_view name) {
  // Some lines are of one stream: "XLA Ops - from #14".
  const std::string_view base = name.substr(0, name.find(" - from #"));
  if (base == "Steps") return DeviceLine::kSteps;
  if (base == "Async XLA Ops") return DeviceLine::kAsync;
  if (base == "_counters_") return DeviceLine::kCounters;
  if (base == "CUPTI overhead") return DeviceLine::kOverhead;
  if (plane == PlaneKind::kGpu && IsDerivedId(id)) return DeviceLine::kDerived;
  if (base == "XLA Ops") return plane == PlaneKind::kTpu ? DeviceLine::kWork : DeviceLine::kDerived;
  if (std::find(std::begin(kDerivedNames), std::end(kDerivedNames), base) !=
      std::end(kDerivedNames))
    return DeviceLine::kDerived;
  // A TPU works in its line XLA Ops alone.
  return plane == PlaneKind::kTpu ? DeviceLine::kDerived : DeviceLine::kWork;
}

StatRole StatRoleOf(std::string_view name) {
  return Find(kRoles, name).value_or(StatRole::kDetail);
}

HostEvent HostEventOf(std::string_view name) {
  if (name.starts_with('$')) return HostEvent::kPython;
  if (name.starts_with("NVTX:")) return HostEvent::kRange;
  if (name == "MemoryAllocation") return HostEvent::kAllocation;
  if (name == "MemoryDeallocation") return HostEvent::kRelease;
  return name == "TraceContext" ? HostEvent::kStep : HostEvent::kOp;
}

bool IsApiName(std::string_view name, bool* is_driver) {
  const auto is_upper = [&](size_t at) {
    return name.size() > at && name[at] >= 'A' && name[at] <= 'Z';
  };
  *is_driver = name.starts_with("cu") && is_upper(2);
  return *is_driver || (name.starts_with("cuda") && is_upper(4)) ||
         (name.starts_with("hip") && is_upper(3));
}

bool IsLaunchOfXla(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return IsLaunchingCall(name) || ((has("Memcpy") || has("Memset")) && has("Async"));
}

std::string PythonNameOf(std::string_view name) {
  name.remove_prefix(1);
  // Names of files have blanks: "<frozen abc>:12 f". Names of functions have none.
  const size_t last = name.rfind(' ');
  if (last == std::string_view::npos) return std::string(name);
  const std::string_view function = name.substr(last + 1);
  const size_t colon = name.rfind(':', last);
  if (colon != std::string_view::npos && colon + 1 != last &&
      name.find_first_not_of("0123456789", colon + 1) == last)
    return std::string(name.substr(0, colon)) + "(" +
           std::string(name.substr(colon + 1, last - colon - 1)) + "): " + std::string(function);
  // Other names come from an export: "nn.Module: Linear_0".
  const std::string_view place = name.substr(0, last);
  if (place.ends_with(':') || place.find(' ') != std::string_view::npos) return std::string(name);
  return std::string(place) + "." + std::string(function);
}

EncodedName EncodedNameOf(std::string_view name) {
  EncodedName out;
  out.name = name;
  const size_t open = name.find('#');
  if (name.empty() || name.back() != '#' || open + 1 >= name.size()) return out;
  std::string_view inside = name.substr(open + 1, name.size() - open - 2);
  out.name = name.substr(0, open);
  while (!inside.empty()) {
    const size_t end = std::min(inside.find(','), inside.size());
    const std::string_view pair = inside.substr(0, end);
    inside.remove_prefix(std::min(end + 1, inside.size()));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos)
      out.values.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return out;
}

NvtxName NvtxNameOf(std::string_view name) {
  if (name.starts_with("NVTX:")) name.remove_prefix(5);
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon + 1 == name.size()) return {{}, name};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

int64_t ThreadOfLine(int64_t id, std::string_view name) {
  constexpr std::string_view kPrefix = "Host Threads/";
  if (!name.starts_with(kPrefix)) return id;
  const std::optional<uint64_t> number = NumberAt(name.substr(kPrefix.size()));
  return number && *number < uint64_t{1} << 62 ? static_cast<int64_t>(*number) : id;
}

std::string_view ThreadName(std::string_view line, int64_t id) {
  if (line.starts_with("Host Threads/")) return {};
  const std::string suffix = "/" + std::to_string(id);
  if (line.ends_with(suffix)) line.remove_suffix(suffix.size());
  return line;
}

KernelShape KernelShapeOf(std::string_view packed) {
  KernelShape shape;
  ForPairs(packed, [&](std::string_view key, std::string_view value) {
    if (key == "grid") ReadDimensions(value, &shape.grid);
    if (key == "block") ReadDimensions(value, &shape.block);
    if (key == "regs") shape.registers = Small(NumberAt(value));
    if (key == "static_shared") shape.static_shared = Small(NumberAt(value));
    // ROCm does not tell which part was chosen at the launch.
    if (key == "dynamic_shared" || key == "group_mem")
      shape.dynamic_shared = Small(NumberAt(value));
    if (key == "private_mem") shape.local_bytes = Small(NumberAt(value));
  });
  return shape;
}

CopyFacts CopyFactsOf(std::string_view packed) {
  CopyFacts facts;
  ForPairs(packed, [&](std::string_view key, std::string_view value) {
    if (key == "size" || key == "num_bytes") facts.bytes = NumberAt(value);
    if (key == "kind_src") facts.source = MemoryKindOf(value);
    if (key == "kind_dst") facts.destination = MemoryKindOf(value);
    if (key == "kind") {
      facts.kind = WorkNameOf("Memcpy" + std::string(value)).kind;
      facts.memory = MemoryKindOf(value);
    }
  });
  return facts;
}

WorkName WorkNameOf(std::string_view name) {
  WorkName out;
  constexpr std::string_view kGraph = "CudaGraphExec:";
  if (name.starts_with(kGraph)) {
    out.graph = Small(NumberAt(name.substr(kGraph.size())));
    return out;
  }
  const CopyName known = CopyOfName(name);
  const bool is_upper = name.starts_with("MEMCPY");
  out.is_set = known.is_set || name.starts_with("MEMSET");
  out.is_copy = known.is_copy || is_upper;
  out.kind = known.kind;
  // In the order of CUpti_ActivityMemcpyKind, from 1; "": XLA has no name for the kind.
  constexpr std::string_view kShort[] = {"H2D", "D2H", "H2A", "A2H", "A2A",
                                         "A2D", "D2A", "D2D", "H2H", "P2P"};
  constexpr std::string_view kUpper[] = {"HToD", "DToH", "HToA", "AToH", "AToA",
                                         "AToD", "DToA", "DToD", "HToH", "PToP"};
  for (size_t i = 0; out.is_copy && out.kind == 0 && i < std::size(kShort); ++i) {
    if (name.find(kShort[i]) != std::string_view::npos ||
        name.find(kUpper[i]) != std::string_view::npos)
      out.kind = static_cast<uint8_t>(i + 1);
  }
  return out;
}

std::string_view HloNameOf(std::string_view text) {
  text = text.substr(0, text.find(" = "));
  if (text.starts_with('%')) text.remove_prefix(1);
  return text;
}

}  // namespace gpuprof::analysis::import
