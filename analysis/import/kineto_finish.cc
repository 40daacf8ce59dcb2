// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What can be done only when all rows are known; see kineto_importer.h.

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/import/kineto_importer.h"
#include "analysis/model/process_groups.h"

namespace gpuprof::analysis::import {

// Cuts impossible ends. Kernels of one graph may lie in each other.
void KinetoImporter::ClipDeviceRows() {
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, std::vector<uint32_t>> streams;
  for (uint32_t i = 0; i < device_rows_.size(); ++i) {
    const DeviceRow& row = device_rows_[i];
    if (row.category == Category::kSync || !row.has_time) continue;
    streams[{row.group, row.device, row.context, row.stream}].push_back(i);
  }
  for (auto& [key, rows] : streams) {
    std::stable_sort(rows.begin(), rows.end(), [&](uint32_t x, uint32_t y) {
      return device_rows_[x].work.span.start < device_rows_[y].work.span.start;
    });
    LaterRows later;
    for (size_t k = rows.size(); k-- > 0;) {
      DeviceRow& row = device_rows_[rows[k]];
      ClipDeviceRow(later.OfOthers(row.correlation), &row);
      later.Add(row.correlation, row.work.span);
    }
  }
}

void KinetoImporter::ClipDeviceRow(const LaterRows::Others& others, DeviceRow* row) {
  const bool is_of_graph = row->work.graph != 0 || row->work.graph_node != 0;
  if (is_of_graph || !CutImpossibleEnd(others, &row->work.span)) return;
  notes_.Add(ImportNoteKind::kClipped, texts_[row->name]);
}

// A function returns before its caller returns. Calls whose return was missed end when the profiler
// stopped.
void KinetoImporter::ClipPython() {
  for (Host* host : host_order_) {
    std::unordered_map<int64_t, std::pair<uint32_t, uint32_t>> places;  // timeline and row, by id
    ProcessBuilder& builder = *host->builder;
    for (uint32_t t = 0; t < builder.timelines(); ++t) {
      const std::vector<PythonRow>& rows = builder.python(t);
      for (uint32_t i = 0; i < rows.size(); ++i) places.emplace(rows[i].id, std::pair(t, i));
    }
    for (uint32_t t = 0; t < builder.timelines(); ++t) {
      std::vector<PythonRow>& rows = builder.python(t);
      std::vector<uint32_t> order(rows.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
        return rows[x].span.start < rows[y].span.start;
      });
      for (const uint32_t i : order) {
        PythonRow& row = rows[i];
        if (row.parent < 0) continue;
        const auto at = places.find(row.parent);
        if (at == places.end() || at->second.first != t) {
          if (at == places.end())
            notes_.Add(ImportNoteKind::kUnknownName,
                       "Python parent id " + std::to_string(row.parent));
          continue;
        }
        const SpanNs& caller = rows[at->second.second].span;
        const bool begins_inside = row.span.start >= caller.start && row.span.start <= caller.end;
        if (!begins_inside || row.span.end <= caller.end) continue;
        row.span.end = caller.end;
        notes_.Add(ImportNoteKind::kClipped, "Python functions that end after their caller");
      }
    }
  }
}

// Counts frees of memory that was allocated before the recording began.
void KinetoImporter::FindEarlierBlocks() {
  for (const Host* host : host_order_) {
    std::vector<TensorRow> rows;
    for (uint32_t t = 0; t < host->builder->timelines(); ++t) {
      const std::vector<TensorRow>& some = host->builder->tensors(t);
      rows.insert(rows.end(), some.begin(), some.end());
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const TensorRow& x, const TensorRow& y) { return x.time < y.time; });
    std::set<std::pair<uint32_t, uint64_t>> live;  // device and address
    for (const TensorRow& row : rows) {
      if (row.bytes >= 0) {
        live.emplace(row.device, row.address);
      } else if (live.erase({row.device, row.address}) == 0) {
        notes_.Add(ImportNoteKind::kPreexisting, "address " + std::to_string(row.address));
      }
    }
  }
}

void KinetoImporter::JoinCalls() {
  for (const Host* host : host_order_) {
    for (const LaunchCall& call : host->calls.calls()) {
      if (call.launches && !call.has_work) notes_.Add(ImportNoteKind::kNoKernel, texts_[call.name]);
      if (stop_ns_ != INT64_MIN && call.span.end > stop_ns_)
        notes_.Add(ImportNoteKind::kEndsAtStop, texts_[call.name]);
    }
  }
}

void KinetoImporter::FindClashes() {
  if (host_order_.size() < 2) return;
  std::unordered_map<int64_t, uint32_t> seen;
  for (const Host* host : host_order_) {
    for (const LaunchCall& call : host->calls.calls()) {
      if (++seen[call.correlation] == 2)
        notes_.Add(ImportNoteKind::kIdClash, "correlation " + std::to_string(call.correlation));
    }
  }
}

void KinetoImporter::NameTimelines() {
  for (const auto& [key, name] : thread_names_) {
    const auto host = hosts_.find(key.first);
    if (host == hosts_.end() || !host->second->builder) continue;
    ProcessBuilder& builder = *host->second->builder;
    // Kineto writes "thread 123 (python3)".
    const size_t open = name.find('(');
    const bool has_inner = name.starts_with("thread ") && open != std::string::npos &&
                           name.back() == ')' && open + 1 < name.size() - 1;
    const std::string inner =
        has_inner ? name.substr(open + 1, name.size() - open - 2) : std::string(name);
    if (const auto timeline = builder.FindThread(key.second.number);
        key.second.prefix.empty() && timeline)
      builder.NameThread(*timeline, inner);
  }
}

void KinetoImporter::FillProcess(const std::string& file, Host* host) {
  Process& process = host->builder->process();
  process.file = file;
  if (!host_name_.empty() && process.host.empty()) process.host = host_name_;
  process.environment = environment_;
  for (const proto::Device& device : devices_) process.devices.push_back(device);
  // Files have their header in any order.
  std::sort(versions_.begin(), versions_.end());
  for (const std::string& version : versions_) {
    proto::Note* note = process.health.add_note();
    note->set_source(kVersionSource);
    note->set_text(version);
  }
  for (const std::string& text : group_notes_) {
    proto::Note* note = process.health.add_note();
    note->set_source(kGroupNoteSource);
    note->set_text(text);
  }
  const auto name = process_names_.find(host->entity);
  if (name != process_names_.end() && !name->second.empty()) {
    process.executable = name->second;
    process.argv = {name->second};
  }
}

int64_t KinetoImporter::Close() {
  GiveStrayRows();
  AddPairs();
  ClipDeviceRows();
  GiveDeviceRows();
  GiveCounters();
  device_rows_.clear();
  ClipPython();
  FindEarlierBlocks();
  JoinCalls();
  FindClashes();
  NameTimelines();
  int64_t first = std::numeric_limits<int64_t>::max();
  for (Host* host : host_order_) {
    SpanNs bounds;
    if (host->builder->Bounds(&bounds)) first = std::min(first, bounds.start);
  }
  first_ns_ = base_ns_ + (first == std::numeric_limits<int64_t>::max() ? 0 : first);
  return first_ns_;
}

std::vector<Process> KinetoImporter::Build(const std::string& file, int64_t origin_ns) {
  std::vector<Process> processes;
  for (Host* host : host_order_) {
    SpanNs bounds;
    if (!host->builder->Bounds(&bounds)) continue;
    FillProcess(file, host);
    processes.push_back(host->builder->Finish(origin_ns - base_ns_));
  }
  return processes;
}

}  // namespace gpuprof::analysis::import
