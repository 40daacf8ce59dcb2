// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What was on each device, the profiler's own part apart, and what was live at the end. See
// device_memory.h.

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/passes/device_memory.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/device_memory.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kMostLive = 100;  // and as many that ended

struct OnDevice {
  uint64_t live = 0, peak = 0, end = 0, older = 0, older_bytes = 0;
  int64_t peak_time = 0;
  std::set<uint32_t> contexts;
};

// Devices on which the process did something.
std::map<uint32_t, OnDevice> DevicesOf(const Process& process) {
  std::map<uint32_t, OnDevice> devices;
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device == kNoCudaId) continue;
    OnDevice& device = devices[track.device];
    if (track.context != kNoCudaId) device.contexts.insert(track.context);
  }
  return devices;
}

// How many of them there were at once at most.
uint32_t MostAtOnce(const Process& process, const std::set<uint32_t>& contexts) {
  std::vector<int64_t> begins, ends;
  for (const ContextLife& life : process.contexts) {
    if (contexts.count(life.id) == 0) continue;
    begins.push_back(life.begin_ns);
    ends.push_back(life.end_ns);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  // Those of which nothing is told were there all the time.
  const size_t always = contexts.size() - begins.size();
  size_t most = 0, ended = 0;
  for (size_t begun = 1; begun <= begins.size(); ++begun) {
    while (ended < begun && ends[ended] <= begins[begun - 1]) ++ended;
    most = std::max(most, begun - ended);
  }
  return static_cast<uint32_t>(always + most);
}

void AddEvent(const DeviceMemoryEvent& event, const DeviceBlock& block, OnDevice* device) {
  switch (event.what) {
    case DeviceMemoryEvent::kAllocation:
      device->live += block.bytes;
      if (block.is_live) device->end += block.bytes;
      if (device->live <= device->peak) return;
      device->peak = device->live;
      device->peak_time = event.time_ns;
      return;
    case DeviceMemoryEvent::kOlderRelease:
      ++device->older;
      device->older_bytes += block.bytes;
      return;
    case DeviceMemoryEvent::kRelease:
    case DeviceMemoryEvent::kContextEnd:
    case DeviceMemoryEvent::kForgotten:
      device->live -= block.bytes;
      return;
  }
}

void FillDescription(const proto::Device* told, results::MemoryDevice* row) {
  if (told == nullptr) return;
  if (!told->name().empty()) row->set_name(told->name());
  if (told->memory_bytes() != 0) {
    row->set_capacity_bytes(told->memory_bytes());
    row->set_peak_ratio(Ratio(row->peak_bytes(), told->memory_bytes()));
  }
  if (told->buffer_bytes_per_context() == 0) return;
  row->set_profiler_bytes(told->buffer_bytes_per_context() * row->context_peak_count());
  row->set_profiler_pinned(told->buffers_pinned());
}

void FillLive(PassContext& context, size_t index, const DeviceBlock& block, const CallIndex& calls,
              results::LiveAllocation* row) {
  const Process& process = context.process(index);
  SetProcess(process, row);
  row->set_device(block.device);
  row->set_context(block.context);
  row->set_kind(DeviceMemoryKind(block));
  row->set_address(block.address);
  row->set_size_bytes(block.bytes);
  row->set_time_ns(block.time_ns);
  row->set_age_ns(block.ended_with_context ? block.life_ns
                                           : std::max<int64_t>(process.last_ns - block.time_ns, 0));
  row->set_async(block.is_async);
  if (block.pool != 0) row->set_pool_address(block.pool);
  if (block.stream != kNoCudaId) row->set_stream(block.stream);
  if (const std::optional<Call> call = calls.Find(block.correlation)) {
    const Track& track = process.tracks[call->track];
    row->set_function(ApiFunctionName(process, track.api.function[call->row]));
    row->set_tid(track.tid);
  }
  if (block.pc != 0) {
    context.Resolve(index, block.pc, PcKind::kReturnAddress, row->mutable_caller());
    row->set_name(row->caller().name());
  }
  if (block.origin != 0) row->set_name(process.String(block.origin));
}

std::vector<const DeviceBlock*> Largest(std::vector<const DeviceBlock*> blocks) {
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const DeviceBlock* x, const DeviceBlock* y) { return x->bytes > y->bytes; });
  blocks.resize(std::min(blocks.size(), kMostLive));
  return blocks;
}

}  // namespace

void AddMemoryDevices(const Process& process, const DeviceMemoryHistory& history,
                      results::DeviceMemory* out) {
  std::map<uint32_t, OnDevice> devices = DevicesOf(process);
  for (const DeviceMemoryEvent& event : history.events) {
    const DeviceBlock& block = history.blocks[event.block];
    if (IsOnDevice(block.kind)) AddEvent(event, block, &devices[block.device]);
  }
  const bool is_late = std::any_of(process.captures.begin(), process.captures.end(),
                                   [](const CaptureWindow& w) { return w.cuda_had_begun; });
  for (const auto& [number, device] : devices) {
    results::MemoryDevice* row = out->add_devices();
    row->set_name("device " + std::to_string(number));
    SetProcess(process, row);
    row->set_device(number);
    row->set_peak_bytes(device.peak);
    row->set_peak_time_ns(device.peak_time);
    row->set_end_bytes(device.end);
    row->set_older_count(device.older);
    row->set_older_bytes(device.older_bytes);
    row->set_begun_late(is_late);
    row->set_context_count(static_cast<uint32_t>(device.contexts.size()));
    row->set_context_peak_count(MostAtOnce(process, device.contexts));
    FillDescription(process.FindDevice(number), row);
  }
}

void AddLiveAllocations(PassContext& context, size_t index, const DeviceMemoryHistory& history,
                        const CallIndex& calls, results::DeviceMemory* out) {
  std::vector<const DeviceBlock*> live, ended;
  for (const DeviceBlock& block : history.blocks) {
    if (block.is_live) live.push_back(&block);
    if (block.ended_with_context) ended.push_back(&block);
  }
  for (const DeviceBlock* block : Largest(std::move(live)))
    FillLive(context, index, *block, calls, out->add_live());
  for (const DeviceBlock* block : Largest(std::move(ended)))
    FillLive(context, index, *block, calls, out->add_ended());
}

}  // namespace gpuprof::analysis
