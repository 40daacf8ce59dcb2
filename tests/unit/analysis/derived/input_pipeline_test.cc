// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/input_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kMilli = 1'000'000;

// A loader with workers: batch i goes to worker i modulo their number, each has two ahead, and
// batches are taken in order.
struct Pipeline {
  size_t workers = 2;
  size_t batches = 200;
  int64_t step_ns = 16 * kMilli;
  std::function<int64_t(size_t)> sample_ns = [](size_t) { return 60 * kMilli; };
  std::function<int64_t(size_t)> collate_ns = [](size_t) { return kMilli; };
  int64_t passing_ns = kMilli / 2;
};

struct Simulated {
  LoaderRecord record;
  int64_t mean_step_ns = 0;  // steady
};

Simulated Simulate(const Pipeline& pipeline) {
  Simulated out;
  LoaderRecord& record = out.record;
  record.name = "_MultiProcessingDataLoaderIter";
  record.workers.resize(pipeline.workers);
  std::vector<int64_t> free_at(pipeline.workers, 0), asked(pipeline.batches, 0),
      ready(pipeline.batches, 0);
  const size_t ahead = 2 * pipeline.workers;
  int64_t now = 0;
  const auto make = [&](size_t i) {
    const size_t at = i % pipeline.workers;
    std::vector<LoaderStretch>& stretches = record.workers[at].stretches;
    const int64_t begin = std::max(asked[i], free_at[at]);
    const int64_t collate = begin + pipeline.sample_ns(i);
    ready[i] = collate + pipeline.collate_ns(i);
    if (begin > free_at[at]) stretches.push_back({{free_at[at], begin}, LoaderWork::kIdle});
    stretches.push_back({{begin, collate}, LoaderWork::kSample});
    stretches.push_back({{collate, ready[i]}, LoaderWork::kCollate});
    free_at[at] = ready[i];
    record.workers[at].puts_ns.push_back(ready[i]);
  };
  for (size_t i = 0; i < std::min(ahead, pipeline.batches); ++i) make(i);
  for (size_t i = 0; i < pipeline.batches; ++i) {
    const int64_t need = now;
    now = std::max(now, ready[i]) + pipeline.passing_ns;
    record.nexts.push_back({{need, now}, i == 0, need});
    if (i + ahead < pipeline.batches) {
      asked[i + ahead] = now;
      make(i + ahead);
    }
    now += pipeline.step_ns;
  }
  for (size_t i = 0; i < pipeline.workers; ++i) {
    LoaderWorker& worker = record.workers[i];
    worker.pid = static_cast<int32_t>(100 + i);
    worker.life = {0, now};
    worker.stretches.push_back({{free_at[i], now}, LoaderWork::kIdle});
  }
  const size_t steady = pipeline.batches / 4;
  out.mean_step_ns = (record.nexts.back().span.start - record.nexts[steady].span.start) /
                     static_cast<int64_t>(pipeline.batches - 1 - steady);
  return out;
}

// Returns the least number of workers whose step is at most a tenth longer than the shortest.
uint32_t Sweep(Pipeline pipeline) {
  std::vector<int64_t> steps;
  for (pipeline.workers = 1; pipeline.workers <= 24; ++pipeline.workers)
    steps.push_back(Simulate(pipeline).mean_step_ns);
  const int64_t best = *std::min_element(steps.begin(), steps.end());
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](int64_t ns) { return ns * 10 <= best * 11; });
  return static_cast<uint32_t>(found - steps.begin() + 1);
}

int64_t SumOfParts(const InputAccount& account) {
  int64_t sum = account.order_ns;
  for (const int64_t ns : account.waited_for_ns) sum += ns;
  return sum;
}

int64_t SumOfWaits(const InputAccount& account) {
  int64_t sum = 0;
  for (const int64_t ns : account.waits_ns) sum += ns;
  return sum;
}

TEST(InputPipeline, NothingWasAsked) {
  const InputAccount account = AccountOf({});
  EXPECT_FALSE(account.is_bound);
  EXPECT_EQ(account.batches, 0u);
}

TEST(InputPipeline, TooFewWorkers) {
  const InputAccount account = AccountOf(Simulate({}).record);
  EXPECT_TRUE(account.is_bound);
  EXPECT_EQ(account.stage, InputStage::kSample);
  EXPECT_EQ(account.worker_count, 2u);
  EXPECT_EQ(account.suffice, 4u);  // 61 of 16 ms
  EXPECT_NEAR(account.wait_ratio, 0.47, 0.03);
  EXPECT_EQ(account.service_ns, 61 * kMilli);
  EXPECT_EQ(account.epochs, 1u);
  EXPECT_EQ(account.steps, 198u);  // without the first, and without the last, which has no end
  EXPECT_EQ(SumOfParts(account), SumOfWaits(account));
}

TEST(InputPipeline, EnoughWorkersDoNotWait) {
  Pipeline pipeline;
  pipeline.workers = 5;
  const InputAccount account = AccountOf(Simulate(pipeline).record);
  EXPECT_FALSE(account.is_bound);
  EXPECT_EQ(account.stage, InputStage::kNone);
  EXPECT_EQ(account.suffice, 4u);
}

TEST(InputPipeline, CollateIsTheStage) {
  Pipeline pipeline;
  pipeline.sample_ns = [](size_t) { return 4 * kMilli; };
  pipeline.collate_ns = [](size_t) { return 40 * kMilli; };
  pipeline.step_ns = 14 * kMilli;
  const InputAccount account = AccountOf(Simulate(pipeline).record);
  EXPECT_EQ(account.stage, InputStage::kCollate);
  EXPECT_EQ(account.suffice, 4u);
}

// One batch of thirteen is late, and the workers that have theirs ready have nothing to do.
TEST(InputPipeline, OneLateBatchIsTheOrder) {
  Pipeline pipeline;
  pipeline.workers = 6;
  pipeline.step_ns = 12 * kMilli;
  pipeline.sample_ns = [](size_t i) { return (i % 13 == 7 ? 415 : 20) * kMilli; };
  const InputAccount account = AccountOf(Simulate(pipeline).record);
  EXPECT_TRUE(account.is_bound);
  EXPECT_EQ(account.stage, InputStage::kOrder);
  EXPECT_NEAR(account.suffice.value_or(0), 5, 1);
  EXPECT_LE(account.long_count * 5, account.steps);
  EXPECT_EQ(SumOfParts(account), SumOfWaits(account));
}

// Times that differ from batch to batch make many of them late: that is no matter of the order.
TEST(InputPipeline, UnevenBatchesAreSamples) {
  std::mt19937 random(3);
  std::vector<int64_t> times(200);
  for (int64_t& time : times) time = static_cast<int64_t>(10 + random() % 100) * kMilli;
  Pipeline pipeline;
  pipeline.workers = 4;
  pipeline.sample_ns = [times](size_t i) { return times[i]; };
  const InputAccount account = AccountOf(Simulate(pipeline).record);
  EXPECT_TRUE(account.is_bound);
  EXPECT_EQ(account.stage, InputStage::kSample);
}

TEST(InputPipeline, PassingOnIsNoStarvation) {
  Pipeline pipeline;
  pipeline.workers = 5;
  pipeline.passing_ns = 3 * kMilli;
  InputAccount account = AccountOf(Simulate(pipeline).record);
  EXPECT_NEAR(account.wait_ratio, 0.16, 0.02);
  EXPECT_FALSE(account.is_bound);
  pipeline.passing_ns = 9 * kMilli;
  account = AccountOf(Simulate(pipeline).record);
  EXPECT_EQ(account.stage, InputStage::kTransfer);
  EXPECT_FALSE(account.suffice);
}

// Without the waits of the threads that send batches, short waits say how long passing on takes.
TEST(InputPipeline, PassingOnIsGuessed) {
  Pipeline pipeline;
  pipeline.workers = 5;
  pipeline.passing_ns = 2 * kMilli;
  LoaderRecord record = Simulate(pipeline).record;
  for (LoaderWorker& worker : record.workers) worker.puts_ns.clear();
  const InputAccount account = AccountOf(record);
  EXPECT_TRUE(account.lives.empty());
  EXPECT_FALSE(account.is_bound);
  EXPECT_LT(account.order_ns * 10, SumOfWaits(account));
}

TEST(InputPipeline, LivesOfBatches) {
  const Simulated simulated = Simulate({});
  InputAccount account = AccountOf(simulated.record);
  ASSERT_EQ(account.lives.size(), 200u);
  EXPECT_EQ(account.lives[7].pid, 101) << "batches are dealt out in turn";
  EXPECT_EQ(account.lives[7].ready_ns - account.lives[7].begin_ns, 61 * kMilli);
  EXPECT_EQ(account.services_ns.front(), 61 * kMilli);
  EXPECT_EQ(account.services_ns.back(), 61 * kMilli);
  EXPECT_EQ(account.margins_ns.size(), account.steps);
  // Steps wait for half of the batches.
  EXPECT_LT(account.margins_ns.front(), -20 * kMilli);
  // The thread that sends batches waits for the second at first, and its process may say one more.
  LoaderRecord record = simulated.record;
  record.workers[0].puts_ns.erase(record.workers[0].puts_ns.begin());
  record.workers[1].puts_ns.push_back(record.workers[1].puts_ns.back() + 1);
  EXPECT_EQ(AccountOf(record).lives.size(), 199u);
  // Waits that do not fit belong to other batches.
  record.workers[0].puts_ns.resize(50);
  EXPECT_EQ(AccountOf(record).lives.size(), 100u);
}

TEST(InputPipeline, WithoutWorkersTheThreadOfTheStepsLoads) {
  LoaderRecord record;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t at = i * 44 * kMilli;
    record.nexts.push_back({{at, at + 32 * kMilli}, i % 20 == 0, at});
    record.main.push_back({{at, at + 30 * kMilli}, LoaderWork::kSample});
    record.main.push_back({{at + 30 * kMilli, at + 31 * kMilli}, LoaderWork::kCollate});
  }
  InputAccount account = AccountOf(record);
  EXPECT_EQ(account.epochs, 2u);
  EXPECT_EQ(account.firsts_ns, (std::vector<int64_t>{32 * kMilli, 32 * kMilli}));
  EXPECT_EQ(account.steps, 36u);
  EXPECT_NEAR(account.wait_ratio, 32.0 / 44, 0.001);
  EXPECT_EQ(account.stage, InputStage::kSample);
  EXPECT_EQ(account.suffice, 3u);
  // Work of the processor alone: two processors have room for one worker beside the steps.
  record.processors = 2;
  record.main_cpu_ratio = 1;
  account = AccountOf(record);
  EXPECT_EQ(account.suffice, 1u);
  EXPECT_TRUE(account.limited_by_processors);
}

TEST(InputPipeline, WithoutSamplesTheStageIsNotKnown) {
  LoaderRecord record = Simulate({}).record;
  for (LoaderWorker& worker : record.workers) worker.stretches.clear();
  const InputAccount account = AccountOf(record);
  EXPECT_TRUE(account.is_bound);
  EXPECT_EQ(account.stage, InputStage::kUnknown);
  EXPECT_FALSE(account.suffice);
}

TEST(InputPipeline, WorkersThatWereNotRecorded) {
  LoaderRecord record = Simulate({}).record;
  record.workers.clear();
  const InputAccount account = AccountOf(record);
  EXPECT_EQ(account.stage, InputStage::kUnknown);
  EXPECT_EQ(account.service_ns, 0);
  EXPECT_FALSE(account.suffice);
}

TEST(InputPipeline, LocksOfEachOther) {
  LoaderRecord record = Simulate({}).record;
  for (LoaderWorker& worker : record.workers) worker.lock_ns = 100 * 40 * kMilli;
  const InputAccount account = AccountOf(record);
  EXPECT_EQ(account.stage, InputStage::kLock);
  EXPECT_FALSE(account.suffice);
}

TEST(InputPipeline, MostAtOnce) {
  EXPECT_EQ(MostAtOnce({}), 0u);
  EXPECT_EQ(MostAtOnce({{0, 10}, {10, 20}, {5, 15}}), 2u);
}

// Random pipelines: the number told is within one of what a sweep finds.
TEST(InputPipeline, NumberOfWorkersIsThatOfASweep) {
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    Pipeline pipeline;
    pipeline.batches = 300;
    pipeline.workers = 1 + random() % 4;
    pipeline.step_ns = static_cast<int64_t>(5 + random() % 20) * kMilli;
    // Times differ by batch, by a third at most.
    const double mean = static_cast<double>(pipeline.step_ns) * (0.3 + (random() % 100) * 0.09);
    std::vector<double> factors(pipeline.batches);
    for (double& factor : factors) factor = 0.7 + 0.6 * (random() % 1000) / 1000.0;
    pipeline.sample_ns = [mean, factors](size_t batch) {
      return static_cast<int64_t>(mean * factors[batch]);
    };
    const InputAccount account = AccountOf(Simulate(pipeline).record);
    ASSERT_TRUE(account.suffice) << i;
    EXPECT_NEAR(*account.suffice, Sweep(pipeline), 1)
        << i << ": " << mean / kMilli << " ms, step " << pipeline.step_ns / kMilli;
    EXPECT_EQ(SumOfParts(account), SumOfWaits(account));
  }
}

}  // namespace
}  // namespace gpuprof::analysis
