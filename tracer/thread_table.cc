// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/thread_table.h"

#include <string.h>

#include <algorithm>

#include "proto/codec/tables.h"
#include "tracer/raw_file.h"
#include "tracer/thread_list.h"

namespace gpuprof::tracer {
namespace {

// Two small reads a thread, some microseconds: this many a second stay below 0.1 % of a core.
constexpr uint32_t kMostPerTurn = 128;

uint64_t NextNumber(const char** text) {
  uint64_t value = 0;
  while (**text == ' ') ++*text;
  for (; **text >= '0' && **text <= '9'; ++*text)
    value = value * 10 + static_cast<uint64_t>(**text - '0');
  return value;
}

const proto::RingHeader* RingAt(const Host& host, uint32_t slot) {
  return __atomic_load_n(&host.rings[slot], __ATOMIC_ACQUIRE);
}

uint32_t RingSlots(const Host& host) {
  return std::min(host.ring_count->load(std::memory_order_acquire), proto::kMaxRings);
}

bool IsIn(const proto::RingHeader& ring, proto::RingState state) {
  return ring.state.load(std::memory_order_acquire) == static_cast<uint32_t>(state);
}

const proto::RingHeader* RingOf(const Host& host, int32_t tid) {
  const uint32_t count = RingSlots(host);
  for (uint32_t i = 0; i < count; ++i) {
    const proto::RingHeader* ring = RingAt(host, i);
    if (ring != nullptr && ring->tid == tid && IsIn(*ring, proto::RingState::kOwned)) return ring;
  }
  return nullptr;
}

void AppendRing(const proto::RingHeader& ring, codec::PbWriter* writer) {
  const uint64_t mark = writer->Begin(2);
  writer->Varint(1, ring.track);
  writer->Varint(2, static_cast<uint64_t>(ring.tid));
  writer->Bytes(3, ring.name, strnlen(ring.name, sizeof(ring.name)));
  writer->Varint(6, ring.dropped.load(std::memory_order_relaxed));
  writer->Varint(7, ring.reentered.load(std::memory_order_relaxed));
  writer->End(mark);
}

// Returns the ring that it told of, if any.
const proto::RingHeader* AppendThread(const Host& host, int32_t tid, codec::PbWriter* writer) {
  char path[64];
  char name[32];
  char schedule[96];
  TaskPath(tid, "comm", path);
  uint32_t bytes = ReadSmallFile(path, name, sizeof(name));
  // It has ended since it was listed. AppendOthers() tells of its ring, if it has one.
  if (bytes == 0) return nullptr;
  if (name[bytes - 1] == '\n') --bytes;
  TaskPath(tid, "schedstat", path);
  const bool has_schedule = ReadSmallFile(path, schedule, sizeof(schedule)) > 0;
  const proto::RingHeader* ring = RingOf(host, tid);
  const uint64_t mark = writer->Begin(2);
  if (ring != nullptr) writer->Varint(1, ring->track);
  writer->Varint(2, static_cast<uint64_t>(tid));
  writer->Bytes(3, name, bytes);
  if (has_schedule) {
    const char* p = schedule;
    writer->Varint(4, NextNumber(&p));
    writer->Varint(5, NextNumber(&p));
  }
  if (ring != nullptr) {
    writer->Varint(6, ring->dropped.load(std::memory_order_relaxed));
    writer->Varint(7, ring->reentered.load(std::memory_order_relaxed));
  }
  if (IsToolName(name, bytes)) writer->Varint(8, 1);
  writer->End(mark);
  return ring;
}

// Threads that /proc did not list, as they have ended or have just begun, and whose rows may be in
// the trace: nobody may come to tell of them later.
uint32_t AppendOthers(const Host& host, const std::vector<const proto::RingHeader*>& told,
                      codec::PbWriter* writer) {
  uint32_t others = 0;
  const uint32_t count = RingSlots(host);
  for (uint32_t i = 0; i < count; ++i) {
    const proto::RingHeader* ring = RingAt(host, i);
    if (ring == nullptr || std::find(told.begin(), told.end(), ring) != told.end()) continue;
    if (!IsIn(*ring, proto::RingState::kOwned) && !IsIn(*ring, proto::RingState::kClosed)) continue;
    AppendRing(*ring, writer);
    ++others;
  }
  return others;
}

}  // namespace

uint32_t ThreadTable::Append(const Host& host, uint64_t ticks, bool all,
                             std::vector<uint8_t>* out) {
  std::vector<int32_t> tids;
  ListThreads(&tids);
  codec::PbWriter writer(out);
  writer.Fixed64(1, ticks);
  const uint32_t count = static_cast<uint32_t>(tids.size());
  const uint32_t most = all ? count : (count < kMostPerTurn ? count : kMostPerTurn);
  std::vector<const proto::RingHeader*> told;
  for (uint32_t i = 0; i < most; ++i) {
    const proto::RingHeader* ring = AppendThread(host, tids[(turn_ + i) % count], &writer);
    if (ring != nullptr) told.push_back(ring);
  }
  turn_ = count != 0 ? (turn_ + most) % count : 0;
  return most + (all ? AppendOthers(host, told, &writer) : 0);
}

void AppendRingThread(const proto::RingHeader& ring, uint64_t ticks, std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  writer.Fixed64(1, ticks);
  AppendRing(ring, &writer);
}

}  // namespace gpuprof::tracer
