// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_records.h.

#include "tracer/cupti/device_records.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "proto/codec/tables.h"

namespace gpuprof::tracer::cupti {
namespace {

bool ComesBefore(const DeviceRecords::Stream& x, const DeviceRecords::Stream& y) {
  return x.context != y.context ? x.context < y.context : x.id < y.id;
}

// Fields of proto::Devices and of proto::ContextLife.
constexpr int kContext = 3;
constexpr int kContextId = 1, kContextBegin = 2, kContextEnd = 3;

}  // namespace

// The name is a block of the program's heap that a client may free. It stays: a few bytes a
// capture, against a call of an allocator that may be anybody's, on a thread of ours.
void DeviceRecords::TakeDevice(const Record& record) {
  const uint32_t id = record.U32(device::kId);
  for (const Device& known : devices_) {
    if (known.id == id) return;
  }
  if (devices_.size() >= kMostDevices) return;
  Device d;
  d.id = id;
  if (const char* name = record.Text(device::kName)) strncpy(d.name, name, sizeof(d.name) - 1);
  if (const uint8_t* uuid = record.Bytes(device::kUuid, sizeof(d.uuid)))
    memcpy(d.uuid, uuid, sizeof(d.uuid));
  d.compute[0] = record.U32(device::kMajor);
  d.compute[1] = record.U32(device::kMinor);
  d.multiprocessors = record.U32(device::kMultiprocessors);
  d.core_clock_khz = record.U32(device::kCoreClock);
  d.memory_bandwidth = record.U64(device::kMemoryBandwidth);
  d.memory_bytes = record.U64(device::kMemoryBytes);
  d.l2_bytes = record.U32(device::kL2Bytes);
  d.threads_per_warp = record.U32(device::kThreadsPerWarp);
  d.warps_per_multiprocessor = record.U32(device::kWarpsPerMultiprocessor);
  d.blocks_per_multiprocessor = record.U32(device::kBlocksPerMultiprocessor);
  d.shared_per_multiprocessor = record.U32(device::kSharedPerMultiprocessor);
  d.registers_per_multiprocessor = record.U32(device::kRegistersPerMultiprocessor);
  d.shared_per_block = record.U32(device::kSharedPerBlock);
  d.registers_per_block = record.U32(device::kRegistersPerBlock);
  d.threads_per_block = record.U32(device::kThreadsPerBlock);
  d.is_mig = record.U8(device::kIsMig) != 0;
  // Without instances these are all ones.
  if (d.is_mig) d.gpu_instance = record.U32(device::kGpuInstance);
  if (d.is_mig) d.compute_instance = record.U32(device::kComputeInstance);
  devices_.push_back(d);
}

void DeviceRecords::TakeContext(const Record& record) {
  const uint32_t id = record.U32(context::kId);
  if (DeviceOf(id) != kNoId || contexts_.size() >= kMostContexts) return;
  contexts_.push_back({id, record.U32(context::kDevice)});
}

const DeviceRecords::Stream* DeviceRecords::TakeStream(const Record& record) {
  Stream* stream = Place(record.U32(stream::kContext), record.U32(stream::kId));
  if (stream == nullptr) return nullptr;
  stream->is_described = true;
  stream->priority = static_cast<int32_t>(record.U32(stream::kPriority));
  stream->flag = record.U32(stream::kFlag);
  return stream;
}

bool DeviceRecords::TakeHandle(const StreamEvent& event) {
  Stream* stream = Place(event.context, event.stream);
  if (stream == nullptr) return false;
  stream->handle = event.handle;
  stream->handle_since = event.ticks;
  return true;
}

DeviceRecords::Stream* DeviceRecords::Place(uint32_t context, uint32_t stream) {
  const Stream wanted = {.context = context, .id = stream};
  const auto at = std::lower_bound(streams_.begin(), streams_.end(), wanted, ComesBefore);
  if (at != streams_.end() && !ComesBefore(wanted, *at)) return &*at;
  if (streams_.size() >= kMostStreams) return nullptr;
  return &*streams_.insert(at, wanted);
}

uint32_t DeviceRecords::DeviceOf(uint32_t context) const {
  for (const Context& known : contexts_) {
    if (known.id == context) return known.device;
  }
  return kNoId;
}

const DeviceRecords::Stream* DeviceRecords::Find(uint32_t context, uint32_t stream) const {
  const Stream wanted = {.context = context, .id = stream};
  const auto at = std::lower_bound(streams_.begin(), streams_.end(), wanted, ComesBefore);
  return at != streams_.end() && !ComesBefore(wanted, *at) ? &*at : nullptr;
}

void DeviceRecords::Put(const Device& d, const OwnBuffers& own, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  const uint64_t mark = writer.Begin(1);
  writer.Varint(1, d.id);
  writer.Bytes(2, d.name, strlen(d.name));
  writer.Bytes(3, d.uuid, sizeof(d.uuid));
  const std::pair<int, uint64_t> numbers[] = {{4, d.compute[0]},
                                              {5, d.compute[1]},
                                              {6, d.multiprocessors},
                                              {7, d.core_clock_khz},
                                              {8, d.memory_bandwidth},
                                              {9, d.memory_bytes},
                                              {10, d.l2_bytes},
                                              {11, d.threads_per_warp},
                                              {12, d.warps_per_multiprocessor},
                                              {13, d.blocks_per_multiprocessor},
                                              {14, d.shared_per_multiprocessor},
                                              {15, d.registers_per_multiprocessor},
                                              {16, d.shared_per_block},
                                              {17, d.registers_per_block},
                                              {18, d.threads_per_block},
                                              {19, d.is_mig ? 1u : 0u},
                                              {20, d.gpu_instance},
                                              {21, d.compute_instance},
                                              {22, own.bytes_per_context},
                                              {23, own.is_pinned ? 1u : 0u}};
  for (const auto& [field, value] : numbers) writer.Varint(field, value);
  writer.End(mark);
}

uint32_t DeviceRecords::Take(const OwnBuffers& own, std::vector<uint8_t>* out) {
  if (!has_news()) return 0;
  uint32_t count = 0;
  for (; taken_ < devices_.size(); ++taken_, ++count) Put(devices_[taken_], own, out);
  codec::PbWriter writer(out);
  for (const ContextEvent& event : context_events_) {
    const uint64_t mark = writer.Begin(kContext);
    writer.Varint(kContextId, event.context);
    writer.Fixed64(event.is_end ? kContextEnd : kContextBegin, event.ticks);
    writer.End(mark);
    ++count;
  }
  context_events_.clear();
  if (cuda_had_begun_) writer.Varint(2, 1);
  cuda_had_begun_ = false;
  return std::max(count, 1u);
}

}  // namespace gpuprof::tracer::cupti
