// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/tracer/torch/fake_host.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>

#include "proto/contract.h"

namespace gpuprof::torch_test {
namespace {

using proto::Record;
using proto::RecordKind;
using proto::RingHeader;

RingHeader* rings[proto::kMaxRings];
std::atomic<uint32_t> ring_count = 0;
std::atomic<uint32_t> next_track = 0;
std::atomic<bool> recording = false;
std::atomic<uint32_t> generation = 1;
uint32_t ring_records = kRingRecords;
uint64_t string_records = 0;
uint64_t dropped = 0;
void* told_reporter = nullptr;
tracer::Settings settings = {};
std::map<uint64_t, std::string> strings;

struct Thread {
  RingHeader* ring = nullptr;
  uint32_t generation = 0;
  int busy = 0;
};
thread_local Thread thread;

RingHeader* MakeRing() {
  void* memory = mmap(nullptr, proto::kRingHeaderBytes + ring_records * sizeof(Record),
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RingHeader* ring = static_cast<RingHeader*>(memory);
  ring->magic = proto::kRingMagic;
  ring->capacity = ring_records;
  ring->track = next_track.fetch_add(1) + 1;
  __atomic_store_n(&rings[ring_count.load()], ring, __ATOMIC_RELEASE);
  return ring;
}

RingHeader* Enter(uint32_t source) {
  if (thread.busy != 0 || !recording.load(std::memory_order_relaxed)) return nullptr;
  if ((settings.sources & source) == 0) return nullptr;
  thread.busy = 1;
  if (thread.ring == nullptr || thread.generation != generation.load(std::memory_order_relaxed)) {
    static std::atomic_flag making = ATOMIC_FLAG_INIT;
    while (making.test_and_set()) {}
    thread.ring = MakeRing();
    thread.generation = generation;
    ring_count.fetch_add(1);
    making.clear();
  }
  return thread.ring;
}

void Leave() { thread.busy = 0; }
void Say(const char*) {}
void TakeFunctions(void*, void* report) { told_reporter = report; }

tracer::Host host = {};

void TakeFrom(uint32_t number, RingHeader* ring, std::vector<Op>* ops) {
  const Record* data = proto::RingRecords(ring);
  const uint64_t head = ring->head.load(std::memory_order_acquire);
  uint64_t long_duration = 0;
  for (uint64_t at = ring->tail.load(); at < head; ++at) {
    const Record& record = data[at & (ring->capacity - 1)];
    switch (static_cast<RecordKind>(record.kind)) {
      case RecordKind::kString: {
        std::string text;
        const uint32_t slots = proto::PayloadSlots(record.b);
        for (uint32_t i = 1; i <= slots; ++i) {
          text.append(reinterpret_cast<const char*>(&data[(at + i) & (ring->capacity - 1)]),
                      sizeof(Record));
        }
        text.resize(record.b);
        strings[record.a] = text;
        ++string_records;
        at += slots;
        break;
      }
      case RecordKind::kDuration:
        long_duration = record.b;
        break;
      case RecordKind::kDropped:
        dropped += record.a;
        break;
      case RecordKind::kOp: {
        const uint64_t duration =
            record.duration == proto::kLongDuration ? long_duration : record.duration;
        ops->push_back({number, record.a, "", record.time - duration, record.time,
                        static_cast<uint32_t>(proto::OpDepthOfPlace(record.b)), record.detail});
        break;
      }
      default:
        break;
    }
  }
  ring->tail.store(head, std::memory_order_release);
}

}  // namespace

const tracer::Host* FakeHost(uint32_t records) {
  ring_records = records;
  settings.sources = proto::kSourceOps | proto::kSourceTensors;
  settings.clock = proto::ClockKind::kTsc;
  host.size = sizeof(host);
  host.settings = &settings;
  host.rings = rings;
  host.ring_count = &ring_count;
  host.enter = Enter;
  host.leave = Leave;
  host.wake_drain = [] {};
  host.grow_ring = [](proto::RingHeader*) { return false; };
  host.await_room = [](const proto::RingHeader*, uint64_t) { return false; };
  host.adopt_tool_thread = AdoptThread;
  host.set_torch_memory_functions = TakeFunctions;
  host.say = Say;
  host.debug = Say;
  return &host;
}

void SetRecording(bool on) { recording = on; }
void AdoptThread() { thread.busy = 1; }

void ForgetRings() {
  ++generation;
  for (uint32_t i = 0; i < ring_count; ++i) {
    munmap(rings[i], proto::kRingHeaderBytes + rings[i]->capacity * sizeof(Record));
    rings[i] = nullptr;
  }
  ring_count = 0;
  strings.clear();
}

std::vector<Op> TakeOps() {
  std::vector<Op> ops;
  for (uint32_t i = 0; i < ring_count; ++i) TakeFrom(i, rings[i], &ops);
  for (Op& op : ops) {
    const auto found = strings.find(op.name);
    if (found != strings.end()) op.text = found->second;
  }
  return ops;
}

uint32_t RingCount() { return ring_count; }
RingHeader* Ring(uint32_t number) { return rings[number]; }
uint64_t DroppedRecords() {
  uint64_t sum = dropped;
  for (uint32_t i = 0; i < ring_count; ++i) sum += rings[i]->dropped - rings[i]->dropped_told;
  return sum;
}
uint64_t StringRecords() { return string_records; }
void* ToldReporter() { return told_reporter; }

}  // namespace gpuprof::torch_test
