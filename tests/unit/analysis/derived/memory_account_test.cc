// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/memory_account.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kRoom = uint64_t{1} << 40;

// Events of one device, in order.
struct Events {
  std::vector<MemoryEvent> all;
  int64_t now_ns = 0;

  MemoryEvent& Add(MemoryChange change, uint64_t address, uint64_t bytes) {
    MemoryEvent event;
    event.time_ns = ++now_ns;
    event.change = change;
    event.address = address;
    event.bytes = bytes;
    all.push_back(event);
    return all.back();
  }
  MemoryInput Input(std::vector<MemoryOwner> owners = {{}}) const {
    MemoryInput input;
    input.owners = std::move(owners);
    input.tells_returns = true;
    input.each = [this](const std::function<void(const MemoryEvent&)>& take) {
      for (const MemoryEvent& event : all) take(event);
    };
    return input;
  }
};

TEST(MemoryAccountTest, PeakHasWhatIsLiveAndWhatWasThereBefore) {
  Events events;
  events.Add(MemoryChange::kAlloc, kRoom, 100);
  events.Add(MemoryChange::kFree, kRoom + 500, 30);  // from before
  events.Add(MemoryChange::kAlloc, kRoom + 200, 50);
  events.Add(MemoryChange::kFree, kRoom, 100);
  MemoryInput input = events.Input();
  input.end_ranges = {{kRoom, 1000, false, false}};
  input.end_live = {{kRoom + 200, 50, 0}, {kRoom + 700, 7, 0}};
  const MemoryAccount account = AccountOfMemory(input);
  EXPECT_EQ(account.before_bytes, 37u);
  EXPECT_EQ(account.before_count, 2u);
  EXPECT_EQ(account.before_freed, 30u);
  EXPECT_EQ(account.peak, 157u);  // after the second allocation
  EXPECT_EQ(account.peak_time_ns, 3);
  EXPECT_EQ(account.recorded_peak, 150u);
  EXPECT_EQ(account.end_bytes, 57u);
  EXPECT_EQ(account.live_at_peak.size(), 3u);
  EXPECT_EQ(account.uncounted_count, 0u);
}

TEST(MemoryAccountTest, BlockThatWaitsIsNotAllocated) {
  Events events;
  events.Add(MemoryChange::kAlloc, kRoom, 100);
  events.Add(MemoryChange::kFree, kRoom, 100);
  events.Add(MemoryChange::kAlloc, kRoom + 200, 60);
  events.Add(MemoryChange::kPoolGotIt, kRoom, 100);
  events.Add(MemoryChange::kFree, kRoom + 200, 60);
  const MemoryAccount account = AccountOfMemory(events.Input());
  EXPECT_TRUE(account.has_pending);
  EXPECT_EQ(account.peak, 100u);
  EXPECT_EQ(account.end_bytes, 0u);
  EXPECT_EQ(account.pending_end, 60u);
}

TEST(MemoryAccountTest, TraceMayTellCompletedFreesAlone) {
  Events events;
  events.Add(MemoryChange::kAlloc, kRoom, 100);
  events.Add(MemoryChange::kPoolGotIt, kRoom, 100);
  events.Add(MemoryChange::kPoolGotIt, kRoom + 900, 11);
  const MemoryAccount account = AccountOfMemory(events.Input());
  EXPECT_FALSE(account.has_pending);
  EXPECT_EQ(account.end_bytes, 0u);
  EXPECT_EQ(account.before_bytes, 11u);
}

TEST(MemoryAccountTest, LostFreeIsImplied) {
  Events events;
  events.Add(MemoryChange::kAlloc, kRoom, 100);
  events.Add(MemoryChange::kAlloc, kRoom, 60);
  const MemoryAccount account = AccountOfMemory(events.Input());
  EXPECT_EQ(account.implied_frees, 1u);
  EXPECT_EQ(account.peak, 100u);
  EXPECT_EQ(account.end_bytes, 60u);
}

TEST(MemoryAccountTest, NothingIsKnownBehindMissingEvents) {
  Events events;
  events.Add(MemoryChange::kAlloc, kRoom, 100);
  events.Add(MemoryChange::kForget, 0, 0);
  events.Add(MemoryChange::kFree, kRoom, 100);
  events.Add(MemoryChange::kAlloc, kRoom + 8, 40);
  const MemoryAccount account = AccountOfMemory(events.Input());
  EXPECT_EQ(account.peak, 100u);
  EXPECT_EQ(account.before_bytes, 0u);
  EXPECT_EQ(account.end_bytes, 40u);
}

TEST(MemoryAccountTest, AllocatorsTotalTellsWhatWasBefore) {
  Events events;
  events.Add(MemoryChange::kAlloc, kRoom, 100);
  events.Add(MemoryChange::kTotals, 0, 4096);
  MemoryInput input = events.Input();
  input.before_bytes = 1000;
  const MemoryAccount account = AccountOfMemory(input);
  EXPECT_EQ(account.peak, 1100u);
  EXPECT_EQ(account.reserved_peak, 4096u);
  EXPECT_TRUE(account.has_reserved);
  uint64_t live = 0;
  for (const MemoryLiveBlock& block : account.live_at_peak) live += block.bytes;
  EXPECT_EQ(live, 1100u);
}

TEST(MemoryAccountTest, PointsAreFewAndHaveThePeak) {
  Events events;
  std::mt19937 random(5);
  std::vector<uint64_t> live;
  for (int i = 0; i < 20'000; ++i) {
    if (!live.empty() && random() % 2 == 0) {
      const size_t which = random() % live.size();
      events.Add(MemoryChange::kFree, live[which], 0);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      live.push_back(kRoom + static_cast<uint64_t>(i) * 4096);
      events.Add(MemoryChange::kAlloc, live.back(), 1 + random() % 4096);
    }
  }
  const MemoryAccount account = AccountOfMemory(events.Input());
  EXPECT_LE(account.points.size(), kMostMemoryPoints);
  int peaks = 0;
  for (const MemoryPoint& point : account.points) {
    uint64_t sum = 0;
    for (const uint64_t bytes : point.by_category) sum += bytes;
    EXPECT_EQ(sum, point.allocated);
    EXPECT_LE(point.allocated, account.peak);
    peaks += point.is_peak ? 1 : 0;
  }
  EXPECT_EQ(peaks, 1);
}

TEST(MemoryAccountTest, LifeTellsGradientsAndWhatPasses) {
  using namespace results;
  const std::vector<MemoryOwner> owners = {
      {},
      {MEMORY_CATEGORY_TEMPORARY, MEMORY_EVIDENCE_OPERATION, true, false},
      {MEMORY_CATEGORY_OPTIMIZER_STATE, MEMORY_EVIDENCE_OPERATION, false, true}};
  Events events;
  events.Add(MemoryChange::kAlloc, 1, 100).owner = 1;  // lives: a gradient
  events.Add(MemoryChange::kAlloc, 2, 1000).owner = 1;
  events.Add(MemoryChange::kFree, 2, 1000);
  events.Add(MemoryChange::kAlloc, 3, 10'000).owner = 2;   // stays
  events.Add(MemoryChange::kAlloc, 4, 100'000).owner = 2;  // passes
  events.Add(MemoryChange::kFree, 4, 100'000);
  events.Add(MemoryChange::kFree, 1, 100);
  events.Add(MemoryChange::kAlloc, 1, 100).owner = 1;  // the next backward pass
  events.Add(MemoryChange::kFree, 3, 10'000);
  const MemoryAccount account = AccountOfMemory(events.Input(owners));
  ASSERT_EQ(account.peak, 110'100u);
  ASSERT_EQ(account.live_at_peak.size(), 3u);
  EXPECT_EQ(account.live_at_peak[0].of.category, MEMORY_CATEGORY_GRADIENTS);
  EXPECT_EQ(account.live_at_peak[0].of.evidence, MEMORY_EVIDENCE_LIFE);
  EXPECT_EQ(account.live_at_peak[1].of.category, MEMORY_CATEGORY_OPTIMIZER_STATE);
  EXPECT_EQ(account.live_at_peak[2].of.category, MEMORY_CATEGORY_TEMPORARY);
}

// A pool of this segment whose blocks of 10 MiB are used, but for those given.
MemoryFailure FailureWith(const std::vector<int>& free, const std::vector<int>& waits,
                          bool is_private, uint64_t asked, uint64_t device_free) {
  Events events;
  events.Add(MemoryChange::kReserve, kRoom, 80 * kMiB);
  for (uint64_t i = 0; i < 8; ++i)
    events.Add(MemoryChange::kAlloc, kRoom + i * 10 * kMiB, 10 * kMiB);
  for (const std::vector<int>* list : {&free, &waits}) {
    for (const int i : *list) {
      const uint64_t address = kRoom + static_cast<uint64_t>(i) * 10 * kMiB;
      events.Add(MemoryChange::kFree, address, 10 * kMiB);
      if (list == &free) events.Add(MemoryChange::kPoolGotIt, address, 10 * kMiB);
    }
  }
  events.Add(MemoryChange::kFailure, 0, asked).device_free = device_free;
  MemoryInput input = events.Input();
  input.end_ranges = {{kRoom, 80 * kMiB, is_private, false}};
  const MemoryAccount account = AccountOfMemory(input);
  EXPECT_EQ(account.failures.size(), 1u);
  return account.failures.at(0);
}

TEST(MemoryAccountTest, RequestsFailForAReason) {
  const MemoryFailure pieces = FailureWith({0, 2, 4}, {}, false, 25 * kMiB, kMiB);
  EXPECT_EQ(pieces.shortage, results::MEMORY_SHORTAGE_FRAGMENTATION);
  EXPECT_EQ(pieces.pool.largest, 10 * kMiB);
  EXPECT_EQ(pieces.largest_fit, 10 * kMiB);
  EXPECT_TRUE(pieces.fits_unfragmented);
  EXPECT_EQ(FailureWith({0, 2}, {}, false, 22 * kMiB, kMiB).shortage,
            results::MEMORY_SHORTAGE_CAPACITY);
  // The device's own free bytes count.
  EXPECT_EQ(FailureWith({0, 2}, {}, false, 21 * kMiB, kMiB).shortage,
            results::MEMORY_SHORTAGE_FRAGMENTATION);
  EXPECT_EQ(FailureWith({0}, {1, 2}, false, 25 * kMiB, kMiB).shortage,
            results::MEMORY_SHORTAGE_PENDING_FREE);
  EXPECT_EQ(FailureWith({0, 1, 2}, {}, true, 25 * kMiB, kMiB).shortage,
            results::MEMORY_SHORTAGE_GRAPH_POOLS);
  // It would have fitted: the snapshot does not tell why it failed.
  EXPECT_EQ(FailureWith({0, 1, 2}, {}, false, 25 * kMiB, kMiB).shortage,
            results::MEMORY_SHORTAGE_UNKNOWN);
}

TEST(MemoryRangesTest, PartsAreTakenOutOfRanges) {
  MemoryRanges ranges;
  ranges.Add({100, 100, false, false});
  ranges.Add({300, 100, true, false});
  EXPECT_EQ(ranges.Remove(150, 200), 100u);
  EXPECT_EQ(ranges.bytes(), 100u);
  EXPECT_TRUE(ranges.Contains(149) && !ranges.Contains(150) && !ranges.Contains(349));
  EXPECT_TRUE(ranges.IsPrivate(350) && !ranges.IsPrivate(100) && !ranges.Contains(400));
  EXPECT_EQ(ranges.Remove(120, 10), 10u);
  EXPECT_TRUE(ranges.Contains(119) && !ranges.Contains(125) && ranges.Contains(130));
  EXPECT_EQ(ranges.Remove(UINT64_MAX - 5, 100), 0u);
}

TEST(MemoryRangesTest, FreePiecesEndWithTheirSegmentUnlessItGrows) {
  MemoryRanges apart, grown;
  for (const uint64_t at : {0, 100}) {
    apart.Add({1000 + at, 100, false, false});
    grown.Add({1000 + at, 100, false, true});
  }
  const std::vector<UsedPart> used = {{1000, 50, false}, {1180, 20, false}};
  EXPECT_EQ(apart.State(used).largest, 80u);
  EXPECT_EQ(grown.State(used).largest, 130u);
  EXPECT_EQ(grown.State(used).free, 130u);
}

// Against a map of single bytes.
TEST(MemoryRangesTest, StateIsThatOfTheBytes) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 200; ++turn) {
    MemoryRanges ranges;
    std::vector<int> bytes(64, 0);  // 0: none, 1: free, 2: used, 3: waits
    std::vector<bool> begins(65, false);
    for (size_t at = random() % 8; at < 56; at += 8 + random() % 9) {
      ranges.Add({at, 8, false, false});
      begins[at] = true;
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 8, 1);
    }
    std::vector<UsedPart> used;
    for (size_t at = random() % 5; at + 3 < 64; at += 3 + random() % 6) {
      const bool is_pending = random() % 3 == 0;
      used.push_back({at, 3, is_pending});
      for (size_t i = at; i < at + 3; ++i)
        if (bytes[i] != 0) bytes[i] = is_pending ? 3 : 2;
    }
    uint64_t largest = 0, later = 0, free = 0, run = 0, run_later = 0;
    for (size_t i = 0; i < 64; ++i) {
      if (begins[i] || bytes[i] == 0) run = run_later = 0;
      run = bytes[i] == 1 ? run + 1 : 0;
      run_later = bytes[i] == 1 || bytes[i] == 3 ? run_later + 1 : 0;
      free += bytes[i] == 1 ? 1 : 0;
      largest = std::max(largest, run);
      later = std::max(later, run_later);
    }
    const PoolState state = ranges.State(used);
    ASSERT_EQ(state.free, free) << turn;
    ASSERT_EQ(state.largest, largest) << turn;
    ASSERT_EQ(state.largest_later, later) << turn;
  }
}

results::MemoryCategory CategoryOf(std::vector<MemoryFrame> stack) {
  MemoryJudge judge;
  for (const MemoryFrame& frame : stack) judge.Add(CategoryOfFrame(frame));
  return judge.category();
}

TEST(MemoryCategoryTest, PlacesAreKnown) {
  using namespace results;
  EXPECT_EQ(CategoryOf({{"model.py", "__init__"}, {"train.py", "main"}}),
            MEMORY_CATEGORY_PARAMETERS);
  EXPECT_EQ(CategoryOf({{"cache.py", "grow"}}), MEMORY_CATEGORY_KV_CACHE);
  EXPECT_EQ(CategoryOf({{"/x/transformers/cache_utils.py", "update"}, {"m.py", "forward"}}),
            MEMORY_CATEGORY_KV_CACHE);
  EXPECT_EQ(CategoryOf({{"adamw.py", "_init_group"}}), MEMORY_CATEGORY_OPTIMIZER_STATE);
  EXPECT_EQ(CategoryOf({{"/t/optim/adamw.py", "_multi_tensor_adamw"}}), MEMORY_CATEGORY_TEMPORARY);
  EXPECT_EQ(CategoryOf({{"autograd", "AccumulateGrad"}, {"t.py", "backward"}}),
            MEMORY_CATEGORY_GRADIENTS);
  EXPECT_EQ(CategoryOf({{"", "MmBackward0"}}), MEMORY_CATEGORY_TEMPORARY);
  EXPECT_EQ(CategoryOf({{"", "aten::nll_loss_backward"}}), MEMORY_CATEGORY_TEMPORARY);
  EXPECT_EQ(CategoryOf({{"m.py", "f"}, {"m.py", "forward"}}), MEMORY_CATEGORY_ACTIVATIONS);
  EXPECT_EQ(CategoryOf({{"m.py", "__init__"}, {"m.py", "forward"}}), MEMORY_CATEGORY_ACTIVATIONS);
  EXPECT_EQ(CategoryOf({{"m.py", "forward"}, {"r.py", "capture"}}), MEMORY_CATEGORY_GRAPHS);
  // An optimizer calls the forward pass again.
  EXPECT_EQ(CategoryOf({{"m.py", "forward"}, {"/t/optim/sgd.py", "step"}}),
            MEMORY_CATEGORY_ACTIVATIONS);
  EXPECT_EQ(CategoryOf({{"d.py", "all_reduce"}}), MEMORY_CATEGORY_COMMUNICATION);
  EXPECT_EQ(CategoryOf({{"a.py", "b"}}), MEMORY_CATEGORY_UNKNOWN);
}

}  // namespace
}  // namespace gpuprof::analysis
