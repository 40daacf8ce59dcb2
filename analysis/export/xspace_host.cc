// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_host.h.

#include "analysis/export/xspace_host.h"

#include <algorithm>
#include <numeric>

#include "analysis/derived/device_work.h"
#include "analysis/export/detail_stats.h"
#include "analysis/export/host_events.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/passes.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kHostPlane = 0;
// Lines that have no number of their own. Threads of Linux have smaller ones.
constexpr int64_t kFirstOwnLine = int64_t{1} << 30;

// Returns the name of a call of a Python function as XLA's profiler writes it: "$file.py:12 f" of
// "file.py(12): f".
std::string PythonName(const std::string& name) {
  const size_t close = name.find("): ");
  const size_t open = close == std::string::npos ? close : name.rfind('(', close);
  const bool has_line = open != std::string::npos && open + 1 < close &&
                        std::all_of(name.begin() + static_cast<ptrdiff_t>(open) + 1,
                                    name.begin() + static_cast<ptrdiff_t>(close),
                                    [](char c) { return c >= '0' && c <= '9'; });
  if (!has_line) return "$" + name;
  return "$" + name.substr(0, open) + ":" + name.substr(open + 1, close - open - 1) + " " +
         name.substr(close + 3);
}

// A name with a colon needs a domain before it, if only an empty one.
std::string RangeName(const std::string& name, const std::string& domain) {
  const bool has_colon = name.find(':') != std::string::npos;
  return "NVTX:" + (domain.empty() && !has_colon ? "" : domain + ":") + name;
}

// Callers come first. A table has a caller behind what it called.
template <typename Table>
std::vector<uint32_t> ByStart(const Table& table) {
  std::vector<uint32_t> rows(table.rows());
  std::iota(rows.begin(), rows.end(), 0);
  std::sort(rows.begin(), rows.end(), [&](uint32_t x, uint32_t y) {
    const int64_t x_start = table.end_ns[x] - table.duration_ns[x];
    const int64_t y_start = table.end_ns[y] - table.duration_ns[y];
    if (x_start != y_start) return x_start < y_start;
    return table.end_ns[x] != table.end_ns[y] ? table.end_ns[x] > table.end_ns[y] : x > y;
  });
  return rows;
}

}  // namespace

XSpaceHost::XSpaceHost(PassContext& context, int64_t start_ns, XSpaceSteps* steps)
    : context_(context), start_ns_(start_ns), steps_(steps), plane_(kHostPlane, "/host:CPU") {}

int64_t XSpaceHost::LineId(int64_t wanted) {
  int64_t id = wanted >= 0 && wanted < kFirstOwnLine ? wanted : kFirstOwnLine;
  while (!lines_.insert(id).second) id = std::max(kFirstOwnLine, *lines_.rbegin() + 1);
  return id;
}

void XSpaceHost::Begin(std::string_view name, int64_t start, int64_t end) {
  plane_.BeginEvent(name, start - start_ns_, end - start);
}

XSpaceHost::Devices XSpaceHost::DevicesOf(const Process& process) {
  Devices devices;
  ForEachDeviceWork(process, [&](const Track& track, const DeviceWork&) {
    if (devices.has_work && devices.only != track.device) devices.is_only = false;
    devices.has_work = true;
    devices.only = track.device;
  });
  if (devices.is_only) return devices;
  ForEachDeviceWork(process, [&](const Track& track, const DeviceWork& work) {
    if (work.correlation != 0) devices.by_correlation.emplace(work.correlation, track.device);
  });
  return devices;
}

void XSpaceHost::Add(size_t index, bool is_named) {
  const Process& process = context_.process(index);
  functions_.clear();
  const Devices devices = DevicesOf(process);
  // Threads get their numbers first: other lines take what is left.
  for (size_t track = 0; track < process.tracks.size(); ++track) {
    const std::string& own = process.tracks[track].name;
    const std::string name = own.empty() ? "thread" : own;
    Thread(index, track, is_named ? ProcessName(process) + " " + name : name);
  }
  for (size_t track = 0; track < process.tracks.size(); ++track) {
    Calls(index, track, devices);
    Ranges(index, track);
  }
}

// Returns whether a range marks a step: then the step stands for it.
bool XSpaceHost::MarksStep(size_t process, size_t track, Interval span, const std::string& name,
                           const std::string& domain) {
  if (!steps_->IsOf(process, track)) return false;
  const size_t step = steps_->Find(span);
  return step != steps_->size() && steps_->TakeRange(step, name, domain);
}

std::vector<XSpaceHost::Event> XSpaceHost::EventsOf(size_t index, size_t number) {
  const Process& process = context_.process(index);
  const Track& track = process.tracks[number];
  std::vector<Event> events;
  const auto add = [&](const auto& table, Kind kind) {
    for (size_t row = 0; row < table.rows(); ++row)
      events.push_back({table.end_ns[row] - table.duration_ns[row], table.end_ns[row], row, kind});
  };
  add(track.python, Kind::kPython);
  for (size_t row = 0; row < track.op.rows(); ++row) {
    const int64_t end = track.op.end_ns[row], start = end - track.op.duration_ns[row];
    const bool is_step =
        IsUserRange(track.op, row) &&
        MarksStep(index, number, {start, end}, process.String(track.op.name[row]), "");
    if (!is_step) events.push_back({start, end, row, Kind::kOp});
  }
  for (size_t row = 0; row < track.tensor.rows(); ++row) {
    const int64_t time = track.tensor.time_ns[row];
    events.push_back({time, time, row, Kind::kMemory});
  }
  if (steps_->IsOf(index, number)) {
    // Ranges give the steps their names.
    for (size_t row = 0; row < track.range.rows(); ++row) {
      const int64_t end = track.range.end_ns[row];
      if (IsWritten(track.range, row))
        MarksStep(index, number, {end - track.range.duration_ns[row], end},
                  process.String(track.range.name[row]), process.String(track.range.domain[row]));
    }
    for (size_t step = 0; step < steps_->size(); ++step)
      events.push_back({steps_->span(step).start, steps_->span(step).end, step, Kind::kStep});
  }
  std::sort(events.begin(), events.end(), [](const Event& x, const Event& y) {
    if (x.start != y.start) return x.start < y.start;
    if (x.end != y.end) return x.end > y.end;
    return x.kind != y.kind ? x.kind < y.kind : x.row > y.row;
  });
  return events;
}

void XSpaceHost::Thread(size_t index, size_t number, const std::string& name) {
  const Process& process = context_.process(index);
  const Track& track = process.tracks[number];
  const std::vector<Event> events = EventsOf(index, number);
  if (events.empty()) return;
  const int64_t tid = int64_t{static_cast<uint32_t>(track.tid)};
  const int64_t line = LineId(tid);
  plane_.BeginLine(line, name + "/" + std::to_string(line));
  const bool has_steps = steps_->IsOf(index, number);
  int64_t until = INT64_MIN;  // the end of all before
  for (const Event& event : events) {
    switch (event.kind) {
      case Kind::kStep:
        steps_->Write(event.row, start_ns_, &plane_);
        continue;
      case Kind::kMemory:
        Memory(track.tensor, event.row);
        continue;
      case Kind::kPython:
        Begin(PythonName(process.String(track.python.name[event.row])), event.start, event.end);
        break;
      case Kind::kOp:
        Begin(process.String(track.op.name[event.row]), event.start, event.end);
        if (!track.op.detail.empty() && track.op.detail[event.row] != 0)
          AddDetailStats(process.String(track.op.detail[event.row]), "", &plane_);
        break;
    }
    // What lies in another event is of its step.
    if (!has_steps && event.start >= until) steps_->Link(index, event.start, &plane_);
    until = std::max(until, event.end);
    plane_.EndEvent();
  }
  plane_.EndLine();
}

// XProf reads these values as signed numbers alone.
void XSpaceHost::Memory(const TensorTable& table, size_t row) {
  constexpr uint32_t kCpu = 0;  // c10::DeviceType
  const int64_t time = table.time_ns[row], bytes = table.bytes[row];
  const uint32_t index = proto::DeviceIndexOf(table.device[row]);
  const bool is_host = proto::DeviceTypeOf(table.device[row]) == kCpu;
  const auto allocated = static_cast<int64_t>(table.total_allocated[row]);
  const auto reserved = static_cast<int64_t>(table.total_reserved[row]);
  Begin(bytes < 0 ? "MemoryDeallocation" : "MemoryAllocation", time, time);
  std::string allocator = is_host ? "cpu" : "GPU";
  if (!is_host && index != proto::kNoDeviceIndex) allocator += "_" + std::to_string(index);
  plane_.Text("allocator_name", allocator);
  plane_.Number("addr", static_cast<int64_t>(table.address[row]));
  if (bytes != proto::kReturnedOfUnknownSize) {
    plane_.Number("allocation_bytes", bytes < 0 ? -bytes : bytes);
    plane_.Number("requested_bytes", bytes < 0 ? -bytes : bytes);
  }
  plane_.Number("bytes_allocated", allocated);
  plane_.Number("bytes_available", std::max<int64_t>(reserved - allocated, 0));
  plane_.Number("bytes_reserved", 0);
  plane_.EndEvent();
}

void XSpaceHost::Calls(size_t index, size_t number, const Devices& devices) {
  const Process& process = context_.process(index);
  const Track& track = process.tracks[number];
  const ApiTable& calls = track.api;
  if (calls.rows() == 0) return;
  const std::string tid = std::to_string(static_cast<uint32_t>(track.tid));
  plane_.BeginLine(LineId(kFirstOwnLine), "Host Threads/" + tid);
  for (const uint32_t row : ByStart(calls)) {
    const auto [name, is_new] = functions_.try_emplace(calls.function[row]);
    if (is_new) name->second = ApiFunctionName(process, calls.function[row]);
    const int64_t start = calls.end_ns[row] - calls.duration_ns[row];
    Begin(name->second, start, calls.end_ns[row]);
    // Processes number their calls alike. One of them has work.
    if (devices.has_work && calls.correlation[row] != 0) {
      plane_.Number("correlation_id", calls.correlation[row]);
      const auto device = devices.by_correlation.find(calls.correlation[row]);
      if (devices.is_only || device != devices.by_correlation.end())
        plane_.Number("device_id", devices.is_only ? devices.only : device->second);
    }
    steps_->Link(index, start, &plane_);
    plane_.EndEvent();
  }
  plane_.EndLine();
}

void XSpaceHost::Ranges(size_t index, size_t number) {
  const Process& process = context_.process(index);
  const Track& track = process.tracks[number];
  const RangeTable& ranges = track.range;
  bool is_open = false;
  for (const uint32_t row : ByStart(ranges)) {
    if (!IsWritten(ranges, row)) continue;
    const int64_t end = ranges.end_ns[row], start = end - ranges.duration_ns[row];
    const std::string name = process.String(ranges.name[row]);
    const std::string domain = process.String(ranges.domain[row]);
    if (MarksStep(index, number, {start, end}, name, domain)) continue;
    if (!is_open) {
      const std::string tid = std::to_string(static_cast<uint32_t>(track.tid));
      plane_.BeginLine(LineId(kFirstOwnLine), "Host Threads/" + tid + "/NVTX");
    }
    is_open = true;
    Begin(RangeName(name, domain), start, end);
    plane_.EndEvent();
  }
  if (is_open) plane_.EndLine();
}

}  // namespace gpuprof::analysis
