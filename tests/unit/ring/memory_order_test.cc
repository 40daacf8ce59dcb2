// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The ring between two processors that see each other's stores late and out of order, as far as
// release and acquire let them.
//
// What this proves: for the scripts below (a ring of four records that wraps, fills, loses, tells
// its losses and is freed in portions) no execution that the memory model allows reads a record
// before it is whole, overwrites one before it is consumed, or loses one or its count; and each
// acquire and each release is needed: without it there is an execution that goes wrong. What it
// does not: longer histories; that the processor and the compiler keep to the memory model; the
// ring's change of hands between threads (RingHeader::state); and the drain's own loop in tracer/,
// of which Drain() here is a copy.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <optional>

#include "tests/unit/ring/memory_model.h"
#include "tests/unit/ring/memory_order_bodies.h"

#include "proto/codec/tables.h"

namespace gpuprof {
namespace {

constexpr uint32_t kCapacity = 4;
constexpr uint64_t kBytes = proto::kRingHeaderBytes + kCapacity * sizeof(proto::Record);
constexpr int kProducer = 0;
constexpr int kConsumer = 1;

class MemoryOrderTest : public testing::Test {
 protected:
  MemoryOrderTest() : ring_(reinterpret_cast<proto::RingHeader*>(memory_)) {
    model_.AddAtomic(&ring_->head, "head", kProducer);
    model_.AddAtomic(&ring_->dropped, "dropped", kProducer);
    model_.AddAtomic(&ring_->tail, "tail", kConsumer);
  }

  void Begin() {
    std::memset(memory_, 0, sizeof memory_);
    ring_->capacity = kCapacity;
    ring_->track = 1;
    sorter_.emplace(1, 0, &tables_);
  }

  // Both are through: what is left is drained, and then everything must have come.
  std::string End() {
    position_ = Drain(ring_, &*sorter_, position_, 1);
    uint64_t told = 0;
    for (const auto& builder : sorter_->builders()) told += builder->dropped_before();
    most_lost_ = std::max(most_lost_, ring_->dropped.load());
    if (sorter_->corrupt_records() != 0) return "records that make no sense";
    if (sorter_->rows() != written_) return "an event is missing or twice";
    if (ring_->dropped.load() + written_ != ways_.size()) return "a loss is not counted";
    if (told != ring_->dropped_told) return "a loss is told wrongly";
    if (ring_->tail.load() != ring_->head.load()) return "not all was freed";
    return "";
  }

  std::string Explore(const std::vector<Way>& ways, int drains) {
    ways_ = ways;
    groups_.clear();
    for (size_t i = 0; i < ways.size(); ++i) groups_.push_back(Group(i + 1, 500, false));
    return model_.Explore([this] { Begin(); },
                          {[this] { written_ = ProduceAll(ring_, ways_, groups_); },
                           [this, drains] { position_ = Drain(ring_, &*sorter_, 0, drains); }},
                          [this] { return End(); });
  }

  alignas(proto::kPageBytes) static inline char memory_[kBytes];
  proto::RingHeader* ring_;
  MemoryModel model_{memory_, sizeof memory_};
  codec::InternTables tables_{1000, 1000, 100'000};
  std::optional<codec::RecordSorter> sorter_;
  std::vector<Way> ways_;
  std::vector<std::vector<proto::Record>> groups_;
  uint64_t written_ = 0;
  uint64_t position_ = 0;
  uint64_t most_lost_ = 0;
};

const std::vector<std::vector<Way>> kScripts = {
    {Way::kRecord, Way::kRecord, Way::kRecord, Way::kRecord, Way::kRecord},
    {Way::kGroup, Way::kGroup, Way::kRecord, Way::kGroup, Way::kInPlace},
    {Way::kInPlace, Way::kGroup, Way::kInPlace, Way::kRecord, Way::kInPlace},
};

TEST_F(MemoryOrderTest, NoExecutionGoesWrong) {
  for (const auto& ways : kScripts) {
    EXPECT_EQ(Explore(ways, 3), "") << "after " << model_.executions() << " executions";
    EXPECT_GT(model_.executions(), 10'000u);
  }
  EXPECT_GE(most_lost_, 2u) << "the ring is to be full now and then";
}

TEST_F(MemoryOrderTest, EachAcquireAndReleaseIsNeeded) {
  for (const auto& ways : kScripts) ASSERT_EQ(Explore(ways, 2), "");
  std::map<std::string, int> places;
  const auto ordered = model_.ordered();
  for (const auto& [place, what] : ordered) {
    model_.Weaken(place);
    std::string fault;
    for (size_t i = 0; i < kScripts.size() && fault.empty(); ++i) fault = Explore(kScripts[i], 2);
    EXPECT_NE(fault, "") << what << ": goes unnoticed";
    ++places[what];
  }
  EXPECT_GE(places["release head"], 3) << "RingWrite, RingWriteGroup, RingPublish";
  EXPECT_GE(places["acquire tail"], 1) << "RingFindRoom";
  EXPECT_GE(places["release tail"], 1) << "RecordSorter::Release";
  EXPECT_GE(places["acquire head"], 1) << "Drain";
}

// That the model finds what must be found: a drain that frees before it has consumed.
TEST_F(MemoryOrderTest, AFreeTooEarlyIsSeen) {
  ways_ = kScripts[0];
  groups_.resize(ways_.size());
  EXPECT_NE(model_.Explore([this] { Begin(); },
                           {[this] { written_ = ProduceAll(ring_, ways_, groups_); },
                            [this] { FreeTooEarly(ring_, &*sorter_); }},
                           [] { return ""; }),
            "");
}

}  // namespace
}  // namespace gpuprof
