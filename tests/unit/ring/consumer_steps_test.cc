// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The other way round: the consumer runs one instruction at a time, the program's thread writes
// between them, and either may die. Over the rounds a write comes after each instruction of
// RecordSorter::Consume and Release. The consumer's trace must have every event that was published,
// once and in order; a death must leave what the trace lacks in the ring; and the tail must never
// free what is not consumed yet.
//
// As in producer_steps_test.cc, stores are seen in program order.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/ring/ring_model.h"
#include "tests/unit/ring/stepped_process.h"

#include "proto/codec/record_sorter.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/contract.h"

namespace gpuprof {
namespace {

constexpr uint32_t kCapacity = 16;
// A write every so many instructions, one later each round: after as many rounds, after each.
constexpr int kStride = 61;
constexpr int kMostSteps = 100'000;

class ConsumerSteps : public testing::Test {
 protected:
  ConsumerSteps()
      : process_(folder_ / "victim", 1, kCapacity),
        ring_(process_.ring(0)),
        copy_(folder_ / codec::DeadStem()),
        trace_path_(folder_ / "trace.gpt") {}

  // As the drain thread does: in portions, each freed as soon as it is consumed.
  void Drains() {
    uint64_t position = 0;
    for (int round = 0; round < kStride; ++round) {
      SteppedProcess::Wait();
      const uint64_t head = ring_->head.load(std::memory_order_acquire);
      while (position != head) {
        position = sorter_.Consume(ring_, position, head, nullptr,
                                   position + kCapacity / proto::kWakeShare);
        sorter_.Release(ring_, position);
      }
    }
    SteppedProcess::Wait();
    sorter_.Consume(ring_, position, ring_->head.load(std::memory_order_acquire), nullptr);
    WriteTrace();
  }

  void WriteTrace() {
    codec::TraceWriter writer;
    ASSERT_TRUE(writer.Create(trace_path_.c_str(), codec::TestHeader()));
    std::vector<uint8_t> message;
    const uint32_t nodes = tables_.TakeStacks(&message);
    ASSERT_TRUE(writer.WriteTable(proto::ChunkKind::kStacks, 1, codec::chunk_field::kStacks,
                                  message.data(), message.size(), nodes));
    for (const auto& builder : sorter_.builders()) {
      ASSERT_TRUE(writer.WriteEvents(builder.get(), 1, 0));
    }
    ASSERT_TRUE(writer.WriteEnd({}));
    EXPECT_EQ(sorter_.corrupt_records(), 0u);
  }

  void WriteOne() {
    constexpr Way kWays[] = {Way::kGroup, Way::kRecord, Way::kInPlace};
    const Way way = kWays[number_ % std::size(kWays)];
    ++number_;
    // Each stack that leans on none begins anew at the other end.
    const bool leans = number_ % 2 == 0 && outermost_ != 0;
    const uint64_t outermost = leans ? outermost_ : number_ + 100'000;
    const std::vector<proto::Record> group = Group(number_, outermost, leans);
    history_.FreeUpTo(ring_->tail.load());
    const bool is_written = Produce(ring_, way, number_, group.data());
    ASSERT_EQ(is_written, history_.Add(way, number_)) << number_;
    if (is_written && way == Way::kGroup) outermost_ = outermost;
    std::memcpy(last_.data(), static_cast<const void*>(ring_), last_.size());
  }

  // The consumer has stored something: if both die now, nothing behind the tail is lost.
  void CheckMoment() {
    if (std::memcmp(last_.data(), ring_, last_.size()) == 0) return;
    std::memcpy(last_.data(), static_cast<const void*>(ring_), last_.size());
    ++moments_;
    const uint64_t tail = ring_->tail.load();
    ASSERT_LE(tail, history_.head());
    ASSERT_EQ(ring_->head.load(), history_.head()) << "not the consumer's";
    codec::WriteBytes(copy_ + proto::kRingSuffix, codec::ReadBytes(process_.ring_path()));
    RingContents found = RecoverContents(copy_);
    // In the middle of Release the stack before the tail is not known.
    if (ring_->freed_stack.position != tail) found.cut = 0;
    if (tail == history_.head() && found == RingContents{}) return;
    ASSERT_EQ(found, history_.Between(tail, history_.head(), history_.lost()));
  }

  void StepThrough(SteppedProcess* consumer, int round) {
    int steps = 0;
    while (consumer->Step() == SteppedProcess::Stop::kStepped) {
      CheckMoment();
      if (++steps % kStride == round) WriteOne();
      ASSERT_FALSE(HasFatalFailure()) << "round " << round << ", step " << steps;
      ASSERT_LT(steps, kMostSteps);
    }
    steps_ += steps;
  }

  codec::TempFolder folder_;
  codec::FakeProcess process_;
  proto::RingHeader* ring_;
  std::string copy_;
  std::string trace_path_;
  RingHistory history_{kCapacity, 0};
  codec::InternTables tables_{10'000, 1000, 100'000};
  codec::RecordSorter sorter_{1, 0, &tables_};
  uint64_t number_ = 0;
  uint64_t outermost_ = 0;  // of the stack written last
  std::vector<char> last_ =
      std::vector<char>(proto::kRingHeaderBytes + kCapacity * sizeof(proto::Record));
  int steps_ = 0;
  int moments_ = 0;
};

TEST_F(ConsumerSteps, AWriteAfterEveryInstruction) {
  for (int i = 0; i < 4; ++i) WriteOne();
  SteppedProcess consumer([this] { Drains(); });
  if (!consumer.allowed()) GTEST_SKIP() << "no process may be traced here: nothing was stepped";
  ASSERT_EQ(consumer.Run(), SteppedProcess::Stop::kWaiting);
  for (int round = 0; round < kStride; ++round) {
    StepThrough(&consumer, round);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(consumer.Run(), SteppedProcess::Stop::kEnded);
  ASSERT_TRUE(consumer.succeeded()) << consumer.status();
  RingContents all = history_.Between(0, history_.head(), 0);
  EXPECT_EQ(ContentsOf(codec::ReadBytes(trace_path_)), all);
  EXPECT_GT(history_.lost(), 0u) << "the ring is to be full now and then";
  EXPECT_GT(number_ - history_.lost(), 300u) << "and not always";
  RecordProperty("steps", steps_);
  RecordProperty("moments", moments_);
}

}  // namespace
}  // namespace gpuprof
