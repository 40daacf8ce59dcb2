// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of devices; see kineto_importer.h. A kernel's row names its device, not its process. The
// call with the same correlation id tells the process.

#include <algorithm>
#include <utility>

#include "analysis/import/kineto_importer.h"
#include "proto/schema.h"

namespace gpuprof::analysis::import {
namespace {

uint32_t Small(std::optional<int64_t> number, uint32_t otherwise) {
  return number && *number >= 0 && *number < kNoCudaId ? static_cast<uint32_t>(*number) : otherwise;
}

// CUpti_ActivitySynchronizationType, by Kineto's names.
uint32_t SyncKindOf(std::string_view name) {
  if (name == "Event Sync") return 1;
  if (name == "Stream Wait Event") return 2;
  if (name == "Stream Sync") return 3;
  if (name == "Context Sync" || name == "Device Sync") return 4;
  return 0;
}

}  // namespace

void KinetoImporter::PlaceOf(const ChromeEvent& event, const WorkArgs& args, DeviceRow* row) {
  const Entity process = EntityOf(event.pid);
  const Entity thread = EntityOf(event.tid);
  row->group = GroupOf(process.prefix);
  row->device = Small(args.device, Small(process.number, 0));
  row->context = Small(args.context, 0);
  const std::optional<int64_t> stream = args.stream ? args.stream : thread.number;
  row->stream = Small(stream, kNoCudaId);
}

void KinetoImporter::OnDeviceRow(const ChromeEvent& event, Category category, SpanNs span) {
  const WorkArgs args = WorkArgsOf(event);
  const CopyName copy = CopyOfName(event.name.text);
  DeviceRow row;
  PlaceOf(event, args, &row);
  row.category = category;
  if (category == Category::kKernel && copy.is_copy) row.category = Category::kCopy;
  if (category == Category::kKernel && copy.is_set) row.category = Category::kSet;
  row.work.span = span;
  row.has_time = span.start > 0 || span.end != span.start;
  row.correlation = args.correlation.value_or(0);
  row.work.correlation = Correlation32(row.correlation);
  row.work.external = static_cast<uint64_t>(std::max<int64_t>(args.external.value_or(0), 0));
  row.name = TextOf(event.name.text);
  if (!args.collective.empty()) row.detail = TextOf(args.collective) + 1;
  if (args.bytes && *args.bytes >= 0) row.work.bytes = static_cast<uint64_t>(*args.bytes);
  row.work.operation = proto::CopyOperation(copy.kind, copy.source, copy.destination, 0);
  if (args.from_device && args.to_device && *args.from_device != *args.to_device) {
    row.work.peer =
        (Small(args.from_device, 0) + uint64_t{1}) | (Small(args.to_device, 0) + uint64_t{1}) << 32;
  }
  row.work.graph = Small(args.graph, 0);
  row.work.graph_node = static_cast<uint64_t>(std::max<int64_t>(args.graph_node.value_or(0), 0));
  if (row.category == Category::kKernel) row.work.signature = SignatureOf(event, args, row);
  KeepDeviceRow(row);
}

void KinetoImporter::KeepDeviceRow(const DeviceRow& row) {
  constexpr uint64_t kColumnBytes = 64;
  // The row is there twice while processes get their rows, and then its columns are.
  Hold(2 * sizeof row + kColumnBytes);
  device_rows_.push_back(row);
}

uint32_t KinetoImporter::SignatureOf(const ChromeEvent&, const WorkArgs& args,
                                     const DeviceRow& row) {
  Signature signature;
  signature.name = row.name;
  signature.device = row.device;
  signature.context = row.context;
  signature.grid = args.grid;
  signature.block = args.block;
  signature.registers = Small(args.registers, 0);
  signature.shared_bytes = Small(args.shared_bytes, 0);
  const auto [at, is_new] =
      signature_numbers_.try_emplace(signature, static_cast<uint32_t>(signatures_.size()));
  if (is_new) {
    signatures_.push_back(signature);
    Hold(3 * sizeof signature + kTextBytes);
  }
  return at->second;
}

void KinetoImporter::OnSync(const ChromeEvent& event, SpanNs span) {
  const WorkArgs args = WorkArgsOf(event);
  DeviceRow row;
  PlaceOf(event, args, &row);
  row.category = Category::kSync;
  row.work.span = span;
  row.correlation = args.correlation.value_or(0);
  row.work.correlation = Correlation32(row.correlation);
  const JsonValue kind = event.Arg("cuda_sync_kind");
  row.work.operation = SyncKindOf(kind ? kind.text : event.name.text);
  row.wait_stream = WholeNumber(event.Arg("wait_on_stream")).value_or(-1);
  row.wait_record = WholeNumber(event.Arg("wait_on_cuda_event_record_corr_id")).value_or(-1);
  KeepDeviceRow(row);
}

// Sorts the calls of all processes by their ids: a file may have thousands of processes.
void KinetoImporter::SortCallsById() {
  has_calls_by_id_ = true;
  for (Host* host : host_order_)
    for (const LaunchCall& call : host->calls.calls())
      calls_by_id_.push_back({{host->group, call.correlation}, host});
  std::stable_sort(calls_by_id_.begin(), calls_by_id_.end(),
                   [](const CallOfHost& x, const CallOfHost& y) { return x.id < y.id; });
}

std::vector<KinetoImporter::Host*> KinetoImporter::HostsWithCall(const DeviceRow& row) {
  // So many processes with one id tell nothing.
  constexpr size_t kMostOwners = 256;
  std::vector<Host*> hosts;
  if (row.correlation <= 0) return hosts;
  if (!has_calls_by_id_) SortCallsById();
  const std::pair<uint32_t, int64_t> id(row.group, row.correlation);
  auto at = std::lower_bound(
      calls_by_id_.begin(), calls_by_id_.end(), id,
      [](const CallOfHost& x, const std::pair<uint32_t, int64_t>& y) { return x.id < y; });
  for (; at != calls_by_id_.end() && at->id == id; ++at) {
    if (hosts.size() == kMostOwners) return {};
    hosts.push_back(at->host);
  }
  return hosts;
}

// Several processes of one group may use the same correlation ids. A device then belongs to the
// process whose calls fit most of its rows. Among equals, it belongs to a process without a device.
void KinetoImporter::FindDeviceOwners() {
  constexpr int64_t kCertain = 1'000'000;
  std::map<std::pair<uint32_t, uint32_t>, std::map<Host*, int64_t>> votes;
  for (const DeviceRow& row : device_rows_) {
    if (OnlyHostOf(row.group) != nullptr) continue;
    const std::vector<Host*> hosts = HostsWithCall(row);
    for (Host* host : hosts) {
      const bool is_possible = host->calls.Find(row.correlation)->span.start <= row.work.span.start;
      votes[{row.group, row.device}][host] += hosts.size() == 1 ? kCertain : is_possible ? 1 : 0;
    }
  }
  std::map<const Host*, int> devices_of;
  for (const auto& [device, by_host] : votes) {
    Host* best = nullptr;
    for (Host* host : host_order_) {
      const auto vote = by_host.find(host);
      if (vote == by_host.end()) continue;
      const int64_t most = best == nullptr ? -1 : by_host.at(best);
      if (vote->second > most || (vote->second == most && devices_of[host] < devices_of[best]))
        best = host;
    }
    if (best == nullptr) continue;
    device_owners_[device] = best;
    ++devices_of[best];
  }
}

KinetoImporter::Host& KinetoImporter::OwnerOf(const DeviceRow& row) {
  if (Host* only = OnlyHostOf(row.group)) return *only;
  const std::vector<Host*> hosts = HostsWithCall(row);
  if (hosts.size() == 1) return *hosts.front();
  const auto owner = device_owners_.find({row.group, row.device});
  if (owner != device_owners_.end()) return *owner->second;
  if (Host* const first = HostsOf(row.group).first) return *first;
  // No thread of a process is in the file.
  return HostOf({groups_[row.group], 0, true});
}

uint32_t KinetoImporter::SignatureIn(Host* host, uint32_t number) {
  const auto [at, is_new] = signatures_in_.try_emplace({host, number}, 0);
  if (!is_new) return at->second;
  const Signature& from = signatures_[number];
  proto::Signature signature;
  signature.set_name(host->builder->Intern(texts_[from.name]));
  signature.set_device(from.device);
  signature.set_context(from.context);
  if (from.grid != std::array<uint32_t, 3>{}) {
    for (const uint32_t size : from.grid) signature.add_grid(size);
    for (const uint32_t size : from.block) signature.add_block(size);
  }
  signature.set_registers(from.registers);
  signature.set_dynamic_shared_bytes(from.shared_bytes);
  at->second = host->builder->Signature(signature);
  return at->second;
}

void KinetoImporter::AddDeviceRow(Host* host, const DeviceRow& row) {
  ProcessBuilder& builder = *host->builder;
  const uint32_t timeline = builder.Stream(row.device, row.context, row.stream);
  WorkRow work = row.work;
  switch (row.category) {
    case Category::kCopy:
      return builder.AddCopy(timeline, work);
    case Category::kSet:
      return builder.AddSet(timeline, work);
    case Category::kSync: {
      SyncRow sync;
      sync.span = work.span;
      sync.kind = work.operation;
      sync.correlation = work.correlation;
      if (row.wait_record > 0) {
        sync.event_record = static_cast<uint64_t>(row.wait_record);
        const LaunchCall* const call = host->calls.Find(row.wait_record);
        if (row.wait_stream >= 0 && call != nullptr) {
          const uint32_t other =
              builder.Stream(row.device, row.context, static_cast<uint32_t>(row.wait_stream));
          builder.AddEventRecord(other, call->span.start, Correlation32(row.wait_record),
                                 sync.event_record);
        }
      }
      return builder.Add(timeline, sync);
    }
    default:
      work.signature = SignatureIn(host, row.work.signature);
      if (row.detail != 0) work.detail = builder.Intern(texts_[row.detail - 1]);
      return builder.AddKernel(timeline, work);
  }
}

void KinetoImporter::GiveDeviceRows() {
  FindDeviceOwners();
  for (const DeviceRow& row : device_rows_) {
    Host& host = OwnerOf(row);
    if (row.correlation > 0 && row.category != Category::kSync) {
      LaunchCall* const call = host.calls.Find(row.correlation);
      if (call == nullptr) {
        notes_.Add(ImportNoteKind::kNoLaunch, texts_[row.name]);
      } else {
        call->has_work = true;
        if (row.has_time && row.work.span.start < call->span.start)
          notes_.Add(ImportNoteKind::kImpossibleOrder, texts_[row.name]);
      }
    } else if (row.category != Category::kSync) {
      notes_.Add(ImportNoteKind::kNoLaunch, texts_[row.name]);
    }
    if (row.has_time) {
      AddDeviceRow(&host, row);
    } else {
      notes_.Add(ImportNoteKind::kNoTime, texts_[row.name]);
    }
  }
}

}  // namespace gpuprof::analysis::import
