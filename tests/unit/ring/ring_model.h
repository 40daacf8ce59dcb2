// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a ring must hold, told without the ring's code: a list of events, each with the slots it
// takes, and the rule of proto/ring.h. An event that does not fit, together with the gap record
// that is due, is lost and counted; all others are there, whole and in order.

#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/record.h"
#include "proto/ring.h"

namespace gpuprof {

// How an event goes into the ring: each of the producer's ways.
enum class Way {
  kRecord,   // RingWrite
  kGroup,    // RingWriteGroup: a stack, then the allocation
  kInPlace,  // RingReserve, RingSlot, RingPublish: a duration, then the wait
};

constexpr uint32_t SlotsOf(Way way) { return way == Way::kRecord ? 1 : way == Way::kGroup ? 3 : 2; }

// Event `number`, from 1: all of its values follow from the number, but for the outermost frame of
// its stack, which stands in the address too.
constexpr uint64_t TimeOf(uint64_t number) { return (uint64_t{1} << 40) + number; }
inline proto::Record Allocation(uint64_t number, uint64_t outermost) {
  return codec::HeapRecord(TimeOf(number), outermost << 4, number);
}
// The stack is {number, outermost}; where it leans on the one before, the latter is not told.
inline std::vector<proto::Record> Group(uint64_t number, uint64_t outermost, bool leans) {
  const proto::Record event = Allocation(number, outermost);
  return leans ? codec::WithStack({number}, 1, event)
               : codec::WithStack({number, outermost}, 0, event);
}
constexpr uint64_t DurationOf(uint64_t number) { return proto::kLongDuration + number; }

// Runs the product's producer. `group` is Group(number, ...), made before. False: the event was
// lost.
inline bool Produce(proto::RingHeader* ring, Way way, uint64_t number, const proto::Record* group) {
  if (way == Way::kRecord) return proto::RingWrite(ring, Allocation(number, 0));
  if (way == Way::kGroup) return proto::RingWriteGroup(ring, group, SlotsOf(way), 1);
  const uint64_t at = proto::RingReserve(ring, TimeOf(number), SlotsOf(way), 1);
  if (at == proto::kNoRoom) return false;
  proto::RingStore(proto::RingSlot(ring, at),
                   {TimeOf(number), 0, static_cast<uint8_t>(proto::RecordKind::kDuration), 0, 0, 0,
                    DurationOf(number)});
  proto::RingStore(proto::RingSlot(ring, at + 1),
                   {TimeOf(number), proto::kLongDuration,
                    static_cast<uint8_t>(proto::RecordKind::kWait), 0, 1, number, number});
  proto::RingPublish(ring, at + SlotsOf(way));
  return true;
}

// What a reader of the ring finds in it.
struct RingContents {
  std::vector<uint64_t> allocations;  // numbers, in order
  std::vector<uint64_t> waits;
  uint64_t told = 0;  // losses that gap records announce
  uint64_t lost = 0;  // all losses that the ring counted
  uint64_t cut = 0;   // stacks without their outermost frame

  bool operator==(const RingContents&) const = default;
};
std::ostream& operator<<(std::ostream& out, const RingContents& contents);

// Reads a whole trace file of one track. Fails the test if a value of an event does not follow from
// its number.
RingContents ContentsOf(const std::vector<uint8_t>& file);
// The same after recovery of the ring file at `stem` and reads the trace. Fails the test if a value
// of an event does

RingContents RecoverContents(const std::string& stem);

// The ring's life, event by event.
class RingHistory {
 public:
  RingHistory(uint32_t capacity, uint64_t start)
      : capacity_(capacity), head_(start), tail_(start) {}

  // False: it does not fit.
  bool Add(Way way, uint64_t number);
  void FreeAll() { tail_ = head_; }
  void FreeUpTo(uint64_t tail) { tail_ = tail; }

  uint64_t head() const { return head_; }
  uint64_t lost() const { return lost_; }
  // What lies between two positions; `lost` as it was when the ring ended there.
  RingContents Between(uint64_t tail, uint64_t head, uint64_t lost) const;

 private:
  struct Event {
    uint64_t begin;  // of the gap record, if there is one
    uint64_t end;
    Way way;
    uint64_t number;
    uint64_t told;
  };
  uint32_t capacity_;
  uint64_t head_;
  uint64_t tail_;
  uint64_t lost_ = 0;
  uint64_t told_ = 0;
  std::vector<Event> events_;
};

}  // namespace gpuprof
