// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/loader_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

const std::string kUtils = "/lib/torch/utils/data/_utils/";
const std::string kLoopFrame = kUtils + "worker.py(374): _worker_loop";
const std::string kGetFrame = "/lib/multiprocessing/queues.py(113): Queue.get";

// A worker whose frames of Python are given innermost first.
class SampledWorker {
 public:
  explicit SampledWorker(int32_t pid) : builder_(pid, 1) {
    builder_.Thread(pid, "pt_data_worker").Op("aten::mul", 0, kMs);
  }
  uint32_t Stack(const std::vector<std::string>& frames) {
    std::vector<uint64_t> pcs;
    for (const std::string& frame : frames) pcs.push_back(NamedFrame(builder_.Id(frame)));
    return builder_.Stack(pcs);
  }
  // Below the worker's loop.
  void Sample(std::vector<std::string> frames, int64_t start_ms, int64_t end_ms) {
    frames.push_back(kLoopFrame);
    builder_.Thread(kSampler, "gpuprof-sample")
        .StackSample(builder_.process().pid, Stack(frames), start_ms * kMs, end_ms * kMs,
                     proto::kSamplePython);
  }
  ProcessBuilder& builder() { return builder_; }

 private:
  static constexpr int32_t kSampler = 99;
  ProcessBuilder builder_;
};

std::string Fetch(int line, const std::string& kind = "Map") {
  return kUtils + "fetch.py(" + std::to_string(line) + "): _" + kind + "DatasetFetcher.fetch";
}

// Two epochs of three batches, each with an operation of the model behind it. The fourth call of an
// epoch finds no batch.
void Train(ProcessBuilder& main) {
  TrackBuilder& thread = main.Thread(1);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    const int64_t at = epoch * 1000;
    thread.Op("aten::random_", (at + 1) * kMs, (at + 2) * kMs);
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t call = at + 10 + i * 100;
      thread.Loader(call * kMs, (call + 40) * kMs);
      if (i == 3) break;
      for (int64_t op = 0; op < 4; ++op)
        thread.Op("aten::addmm", (call + 50 + op) * kMs, (call + 51 + op) * kMs);
    }
  }
  thread.Op("aten::item", 1900 * kMs, 1901 * kMs);
}

LoaderRecord Read(ProcessBuilder& main, const std::vector<SampledWorker*>& workers) {
  const Process process = main.Build();
  std::vector<Process> built;
  for (SampledWorker* worker : workers) built.push_back(worker->builder().Build());
  std::vector<const Process*> all;
  for (const Process& each : built) all.push_back(&each);
  ProcessOps ops(process);
  return ReadLoader(ops, all).value();
}

TEST(LoaderRecord, WithoutALoader) {
  ProcessBuilder main(1);
  main.Thread(1).Op("aten::mul", 0, kMs);
  const Process process = main.Build();
  ProcessOps ops(process);
  EXPECT_FALSE(ReadLoader(ops, {}));
}

TEST(LoaderRecord, EpochsBeginWithANewSeed) {
  ProcessBuilder main(1);
  Train(main);
  const LoaderRecord record = Read(main, {});
  EXPECT_EQ(record.name, "_MultiProcessingDataLoaderIter");
  ASSERT_EQ(record.nexts.size(), 6u) << "calls that found no batch do not count";
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(record.nexts[i].is_first, i % 3 == 0) << i;
  EXPECT_EQ(record.nexts[3].begin_ns, 1001 * kMs);
  EXPECT_EQ(record.nexts[3].span, (Interval{1010 * kMs, 1050 * kMs}));
}

TEST(LoaderRecord, FramesTellTheStage) {
  ProcessBuilder main(1);
  Train(main);
  SampledWorker worker(2);
  worker.Sample({"/lib/selectors.py(415): select", kGetFrame}, 0, 10);
  worker.Sample({"train.py(5): Data.__getitem__", kUtils + "fetch.py(54): <listcomp>", Fetch(54)},
                10, 20);
  worker.Sample({"train.py(6): Data.__getitem__", Fetch(54)}, 20, 30);
  worker.Sample({"train.py(9): pad", "train.py(8): join", Fetch(57)}, 30, 40);
  worker.Sample({kUtils + "collate.py(20): default_collate", Fetch(57)}, 40, 50);
  worker.Sample({"/lib/multiprocessing/queues.py(94): Queue.put"}, 50, 60);
  worker.Sample({"train.py(2): start_worker"}, 60, 70);
  const LoaderRecord record = Read(main, {&worker});
  const std::vector<LoaderStretch>& found = record.workers.at(0).stretches;
  ASSERT_EQ(found.size(), 4u);
  const LoaderWork works[] = {LoaderWork::kIdle, LoaderWork::kSample, LoaderWork::kCollate,
                              LoaderWork::kTransfer};
  const int64_t ends[] = {10, 30, 50, 60};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i].work, works[i]) << i;
    EXPECT_EQ(found[i].span.end, ends[i] * kMs) << i;
  }
}

// A generator has any name: the call of collate_fn stands below it in fetch().
TEST(LoaderRecord, GeneratorsAreSamples) {
  ProcessBuilder main(1);
  Train(main);
  SampledWorker worker(2);
  worker.Sample({"train.py(5): Data.read", Fetch(36, "Iterable")}, 0, 10);
  worker.Sample({"train.py(9): join", Fetch(46, "Iterable")}, 10, 30);
  const LoaderRecord record = Read(main, {&worker});
  const std::vector<LoaderStretch>& found = record.workers.at(0).stretches;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].work, LoaderWork::kSample);
  EXPECT_EQ(found[1].work, LoaderWork::kCollate);
}

TEST(LoaderRecord, WaitsOfWorkers) {
  ProcessBuilder main(1);
  Train(main);
  SampledWorker worker(2), other(3);
  worker.Sample({"train.py(6): Data.__getitem__", Fetch(54)}, 0, 30);
  other.builder().Thread(3).Op("aten::mul", 0, kMs);  // no worker: it has no loop
  TrackBuilder& thread = worker.builder().Thread(2);
  thread.Wait(proto::WaitKind::kInput, 5, 0, 1 * kMs, 4 * kMs);
  thread.Wait(proto::WaitKind::kSemaphore, 6, 0, 5 * kMs, 7 * kMs);
  thread.Wait(proto::WaitKind::kSleep, 0, 0, 8 * kMs, 9 * kMs);
  const uint32_t feed = worker.Stack({"/lib/threading.py(320): Condition.wait",
                                      "/lib/multiprocessing/queues.py(231): Queue._feed"});
  const uint32_t starts = worker.Stack(
      {"/lib/threading.py(320): Condition.wait", "/lib/threading.py(622): Event.wait",
       "/lib/threading.py(962): Thread.start", "/lib/multiprocessing/queues.py(231): Queue._feed"});
  TrackBuilder& feeder = worker.builder().Thread(22);
  feeder.Wait(proto::WaitKind::kSemaphore, 7, 0, 0, 12 * kMs, 0, feed);
  feeder.Wait(proto::WaitKind::kGil, 0, 0, 12 * kMs, 13 * kMs, 0, feed);
  feeder.Wait(proto::WaitKind::kSemaphore, 8, 0, 14 * kMs, 15 * kMs, 0, starts);
  feeder.Wait(proto::WaitKind::kSemaphore, 7, 0, 16 * kMs, 25 * kMs, 0, feed);
  const LoaderRecord record = Read(main, {&worker, &other});
  ASSERT_EQ(record.workers.size(), 1u);
  EXPECT_EQ(record.workers[0].reads, (std::vector<Interval>{{1 * kMs, 4 * kMs}}));
  EXPECT_EQ(record.workers[0].lock_ns, 2 * kMs);
  EXPECT_EQ(record.workers[0].puts_ns, (std::vector<int64_t>{12 * kMs, 25 * kMs}));
}

}  // namespace
}  // namespace gpuprof::analysis::test
