// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Live memory against a plain account, and the honesty of sampled estimates.

#include "analysis/passes/memory/live_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "analysis/passes/memory/merge_tracks.h"

namespace gpuprof::analysis {
namespace {

// Notes how long each block lived, by its number.
class Lives : public BlockWatcher {
 public:
  void Allocated(const MemoryBlock& block) override {
    EXPECT_EQ(block.number, life_ns_.size());
    life_ns_.push_back(-1);
  }
  void Freed(const MemoryBlock& block, int64_t life_ns) override {
    EXPECT_EQ(life_ns_.at(block.number), -1) << "freed twice";
    life_ns_.at(block.number) = life_ns;
  }
  const std::vector<int64_t>& life_ns() const { return life_ns_; }

 private:
  std::vector<int64_t> life_ns_;  // -1: not freed
};

std::vector<uint64_t> Numbers(const std::vector<MemoryBlock>& blocks) {
  std::vector<uint64_t> numbers;
  for (const MemoryBlock& block : blocks) numbers.push_back(block.number);
  return numbers;
}

using List = std::vector<uint64_t>;

TEST(LiveMemory, PeakAndWhatWasLiveThen) {
  Lives lives;
  LiveMemory memory(0, 0, 100, 10, &lives);
  memory.Alloc(0, 0x10, 100, false, 1);
  memory.Alloc(10, 0x20, 200, false, 2);
  memory.Free(20, 0x10);
  memory.Alloc(30, 0x30, 250, false, 3);  // peak: 450
  memory.Free(40, 0x20);
  memory.Alloc(50, 0x10, 10, false, 1);
  memory.Finish();
  EXPECT_EQ(memory.peak_time(), 30);
  EXPECT_EQ(Numbers(memory.live_at_peak()), (List{1, 2}));
  EXPECT_EQ(Numbers(memory.live_at_end()), (List{2, 3}));
  EXPECT_EQ(memory.live_at_end()[0].size, 250u);
  EXPECT_EQ(memory.live_at_end()[0].group, 3u);
  EXPECT_EQ(memory.live_at_end()[0].time_ns, 30);
  EXPECT_EQ(memory.allocations(), 4u);
  EXPECT_EQ(lives.life_ns(), (std::vector<int64_t>{20, 30, -1, -1}));
  EXPECT_EQ(memory.timeline().back(), 260u);
}

TEST(LiveMemory, UnseenAllocationsAndFrees) {
  Lives lives;
  LiveMemory memory(0, 0, 100, 10, &lives);
  memory.Free(1, 0x99);
  memory.Free(1, 0);  // free(NULL) is nothing
  EXPECT_FALSE(memory.Alloc(2, 0x10, 100, false, 1));
  EXPECT_TRUE(memory.Alloc(3, 0x10, 50, false, 1));  // somebody gave the first back unseen
  EXPECT_FALSE(memory.FreeIfLive(4, 0x99));
  memory.Finish();
  EXPECT_EQ(memory.unmatched_frees(), 1u);
  EXPECT_EQ(memory.implied_frees(), 1u);
  EXPECT_EQ(Numbers(memory.live_at_end()), List{1});
  EXPECT_EQ(lives.life_ns(), (std::vector<int64_t>{1, -1}));
}

TEST(LiveMemory, ANewCaptureForgetsWhatWasLive) {
  Lives lives;
  LiveMemory memory(0, 0, 100, 10, &lives);
  memory.Alloc(1, 0x10, 100, false, 1);
  memory.NewCapture();
  memory.Alloc(50, 0x10, 60, false, 1);
  memory.Alloc(51, 0x20, 60, false, 1);
  memory.Finish();
  EXPECT_EQ(memory.implied_frees(), 0u);
  EXPECT_EQ(memory.peak_time(), 51);
  EXPECT_EQ(Numbers(memory.live_at_peak()), (List{1, 2}));
  EXPECT_EQ(Numbers(memory.live_at_end()), (List{1, 2}));
  EXPECT_EQ(lives.life_ns(), (std::vector<int64_t>{-1, -1, -1}));
}

TEST(LiveMemory, APeakInAnEarlierCaptureKeepsItsBlocks) {
  LiveMemory memory(0, 0, 100, 10, nullptr);
  memory.Alloc(1, 0x10, 100, false, 1);
  memory.Alloc(2, 0x20, 200, false, 1);  // peak: 300
  memory.Free(3, 0x10);
  memory.NewCapture();
  memory.Alloc(50, 0x20, 60, false, 1);
  memory.Free(51, 0x20);
  memory.Alloc(52, 0x30, 70, false, 1);
  memory.Finish();
  EXPECT_EQ(memory.peak_time(), 2);
  EXPECT_EQ(Numbers(memory.live_at_peak()), (List{0, 1}));
  EXPECT_EQ(Numbers(memory.live_at_end()), List{3});
}

TEST(LiveMemory, AgreesWithAPlainAccount) {
  struct Plain {
    uint64_t number;
    uint64_t size;
  };
  std::mt19937 random(3);
  Lives lives;
  LiveMemory memory(0, 0, 20000, 50, &lives);
  std::map<uint64_t, Plain> live;        // by address
  std::map<uint64_t, uint64_t> at_peak;  // sizes by number
  const auto sizes_of_live = [&] {
    std::map<uint64_t, uint64_t> sizes;
    for (const auto& [address, block] : live) sizes[block.number] = block.size;
    return sizes;
  };
  std::vector<int64_t> born, life_ns;
  uint64_t now = 0, peak = 0;
  int64_t peak_time = 0;
  std::vector<uint64_t> timeline(50, 0);
  for (int64_t time = 0; time < 20000; ++time) {
    const uint64_t address = 16 * (1 + random() % 700);
    const auto bucket = static_cast<size_t>(time / (20000 / 50 + 1));
    timeline[bucket] = std::max(timeline[bucket], now);
    if (time == 5000) {
      memory.NewCapture();
      live.clear();
      now = 0;
    }
    if (live.count(address) != 0) {
      memory.Free(time, address);
      now -= live[address].size;
      life_ns[live[address].number] = time - born[live[address].number];
      live.erase(address);
    } else {
      const uint64_t size = random() % 5000;
      memory.Alloc(time, address, size, false, 0);
      live[address] = {born.size(), size};
      born.push_back(time);
      life_ns.push_back(-1);
      now += size;
    }
    timeline[bucket] = std::max(timeline[bucket], now);
    if (now > peak) {
      peak = now;
      peak_time = time;
      at_peak = sizes_of_live();
    }
  }
  memory.Finish();
  const auto sizes_of = [](const std::vector<MemoryBlock>& blocks) {
    std::map<uint64_t, uint64_t> sizes;
    for (const MemoryBlock& block : blocks) sizes[block.number] = block.size;
    return sizes;
  };
  EXPECT_EQ(sizes_of(memory.live_at_peak()), at_peak);
  EXPECT_EQ(sizes_of(memory.live_at_end()), sizes_of_live());
  EXPECT_EQ(memory.peak_time(), peak_time);
  EXPECT_EQ(memory.timeline(), timeline);
  EXPECT_EQ(memory.allocations(), born.size());
  EXPECT_EQ(lives.life_ns(), life_ns);
  EXPECT_EQ(memory.unmatched_frees(), 0u);
}

// The recorder's rule, applied to sizes that the test knows: the estimate has no bias, and its
// interval holds the truth as often as it says.
TEST(Sampling, EstimatesAreUnbiasedAndTheirIntervalsHold) {
  constexpr uint32_t kPeriod = 512 * 1024;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<uint64_t> sizes;
  double true_bytes = 0;
  for (int i = 0; i < 4000; ++i) {
    const uint64_t size = uint64_t{1} << (random() % 24);
    sizes.push_back(size);
    true_bytes += static_cast<double>(size);
  }
  const Sampling sampling(kPeriod);
  int held = 0;
  double mean_bytes = 0, mean_count = 0;
  constexpr int kRuns = 400;
  for (int run = 0; run < kRuns; ++run) {
    Estimate bytes, count;
    for (const uint64_t size : sizes) {
      if (uniform(random) >= 1 - std::exp(-static_cast<double>(size) / kPeriod)) continue;
      sampling.AddBytes(size, true, &bytes);
      sampling.AddCount(size, true, &count);
    }
    mean_bytes += bytes.sum / kRuns;
    mean_count += count.sum / kRuns;
    held += static_cast<double>(bytes.low()) <= true_bytes &&
            true_bytes <= static_cast<double>(bytes.high());
  }
  EXPECT_NEAR(mean_bytes / true_bytes, 1, 0.01);
  // Tiny blocks are rarely seen, so their number is known badly; but on average rightly.
  EXPECT_NEAR(mean_count / 4000, 1, 0.25);
  EXPECT_GE(held, kRuns * 92 / 100);
}

// Most allocations are small and hardly ever seen: a few heavy weights make up the sum.
TEST(Sampling, IntervalsOfCountsHoldForSkewedSizes) {
  constexpr uint32_t kPeriod = 512 * 1024;
  constexpr std::pair<uint64_t, int> kSizes[] = {
      {16, 300'000}, {256, 100'000}, {4096, 20'000}, {65536, 3000}};
  constexpr int kRuns = 2000;
  std::mt19937_64 random(11);
  const Sampling sampling(kPeriod);
  double truth = 0;
  for (const auto& [size, number] : kSizes) truth += number;
  int held = 0;
  int above = 0;
  for (int run = 0; run < kRuns; ++run) {
    Estimate count;
    for (const auto& [size, number] : kSizes) {
      std::binomial_distribution<int> seen(number, sampling.Probability(size, true));
      for (int i = seen(random); i > 0; --i) sampling.AddCount(size, true, &count);
    }
    held += static_cast<double>(count.low()) <= truth && truth <= static_cast<double>(count.high());
    above += static_cast<double>(count.high()) > 4 * truth;
  }
  EXPECT_GE(held, kRuns * 94 / 100);
  EXPECT_LT(above, kRuns / 20) << "an interval that says nothing holds too";
}

// What is live at the end is often less than a period, and most often none of it is a sample.
TEST(Sampling, IntervalsOfBytesHoldWhereFewSamplesWereTaken) {
  constexpr uint32_t kPeriod = 1 << 20;
  constexpr int kRuns = 2000;
  std::mt19937_64 random(5);
  const Sampling sampling(kPeriod);
  for (const int number : {100, 700, 1500, 5000}) {
    int held = 0;
    for (int run = 0; run < kRuns; ++run) {
      Estimate bytes = sampling.NoBytes(true);
      std::binomial_distribution<int> seen(number, sampling.Probability(1024, true));
      for (int i = seen(random); i > 0; --i) sampling.AddBytes(1024, true, &bytes);
      const double truth = 1024.0 * number;
      held +=
          static_cast<double>(bytes.low()) <= truth && truth <= static_cast<double>(bytes.high());
    }
    EXPECT_GE(held, kRuns * 94 / 100) << number;
  }
  EXPECT_NEAR(static_cast<double>(sampling.NoBytes(true).high()), 3.689 * kPeriod, 0.05 * kPeriod);
  EXPECT_EQ(sampling.NoBytes(false).high(), 0u);
}

// Where as much is live all the time, the highest estimate is one by chance.
TEST(Sampling, TheLowerBoundOfAPeakHolds) {
  constexpr uint32_t kPeriod = 2 << 20;
  constexpr uint64_t kSize = 64 << 10;
  constexpr size_t kLive = 1000;
  constexpr int kRuns = 200;
  std::mt19937_64 random(6);
  const Sampling sampling(kPeriod);
  std::bernoulli_distribution is_sampled(sampling.Probability(kSize, true));
  int held = 0;
  int held_of_one = 0;
  for (int run = 0; run < kRuns; ++run) {
    LiveMemory memory(kPeriod, 0, 30'000, 1, nullptr);
    for (size_t made = 0; made < 30 * kLive; ++made) {
      const auto time = static_cast<int64_t>(made);
      if (made >= kLive) memory.Free(time, made - kLive + 1);
      if (is_sampled(random)) memory.Alloc(time, made + 1, kSize, true, 0);
    }
    memory.Finish();
    Estimate peak = sampling.NoBytes(true);
    for (const MemoryBlock& block : memory.live_at_peak())
      sampling.AddBytes(block.size, true, &peak);
    held += peak.low_of_highest(memory.allocations()) <= kLive * kSize;
    held_of_one += peak.low() <= kLive * kSize;
  }
  EXPECT_GE(held, kRuns * 95 / 100);
  EXPECT_LT(held_of_one, kRuns * 95 / 100) << "it was to be shown that it needs more";
}

TEST(Sampling, ExactRowsHaveNoInterval) {
  const Sampling sampling(512 * 1024);
  Estimate bytes;
  sampling.AddBytes(1000, false, &bytes);
  EXPECT_EQ(bytes.value(), 1000u);
  EXPECT_EQ(bytes.low(), 1000u);
  EXPECT_EQ(bytes.high(), 1000u);
}

TEST(MergeByTime, KeepsEachTracksOrder) {
  const Column<int64_t> a = {1, 5, 5, 9}, b = {2, 5, 8}, c;
  std::vector<int64_t> times;
  std::vector<size_t> rows_of_a;
  MergeByTime(std::vector<const Column<int64_t>*>{&a, &b, &c}, [&](size_t track, size_t row) {
    times.push_back(track == 0 ? a[row] : b[row]);
    if (track == 0) rows_of_a.push_back(row);
  });
  EXPECT_EQ(times, (std::vector<int64_t>{1, 2, 5, 5, 5, 8, 9}));
  EXPECT_EQ(rows_of_a, (std::vector<size_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace gpuprof::analysis
