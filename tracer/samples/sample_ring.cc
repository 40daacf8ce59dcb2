// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/samples/sample_ring.h"

#include <algorithm>
#include <cstring>

namespace gpuprof::tracer {

using proto::Record;
using proto::RecordKind;

bool SampleRing::Open() {
  ring_ = host_->own_ring();
  return ring_ != nullptr;
}

void SampleRing::Write(const Sample& sample, const uint64_t* pcs, uint32_t frames) {
  constexpr uint32_t kMostSlots = 2 + proto::PayloadSlots(proto::kMaxStackFrames * 8) + 1;
  Record group[kMostSlots] = {};
  const uint64_t end = std::max(sample.end, last_);
  const uint64_t duration = sample.end - std::min(sample.start, sample.end);
  const uint64_t bytes = frames * sizeof(uint64_t);
  uint32_t slots = 0;
  const auto add = [&](RecordKind kind, uint16_t detail, uint64_t a, uint64_t b) {
    group[slots++] = {end, 0, static_cast<uint8_t>(kind), 0, detail, a, b};
  };
  add(RecordKind::kStack, static_cast<uint16_t>(frames), 0, bytes);
  std::memcpy(static_cast<void*>(group + slots), pcs, bytes);
  slots += proto::PayloadSlots(bytes);
  const bool is_long = duration >= proto::kLongDuration;
  if (is_long) add(RecordKind::kDuration, 0, 0, duration);
  const uint64_t threads =
      static_cast<uint32_t>(sample.tid) | uint64_t{static_cast<uint32_t>(sample.holder)} << 32;
  add(RecordKind::kSample, sample.bits, threads, 0);
  group[slots - 1].duration = is_long ? proto::kLongDuration : static_cast<uint32_t>(duration);
  group[slots - 1].flags = proto::kFlagHasStack;
  ring_->last_time = last_ = end;
  proto::RingWriteGroup(ring_, group, slots, 1, WakeForSamples{host_});
}

}  // namespace gpuprof::tracer
