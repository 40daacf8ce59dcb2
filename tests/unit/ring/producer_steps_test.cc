// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A process that dies at any instruction of the ring's producer: after each one, the shared mapping
// is recovered as if it had been the last. The events published by then must be there, whole, in
// order and once, and every loss counted once.
//
// What this proves: no order of the compiled stores lets a death tear or lose a published event, at
// each of the ring's eight alignments, on a ring that is empty, fills up, is full, announces its
// losses and wraps. Steps see stores in program order: what another processor may see earlier or
// later is memory_order_test.cc's. The code stepped through is this file's copy of the inline
// functions, compiled like the product's but not the same instructions.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <new>

#include "tests/unit/ring/ring_model.h"
#include "tests/unit/ring/stepped_process.h"

#include "proto/codec/record_sorter.h"
#include "proto/codec/tables.h"
#include "proto/contract.h"

namespace gpuprof {
namespace {

constexpr uint32_t kCapacity = 8;
constexpr int kMostSteps = 100'000;

struct Operation {
  Way way;
  bool then_free = false;  // the consumer comes when it is done
};

// Fits, fits, fits, lost, fits with the gap exactly, lost twice; then room again, to the brim.
const std::vector<Operation> kOperations = {
    {Way::kRecord}, {Way::kGroup},  {Way::kInPlace},       {Way::kGroup},
    {Way::kRecord}, {Way::kGroup},  {Way::kInPlace, true}, {Way::kInPlace},
    {Way::kGroup},  {Way::kRecord}, {Way::kRecord},        {Way::kRecord, true},
    {Way::kGroup},  {Way::kGroup},  {Way::kRecord, true},  {Way::kRecord},
};

class ProducerSteps : public testing::TestWithParam<uint64_t> {
 protected:
  ProducerSteps()
      : process_(folder_ / "victim", 1, kCapacity),
        ring_(process_.ring(0)),
        copy_(folder_ / codec::DeadStem()),
        history_(kCapacity, GetParam()) {
    ring_->head.store(GetParam());
    ring_->tail.store(GetParam());
    void* page =
        mmap(nullptr, proto::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    done_ = new (page) std::atomic<size_t>(0);
    for (size_t i = 0; i < kOperations.size(); ++i) groups_.push_back(Group(i + 1, i + 501, false));
  }
  ~ProducerSteps() override { munmap(static_cast<void*>(done_), proto::kPageBytes); }

  void Produces() {
    for (size_t i = 0; i < kOperations.size(); ++i) {
      Produce(ring_, kOperations[i].way, i + 1, groups_[i].data());
      done_->store(i + 1, std::memory_order_relaxed);
    }
  }

  // The operation `known_` is under way: the ring is as before it or as after it.
  void CheckMoment() {
    if (std::memcmp(last_.data(), ring_, last_.size()) == 0) return;
    std::memcpy(last_.data(), static_cast<const void*>(ring_), last_.size());
    ++moments_;
    const uint64_t head = ring_->head.load();
    const uint64_t tail = ring_->tail.load();
    const uint64_t lost = ring_->dropped.load();
    ASSERT_LE(tail, head);
    ASSERT_LE(head - tail, kCapacity);
    const bool is_before = head == before_head_ && lost == before_lost_;
    const bool is_after = head == history_.head() && lost == history_.lost();
    ASSERT_TRUE(is_before || is_after) << head << ", " << lost << " lost";
    codec::WriteBytes(copy_ + proto::kRingSuffix, codec::ReadBytes(process_.ring_path()));
    const RingContents found = RecoverContents(copy_);
    const RingContents expected = history_.Between(tail, head, lost);
    // Without an event there need be no trace, and then nobody to tell of losses.
    if (head == tail && found == RingContents{}) return;
    ASSERT_EQ(found, expected);
  }

  // What the child has finished since: the next operation's two outcomes.
  void FollowProgress() {
    const size_t done = done_->load();
    if (done < known_) return;
    if (done != 0 && kOperations[done - 1].then_free) {
      position_ = consumer_.Consume(ring_, ring_->tail.load(), ring_->head.load(), nullptr);
      consumer_.Release(ring_, position_);
      history_.FreeAll();
    }
    before_head_ = history_.head();
    before_lost_ = history_.lost();
    known_ = done + 1;
    if (done < kOperations.size()) history_.Add(kOperations[done].way, known_);
  }

  codec::TempFolder folder_;
  codec::FakeProcess process_;
  proto::RingHeader* ring_;
  std::string copy_;
  RingHistory history_;
  std::atomic<size_t>* done_ = nullptr;
  std::vector<std::vector<proto::Record>> groups_;
  codec::InternTables tables_{1000, 1000, 100'000};
  codec::RecordSorter consumer_{1, 0, &tables_};
  uint64_t position_ = 0;
  size_t known_ = 0;  // operations whose outcome history_ holds
  uint64_t before_head_ = 0;
  uint64_t before_lost_ = 0;
  std::vector<char> last_ =
      std::vector<char>(proto::kRingHeaderBytes + kCapacity * sizeof(proto::Record));
  int moments_ = 0;
};

TEST_P(ProducerSteps, DeathAtEveryInstruction) {
  SteppedProcess producer([this] { Produces(); });
  if (!producer.allowed()) GTEST_SKIP() << "no process may be traced here: nothing was stepped";
  int steps = 0;
  do {
    FollowProgress();
    CheckMoment();
    if (HasFatalFailure()) FAIL() << "after step " << steps << ", operation " << known_;
    ASSERT_LT(++steps, kMostSteps);
  } while (producer.Step() != SteppedProcess::Stop::kEnded);
  EXPECT_TRUE(producer.succeeded()) << producer.status();
  EXPECT_EQ(done_->load(), kOperations.size());
  EXPECT_GT(steps, moments_);
  EXPECT_GT(moments_, 70) << "hardly a store was seen";
  EXPECT_GE(history_.lost(), 4u) << "the ring is to be full now and then";
  RecordProperty("steps", steps);
  RecordProperty("moments", moments_);
}

INSTANTIATE_TEST_SUITE_P(Alignments, ProducerSteps, testing::Range<uint64_t>(0, kCapacity));

}  // namespace
}  // namespace gpuprof
