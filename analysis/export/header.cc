// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See header.h.

#include "analysis/export/header.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/model/cuda_versions.h"
#include "analysis/model/process_groups.h"

namespace gpuprof::analysis {
namespace {

// Members of one object. A number of 0 was not told and is left out.
class Members {
 public:
  explicit Members(EventWriter* out) : out_(out) {}
  void Number(std::string_view key, uint64_t value) {
    if (value != 0) Any(key, value);
  }
  void Any(std::string_view key, uint64_t value) {
    Key(key);
    out_->Number(value);
  }
  void Text(std::string_view key, std::string_view value) {
    Key(key);
    out_->Text(value);
  }

 private:
  void Key(std::string_view key) {
    if (!is_first_) out_->Raw(", ");
    is_first_ = false;
    out_->Text(key);
    out_->Raw(": ");
  }

  EventWriter* out_;
  bool is_first_ = true;
};

void WriteDevice(const proto::Device& device, EventWriter* out) {
  Members members(out);
  members.Any("id", device.id());
  members.Text("name", device.name());
  members.Number("totalGlobalMem", device.memory_bytes());
  members.Number("computeMajor", device.compute_major());
  if (device.compute_major() != 0) members.Any("computeMinor", device.compute_minor());
  members.Number("maxThreadsPerBlock", device.threads_per_block());
  members.Number("maxThreadsPerMultiprocessor",
                 uint64_t{device.warps_per_multiprocessor()} * device.threads_per_warp());
  members.Number("regsPerBlock", device.registers_per_block());
  members.Number("warpSize", device.threads_per_warp());
  members.Number("sharedMemPerBlock", device.shared_bytes_per_block());
  members.Number("numSms", device.multiprocessors());
  members.Number("regsPerMultiprocessor", device.registers_per_multiprocessor());
  members.Number("sharedMemPerMultiprocessor", device.shared_bytes_per_multiprocessor());
}

// Devices of all processes by number. If two processes number different devices alike, the first
// one is described.
std::map<uint32_t, const proto::Device*> DevicesOf(const std::vector<const Process*>& processes) {
  std::map<uint32_t, const proto::Device*> devices;
  for (const Process* process : processes) {
    for (const proto::Device& device : process->devices) devices.try_emplace(device.id(), &device);
  }
  return devices;
}

// Returns the host of all processes. "": they have several, or the host is not known. A host in
// brackets is the prefix of pids, see places.h.
std::string OnlyHost(const std::vector<const Process*>& processes) {
  std::string host = processes.empty() ? "" : processes.front()->host;
  const bool is_only = std::all_of(processes.begin(), processes.end(),
                                   [&](const Process* process) { return process->host == host; });
  return is_only && !host.starts_with('[') ? host : "";
}

std::string WorldSizeOf(const std::vector<const Process*>& processes) {
  for (const Process* process : processes) {
    const auto found = process->environment.find("WORLD_SIZE");
    const bool is_number = found != process->environment.end() && !found->second.empty() &&
                           found->second.size() < 10 &&
                           std::all_of(found->second.begin(), found->second.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_number) return std::to_string(std::stoul(found->second));
  }
  return "";
}

// Writes the versions that the notes of all processes tell alike.
void WriteVersions(const std::vector<const Process*>& processes, EventWriter* out) {
  for (const CudaVersionKind& kind : kCudaVersions) {
    std::set<int64_t> numbers;
    for (const Process* process : processes) {
      for (const proto::Note& note : process->health.note()) {
        const auto number =
            note.source() == kVersionSource ? CudaVersionNumber(kind, note.text()) : std::nullopt;
        if (number) numbers.insert(*number);
      }
    }
    if (numbers.size() == 1)
      out->Raw("  \"" + std::string(kind.key) + "\": " + std::to_string(*numbers.begin()) + ",\n");
  }
}

// Writes the process groups of the first process that has some: a file is of one rank.
void WriteProcessGroups(const std::vector<const Process*>& processes, EventWriter* out) {
  std::vector<ProcessGroup> groups;
  for (size_t i = 0; i < processes.size() && groups.empty(); ++i) groups = GroupsOf(*processes[i]);
  if (groups.empty()) return;
  out->Raw(", \"pg_count\": " + std::to_string(groups.size()) + ", \"pg_config\": [");
  bool is_first = true;
  for (const ProcessGroup& group : groups) {
    out->Raw(is_first ? "\n    {\"pg_name\": " : ",\n    {\"pg_name\": ");
    is_first = false;
    out->Text(group.name);
    out->Raw(", \"pg_desc\": ");
    out->Text(group.description);
    out->Raw(", \"pg_size\": " + std::to_string(group.ranks.size()) + ", \"ranks\": [");
    for (size_t i = 0; i < group.ranks.size(); ++i)
      out->Raw((i == 0 ? "" : ", ") + std::to_string(group.ranks[i]));
    out->Raw("]}");
  }
  out->Raw("]");
}

}  // namespace

void WriteHeader(const Trace& trace, const std::vector<const Process*>& processes,
                 const std::string& rank, EventWriter* out) {
  out->Raw("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
  bool is_first = true;
  for (const auto& [id, device] : DevicesOf(processes)) {
    out->Raw(is_first ? "\n    {" : ",\n    {");
    is_first = false;
    WriteDevice(*device, out);
    out->Raw("}");
  }
  out->Raw("\n  ],\n");
  WriteVersions(processes, out);
  if (!rank.empty()) {
    // HolisticTraceAnalysis looks for the rank line by line.
    out->Raw("  \"distributedInfo\": {\"rank\": " + rank);
    const std::string world = WorldSizeOf(processes);
    if (!world.empty()) out->Raw(", \"world_size\": " + world);
    WriteProcessGroups(processes, out);
    out->Raw("},\n");
  }
  if (const std::string host = OnlyHost(processes); !host.empty()) {
    out->Raw("  \"host_name\": ");
    out->Text(host);
    out->Raw(",\n");
  }
  out->Raw("  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
  out->Number(trace.origin_realtime_ns);
  out->Raw(",\n  \"traceEvents\": [");
}

void WriteFooter(std::string_view name, EventWriter* out) {
  out->Raw("\n  ],\n  \"traceName\": ");
  out->Text(name);
  out->Raw("\n}\n");
}

}  // namespace gpuprof::analysis
