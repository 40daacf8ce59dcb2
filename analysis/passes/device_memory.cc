// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `device_memory`: sums over CUDA's allocations. Pools, devices and what was live at the
// end are in memory_pools.cc and memory_devices.cc. See passes.h.

#include "analysis/passes/device_memory.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <utility>

#include "analysis/base/units.h"
#include "analysis/model/names.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "analysis/steps/step_summary.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

enum class Grouping { kKind, kDevice, kPool, kSize, kStream };

// What a row stands for; what does not matter is 0.
struct Key {
  size_t owner;  // process
  uint32_t device;
  uint64_t first;   // kind, host, pool, a size's power of two, or context
  uint64_t second;  // whether of a pool, or stream
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  uint64_t count = 0, releases = 0, async = 0, bytes = 0;
  uint64_t least = UINT64_MAX, most = 0;
  uint64_t live = 0, peak = 0;
  int64_t peak_time = 0;
  uint64_t end_count = 0, end_bytes = 0;
  uint64_t older = 0, older_bytes = 0;
  uint64_t ended = 0, ended_bytes = 0;  // with their contexts
  int64_t life_ns = 0;
  bool has_calls = false;
  int64_t allocation_ns = 0, release_ns = 0;
  std::string name;
};

using Groups = std::map<Key, Sums>;

Grouping GroupingOf(const std::string& by) {
  if (by == "device") return Grouping::kDevice;
  if (by == "pool") return Grouping::kPool;
  if (by == "size") return Grouping::kSize;
  return by == "stream" ? Grouping::kStream : Grouping::kKind;
}

Key KeyOf(Grouping grouping, size_t owner, const DeviceBlock& block) {
  switch (grouping) {
    case Grouping::kDevice:
      return {owner, block.device, IsOnDevice(block.kind) ? 0u : 1u, 0};
    case Grouping::kPool:
      return {owner, block.device, block.pool, 0};
    case Grouping::kSize:
      return {owner, block.device, static_cast<uint64_t>(std::bit_width(block.bytes)), 0};
    case Grouping::kStream:
      return {owner, block.device, block.context, block.stream};
    case Grouping::kKind:
      break;
  }
  return {owner, block.device, block.kind, block.pool != 0 ? 1u : 0u};
}

std::string NameOf(Grouping grouping, const Process& process, const DeviceBlock& block) {
  switch (grouping) {
    case Grouping::kDevice:
      return IsOnDevice(block.kind) ? "device " + std::to_string(block.device) : "host";
    case Grouping::kPool:
      return block.pool == 0 ? "no pool" : PoolName(block.pool);
    case Grouping::kSize:
      return FormatSizeClass(static_cast<uint32_t>(std::bit_width(block.bytes)));
    case Grouping::kStream:
      return StreamName(process, block.device, block.context, block.stream);
    case Grouping::kKind:
      break;
  }
  return DeviceMemoryKind(block);
}

void AddCall(const CallIndex& calls, uint32_t correlation, Sums* sums, int64_t* ns) {
  const std::optional<Call> call = calls.Find(correlation);
  if (!call) return;
  sums->has_calls = true;
  *ns += call->end_ns - call->start_ns;
}

void AddEvent(const DeviceMemoryEvent& event, const DeviceBlock& block, const CallIndex& calls,
              Sums* sums) {
  switch (event.what) {
    case DeviceMemoryEvent::kAllocation:
      ++sums->count;
      sums->bytes += block.bytes;
      sums->async += block.is_async ? 1 : 0;
      sums->least = std::min(sums->least, block.bytes);
      sums->most = std::max(sums->most, block.bytes);
      sums->live += block.bytes;
      AddCall(calls, event.correlation, sums, &sums->allocation_ns);
      if (sums->live > sums->peak) {
        sums->peak = sums->live;
        sums->peak_time = event.time_ns;
      }
      if (!block.is_live) return;
      ++sums->end_count;
      sums->end_bytes += block.bytes;
      return;
    case DeviceMemoryEvent::kRelease:
      ++sums->releases;
      sums->live -= block.bytes;
      sums->life_ns += block.life_ns;
      AddCall(calls, event.correlation, sums, &sums->release_ns);
      return;
    case DeviceMemoryEvent::kOlderRelease:
      ++sums->older;
      sums->older_bytes += block.bytes;
      AddCall(calls, event.correlation, sums, &sums->release_ns);
      return;
    case DeviceMemoryEvent::kContextEnd:
      ++sums->ended;
      sums->ended_bytes += block.bytes;
      sums->live -= block.bytes;
      return;
    case DeviceMemoryEvent::kForgotten:
      sums->live -= block.bytes;
      return;
  }
}

void FillKey(Grouping grouping, const Key& key, const Process& process, results::MemoryUse* row) {
  SetProcess(process, row);
  row->set_device(key.device);
  if (grouping == Grouping::kPool && key.first != 0) row->set_pool_address(key.first);
  if (grouping == Grouping::kStream) {
    row->set_context(static_cast<uint32_t>(key.first));
    if (key.second != kNoCudaId) row->set_stream(static_cast<uint32_t>(key.second));
  }
  if (grouping == Grouping::kSize) {
    const uint64_t low = key.first == 0 ? 0 : uint64_t{1} << (key.first - 1);
    row->set_low_bytes(low);
    row->set_high_bytes(key.first == 0 ? 0 : low * 2 - 1);
  }
}

void FillRow(const Sums& sums, int64_t captured_ns, results::MemoryUse* row) {
  row->set_name(sums.name);
  row->set_count(sums.count);
  row->set_release_count(sums.releases);
  row->set_async_count(sums.async);
  row->set_allocated_bytes(sums.bytes);
  row->set_mean_bytes(sums.count == 0 ? 0 : sums.bytes / sums.count);
  row->set_min_bytes(sums.count == 0 ? 0 : sums.least);
  row->set_max_bytes(sums.most);
  row->set_peak_bytes(sums.peak);
  row->set_peak_time_ns(sums.peak_time);
  row->set_end_bytes(sums.end_bytes);
  row->set_end_count(sums.end_count);
  row->set_older_count(sums.older);
  row->set_older_bytes(sums.older_bytes);
  row->set_context_end_count(sums.ended);
  row->set_context_end_bytes(sums.ended_bytes);
  row->set_mean_life_ns(sums.releases == 0 ? 0
                                           : sums.life_ns / static_cast<int64_t>(sums.releases));
  if (!sums.has_calls) return;
  row->set_allocation_call_ns(sums.allocation_ns);
  row->set_release_call_ns(sums.release_ns);
  row->set_call_ratio(Ratio(sums.allocation_ns + sums.release_ns, captured_ns));
}

void AddProcess(PassContext& context, size_t index, Grouping grouping, Groups* groups,
                results::DeviceMemory* out) {
  const Process& process = context.process(index);
  const CallIndex& calls = context.calls(index);
  const DeviceMemoryHistory history = FollowDeviceMemory(process, calls);
  for (const DeviceMemoryEvent& event : history.events) {
    const DeviceBlock& block = history.blocks[event.block];
    Sums& sums = (*groups)[KeyOf(grouping, context.Owner(index), block)];
    if (sums.name.empty()) sums.name = NameOf(grouping, process, block);
    AddEvent(event, block, calls, &sums);
  }
  // A process that comes after it under the same number begins with nothing.
  for (const DeviceBlock& block : history.blocks)
    if (block.is_live) (*groups)[KeyOf(grouping, context.Owner(index), block)].live -= block.bytes;
  out->set_implied_release_count(out->implied_release_count() + history.implied_releases);
  AddMemoryDevices(process, history, out);
  AddMemoryPools(process, history, out);
  AddLiveAllocations(context, index, history, calls, out);
}

// Of each process that used a device, by owner: whether it had CUDA before a capture.
using Users = std::map<size_t, bool>;

void AddNotes(const PassContext& context, const Groups& groups, const Users& users,
              results::Meta* meta) {
  std::map<size_t, std::pair<uint64_t, uint64_t>> older;
  for (const auto& [key, sums] : groups) {
    older[key.owner].first += sums.older;
    older[key.owner].second += sums.older_bytes;
  }
  for (const auto& [owner, is_late] : users) {
    const auto [count, bytes] = older[owner];
    if (!is_late && count == 0) continue;
    std::string note = "pid " + std::to_string(context.process(owner).pid) + ": ";
    note += is_late ? "CUDA was in use before the capture: earlier allocations are not known"
                    : "a block was allocated before the capture, or its record was lost";
    if (count != 0) {
      note += "; " + FormatCount(count) + " older blocks, " + FormatBytes(bytes) +
              ", were released during the capture";
    }
    meta->add_notes(note);
  }
}

}  // namespace

std::string DeviceMemoryKind(const DeviceBlock& block) {
  return std::string(MemoryKindName(block.kind)) + (block.pool != 0 ? " pool" : "");
}

std::string PoolName(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, address);
  return text;
}

Error RunDeviceMemory(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::DeviceMemory>();
  const std::string by = context.By("kind");
  const Grouping grouping = GroupingOf(by);
  Groups groups;
  Users users;
  std::map<size_t, int64_t> captured;
  for (const size_t index : context.selected()) {
    const size_t owner = context.Owner(index);
    captured[owner] += CapturedTime(context.process(index));
    const int before = out->devices_size();
    AddProcess(context, index, grouping, &groups, out.get());
    for (int i = before; i < out->devices_size(); ++i)
      users[owner] = users[owner] || out->devices(i).begun_late();
  }
  for (const auto& [key, sums] : groups) {
    results::MemoryUse* row = out->add_uses();
    FillKey(grouping, key, context.process(key.owner), row);
    FillRow(sums, captured[key.owner], row);
    out->set_count(out->count() + sums.count);
    out->set_allocated_bytes(out->allocated_bytes() + sums.bytes);
    out->set_end_count(out->end_count() + sums.end_count);
    out->set_end_bytes(out->end_bytes() + sums.end_bytes);
    out->set_context_end_count(out->context_end_count() + sums.ended);
    out->set_context_end_bytes(out->context_end_bytes() + sums.ended_bytes);
  }
  if (grouping != Grouping::kSize) {
    SortFalling(out->mutable_uses(), [](const auto& row) { return row.peak_bytes(); });
  }
  out->set_by(by);
  context.FillMeta("device_memory", out->mutable_meta());
  AddNotes(context, groups, users, out->mutable_meta());
  context.FillCountConfidence(out->meta(), out->mutable_meta()->mutable_confidence());
  context.LimitToWindow(out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
