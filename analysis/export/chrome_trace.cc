// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportChrome: a trace as Chrome JSON, in the form that Kineto writes. HolisticTraceAnalysis,
// Perfetto and gpuprof itself read it. The text goes out in pieces. Memory is needed for the calls
// of one process at a time, for the order of one track, and for distinct names.
//
// Ranks: if one rank is known, it is in distributedInfo. HolisticTraceAnalysis wants a file for
// each rank: ExportOptions::pid selects its process. A file of several processes with GPU work
// tells them apart by pids, see places.h. A process without a known rank has its pid there.
//
// Operations, ranges and Python calls of a track come by their start, other rows by their end.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/export/event_writer.h"
#include "analysis/export/export_window.h"
#include "analysis/export/gpu_events.h"
#include "analysis/export/header.h"
#include "analysis/export/host_events.h"
#include "analysis/export/left_out.h"
#include "analysis/export/op_links.h"
#include "analysis/export/places.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/model/trace.h"
#include "proto/record.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// Tables whose rows have a place in the file.
constexpr proto::ChunkKind kWritten[] = {
    proto::ChunkKind::kOp,      proto::ChunkKind::kRange,    proto::ChunkKind::kTensor,
    proto::ChunkKind::kPython,  proto::ChunkKind::kKernel,   proto::ChunkKind::kMemcpy,
    proto::ChunkKind::kMemset,  proto::ChunkKind::kApi,      proto::ChunkKind::kSync,
    proto::ChunkKind::kCounter, proto::ChunkKind::kOverhead, proto::ChunkKind::kHostFunction};
// Imported launches and events are made from Python calls and waits, which are written.
constexpr proto::ChunkKind kWrittenOfImports[] = {
    proto::ChunkKind::kOp,       proto::ChunkKind::kRange,    proto::ChunkKind::kTensor,
    proto::ChunkKind::kPython,   proto::ChunkKind::kKernel,   proto::ChunkKind::kMemcpy,
    proto::ChunkKind::kMemset,   proto::ChunkKind::kApi,      proto::ChunkKind::kSync,
    proto::ChunkKind::kCounter,  proto::ChunkKind::kOverhead, proto::ChunkKind::kLaunch,
    proto::ChunkKind::kCudaEvent};

// Sampled counters are shown below their device.
bool WriteCounters(const Process& sampler, EventWriter* out, ExportReport* report) {
  for (const Track& track : sampler.tracks) {
    const auto device = sampler.sampled_devices.find(track.id);
    const std::string pid =
        std::to_string(device == sampler.sampled_devices.end() ? 0 : device->second.index());
    for (size_t row = 0; row < track.counter.rows(); ++row) {
      const auto known = sampler.counters.find(track.counter.counter[row]);
      const bool is_number = known != sampler.counters.end() && known->second.unit() != "mask" &&
                             known->second.pid() == 0;
      if (!is_number || device == sampler.sampled_devices.end()) {
        ++report->left_out["counter"];
        continue;
      }
      out->Counter(known->second.name(), pid, track.counter.time_ns[row]);
      out->JsonArg(known->second.unit(),
                   CounterValueText(track.counter.value[row], known->second.divisor()));
      if (!out->End()) return false;
    }
  }
  return true;
}

// Counters of an imported file: an event for the values that one event had.
bool WriteCounters(const Process& process, const Track& track, const Places& places,
                   EventWriter* out, ExportReport* report) {
  const CounterTable& table = track.counter;
  const std::string_view pid = track.is_stream ? places.DevicePid(track.device) : places.pid();
  const auto known = [&](size_t row) { return process.counters.find(table.counter[row]); };
  for (size_t row = 0; row < table.rows();) {
    const auto first = known(row);
    if (first == process.counters.end()) {
      ++report->left_out["counter"];
      ++row;
      continue;
    }
    const size_t begin = row;
    out->Counter(first->second.name(), pid, table.time_ns[row]);
    for (; row < table.rows() && table.time_ns[row] == table.time_ns[begin]; ++row) {
      const auto each = known(row);
      const bool is_next = row == begin || table.counter[row] > table.counter[row - 1];
      if (!is_next || each == process.counters.end() || each->second.name() != first->second.name())
        break;
      out->JsonArg(each->second.source(),
                   CounterValueText(table.value[row], each->second.divisor()));
    }
    if (!out->End()) return false;
  }
  return true;
}

// Operations that were open at the end of the recording are known by their end: the recording ends
// there, too.
void WriteRecording(const std::vector<const Process*>& processes, EventWriter* out) {
  int64_t start = INT64_MAX, end = INT64_MAX;
  for (const Process* process : processes) {
    start = std::min(start, process->first_ns);
    for (const Track& track : process->tracks) {
      for (size_t row = 0; row < track.op.rows(); ++row) {
        if ((proto::FlagsOf(track.op.operation[row]) & proto::kFlagIncomplete) != 0)
          end = std::min(end, track.op.end_ns[row]);
      }
    }
  }
  if (end != INT64_MAX) out->Recording(std::min(start, end), end);
}

bool WriteProcess(const Process& process, const Places& places, bool is_imported, EventWriter* out,
                  ExportReport* report) {
  const CallIndex calls(process);
  const OpLinks links(process, calls, is_imported);
  HostEvents host(process, places, links, is_imported, out);
  GpuEvents gpu(process, places, links, calls, is_imported, out);
  for (size_t track = 0; track < process.tracks.size(); ++track) {
    if (!host.Write(track) || !gpu.Write(track) ||
        !WriteCounters(process, process.tracks[track], places, out, report))
      return false;
    CountLeftOut(process.tracks[track],
                 is_imported ? std::span<const proto::ChunkKind>(kWrittenOfImports)
                             : std::span<const proto::ChunkKind>(kWritten),
                 report);
    report->sampled_rows += SampledRows(process.tracks[track]);
  }
  return true;
}

// An imported process may have the prefix of its pid as host.
std::string PrefixOf(const Process& process) {
  if (process.host.starts_with('[') && process.host.ends_with(']')) return process.host + " ";
  const std::optional<Rank> rank = RankOf(process);
  return "[" + (rank ? "rank " + std::to_string(rank->number) : std::to_string(process.pid)) + "] ";
}

// Returns the rank of the processes. "": not known, or they have several.
std::string OnlyRank(const std::vector<const Process*>& processes, ExportReport* report) {
  for (const Process* process : processes) {
    if (const std::optional<Rank> rank = RankOf(*process)) report->ranks.insert(rank->number);
  }
  return report->ranks.size() == 1 ? std::to_string(*report->ranks.begin()) : "";
}

}  // namespace

Error ExportChrome(const Trace& whole, const ExportOptions& options, Sink sink, void* context,
                   ExportReport* report) {
  const std::shared_ptr<const Trace> part = PartOf(whole, options);
  const Trace& trace = part == nullptr ? whole : *part;
  std::vector<const Process*> processes;
  for (const Process& process : trace.processes) {
    if (options.pid == 0 || process.pid == options.pid) processes.push_back(&process);
  }
  if (processes.empty() && options.pid != 0)
    return {ErrorKind::kUsage, "The bundle has no process " + std::to_string(options.pid) +
                                   "; `gpuprof info` lists the processes."};
  const auto gpu_processes = std::count_if(processes.begin(), processes.end(),
                                           [](const Process* p) { return UsesGpu(*p); });
  EventWriter out(sink, context);
  WriteHeader(trace, processes, OnlyRank(processes, report), &out);
  std::vector<Places> places;
  for (const Process* process : processes) {
    places.emplace_back(*process, gpu_processes > 1 ? PrefixOf(*process) : "", places.size());
    WritePlaces(*process, places.back(), &out);
  }
  WriteRecording(processes, &out);
  for (size_t i = 0; i < processes.size(); ++i) {
    if (!WriteProcess(*processes[i], places[i], !trace.importer.empty(), &out, report)) return {};
  }
  if (options.pid == 0) {
    for (const Process& sampler : trace.samplers) {
      if (!WriteCounters(sampler, &out, report)) return {};
    }
  }
  WriteFooter(options.name, &out);
  out.Flush();
  report->events = out.events();
  return {};
}

}  // namespace gpuprof::analysis
