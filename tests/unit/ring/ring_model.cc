// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See ring_model.h.

#include "tests/unit/ring/ring_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "proto/codec/recover.h"
#include "proto/contract.h"

namespace gpuprof {

using codec::Row;
using proto::ChunkKind;

namespace {

using Stacks = std::map<uint64_t, std::vector<uint64_t>>;

// By id, innermost frame first.
Stacks StacksOf(const proto::Trace& trace) {
  Stacks stacks;
  for (const proto::Chunk& chunk : trace.chunk()) {
    uint64_t pc = 0;
    for (int i = 0; i < chunk.stacks().parent_back_size(); ++i) {
      const uint64_t id = chunk.stacks().first_id() + static_cast<uint64_t>(i);
      const uint64_t back = chunk.stacks().parent_back(i);
      pc += static_cast<uint64_t>(chunk.stacks().pc_delta(i));
      std::vector<uint64_t> frames = {pc};
      if (back != 0) {
        const std::vector<uint64_t>& outer = stacks[id - back];
        frames.insert(frames.end(), outer.begin(), outer.end());
      }
      stacks[id] = frames;
    }
  }
  return stacks;
}

uint64_t RingFull(const proto::Trace& trace) {
  uint64_t lost = 0;
  for (const proto::Chunk& chunk : trace.chunk()) {
    for (const proto::Loss& loss : chunk.health().loss()) {
      if (loss.kind() == proto::LOSS_RING_FULL) lost += loss.count();
    }
  }
  return lost;
}

// True: the stack lacks its outermost frame.
bool CheckAllocation(const Row& row, const Stacks& stacks) {
  const uint64_t number = row[proto::heap_column::kSize];
  EXPECT_EQ(row[proto::heap_column::kTime], TimeOf(number));
  const uint64_t stack = row[proto::heap_column::kStack];
  const uint64_t outermost = row[proto::heap_column::kAddress] >> 4;
  EXPECT_EQ(stack == 0, outermost == 0);
  if (stack == 0) return false;
  const auto found = stacks.find(stack);
  EXPECT_NE(found, stacks.end());
  if (found == stacks.end()) return false;
  if (found->second == std::vector<uint64_t>{number}) return true;
  EXPECT_EQ(found->second, (std::vector<uint64_t>{number, outermost}));
  return false;
}

void CheckWait(const Row& row) {
  const uint64_t number = row[proto::wait_column::kObject];
  EXPECT_EQ(row[proto::wait_column::kEnd], TimeOf(number));
  EXPECT_EQ(row[proto::wait_column::kDuration], DurationOf(number));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RingContents& contents) {
  return out << "allocations " << testing::PrintToString(contents.allocations) << ", waits "
             << testing::PrintToString(contents.waits) << ", " << contents.told << " told lost, "
             << contents.lost << " lost, " << contents.cut << " cut";
}

RingContents ContentsOf(const std::vector<uint8_t>& file) {
  RingContents contents;
  const proto::Trace trace = codec::ParseAll(file);
  const Stacks stacks = StacksOf(trace);
  for (const Row& row : codec::ReadRows(file, 1, ChunkKind::kHeap)) {
    contents.cut += CheckAllocation(row, stacks) ? 1 : 0;
    contents.allocations.push_back(row[proto::heap_column::kSize]);
  }
  for (const Row& row : codec::ReadRows(file, 1, ChunkKind::kWait)) {
    CheckWait(row);
    contents.waits.push_back(row[proto::wait_column::kObject]);
  }
  for (const proto::Chunk& chunk : trace.chunk()) contents.told += chunk.dropped_before();
  contents.lost = RingFull(trace);
  return contents;
}

RingContents RecoverContents(const std::string& stem) {
  const codec::RecoverResult result = codec::Recover(stem, -1);
  EXPECT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.corrupt_records, 0u);
  const std::string path = stem + proto::kTraceSuffix;
  if (result.nothing_to_do) return {};
  const std::vector<uint8_t> file = codec::ReadBytes(path);
  unlink(path.c_str());
  return ContentsOf(file);
}

bool RingHistory::Add(Way way, uint64_t number) {
  const bool gap = lost_ != told_;
  const uint64_t end = head_ + SlotsOf(way) + (gap ? 1 : 0);
  if (end - tail_ > capacity_) {
    ++lost_;
    return false;
  }
  events_.push_back({head_, end, way, number, lost_ - told_});
  told_ = lost_;
  head_ = end;
  return true;
}

RingContents RingHistory::Between(uint64_t tail, uint64_t head, uint64_t lost) const {
  RingContents contents;
  contents.lost = lost;
  for (const Event& event : events_) {
    if (event.begin < tail || event.end > head) continue;
    (event.way == Way::kInPlace ? contents.waits : contents.allocations).push_back(event.number);
    contents.told += event.told;
  }
  return contents;
}

}  // namespace gpuprof
