// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/unit/analysis/advice/loop_maker.h"

namespace gpuprof::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Ten steps of 100 ms, of which `input_ms` wait for the loader's next batch.
void Train(TrackBuilder& track, int64_t input_ms) {
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = i * 100 * kMs;
    track.Loader(at, at + input_ms * kMs);
    track.Op("aten::conv2d", at + input_ms * kMs, at + 60 * kMs);
    track.Backward("ConvolutionBackward0", at + 60 * kMs, at + 90 * kMs);
    track.Optimizer(at + 90 * kMs, at + 98 * kMs);
    track.Op("aten::_foreach_add_", at + 90 * kMs, at + 98 * kMs);
  }
}

// Ten steps of 60 ms that hardly wait. The sixth waits for half a second before them.
void TrainWithLateBatch(TrackBuilder& track) {
  int64_t at = 0;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t begin = at + (i == 5 ? 500 : 1) * kMs;
    track.Loader(at, begin);
    track.Op("aten::conv2d", begin, begin + 20 * kMs);
    track.Backward("ConvolutionBackward0", begin + 20 * kMs, begin + 50 * kMs);
    track.Optimizer(begin + 50 * kMs, begin + 58 * kMs);
    track.Op("aten::_foreach_add_", begin + 50 * kMs, begin + 58 * kMs);
    at = begin + 60 * kMs;
  }
}

constexpr int64_t kOneLate = -1;

// A training process, and workers with this processor time in a second.
class Loader {
 public:
  explicit Loader(const std::vector<int64_t>& cpu_ms, int64_t input_ms = 40,
                  int64_t runqueue_ms = 0)
      : main_(1) {
    if (input_ms == kOneLate)
      TrainWithLateBatch(main_.Thread(1));
    else
      Train(main_.Thread(1), input_ms);
    for (const int64_t cpu : cpu_ms) {
      ProcessBuilder& worker = workers_.emplace_back(static_cast<int32_t>(workers_.size()) + 2, 1);
      worker.Thread(worker.process().pid, "pt_data_worker")
          .Op("aten::mul", 0, 990 * kMs)
          .Sample(0, 0)
          .Sample(1000 * kMs, cpu * kMs, runqueue_ms * kMs);
    }
  }
  ProcessBuilder& main() { return main_; }
  ProcessBuilder& worker(size_t i) { return workers_[i]; }
  results::Advice Run() const {
    std::vector<const ProcessBuilder*> all = {&main_};
    for (const ProcessBuilder& worker : workers_) all.push_back(&worker);
    return Advise(MakeTrace(all));
  }

 private:
  ProcessBuilder main_;
  std::deque<ProcessBuilder> workers_;
};

TEST(InputRules, WorkersThatReadFiles) {
  const auto make = [](int64_t read_ms) {
    Loader loader({300, 300});
    for (const size_t i : {0u, 1u}) {
      ProcessBuilder& worker = loader.worker(i);
      worker.Thread(worker.process().pid, "pt_data_worker")
          .FileRead(worker.Id("/data/shard_1"), 1 << 20, 100 * kMs, (100 + read_ms) * kMs);
    }
    return loader.Run();
  };
  const results::Advice advice = make(700);
  const results::Finding* finding = Find(advice, "IN-003");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain().high_ns(), 40 * kMs);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("/data/shard_1 of 700 ms"));
  EXPECT_THAT(Ids(advice), Not(Contains("IN-001"))) << "one finding a mechanism";
  EXPECT_THAT(Ids(make(300)), Not(Contains("IN-003")));
  EXPECT_THAT(Ids(make(300)), Contains("IN-001"));
}

TEST(InputRules, TooFewWorkers) {
  Loader loader({960, 960});
  loader.main().process().cores = 8;
  const results::Advice advice = loader.Run();
  const results::Finding* finding = Find(advice, "IN-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->name(), HasSubstr("too few"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("num_workers="));
  EXPECT_THAT(Ids(advice), Not(Contains("IN-002")));
  loader.main().process().cores = 2;
  const results::Advice full = loader.Run();
  EXPECT_THAT(Ids(full), Contains("IN-002")) << "there are no processors for more";
  EXPECT_THAT(Ids(full), Not(Contains("IN-004")));
}

TEST(InputRules, TooManyWorkers) {
  Loader loader(std::vector<int64_t>(9, 200), 40, 700);
  loader.main().process().cores = 4;
  const results::Advice advice = loader.Run();
  const results::Finding* finding = Find(advice, "IN-004");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(finding->name(), HasSubstr("far more workers"));
  loader.main().process().cores = 5;
  EXPECT_THAT(Ids(loader.Run()), Contains("IN-002"));
}

// Samples of the workers tell the stage, and the stage the remedy. Each worker does one thing only.
TEST(InputRules, TheStageHasItsRemedy) {
  const std::string kUtils = "/lib/torch/utils/data/_utils/";
  const std::vector<std::string> kSample = {"a.py(1): Data.__getitem__",
                                            kUtils + "fetch.py(54): fetch"};
  const std::vector<std::string> kCollate = {"a.py(9): join", kUtils + "fetch.py(57): fetch"};
  const std::vector<std::string> kIdle = {"/lib/multiprocessing/queues.py(113): Queue.get"};
  const auto run = [&](const std::vector<std::vector<std::string>>& works, int64_t input_ms = 40) {
    Loader loader(std::vector<int64_t>(works.size(), 50), input_ms);
    for (size_t i = 0; i < works.size(); ++i) {
      ProcessBuilder& worker = loader.worker(i);
      std::vector<uint64_t> pcs;
      for (const std::string& frame : works[i]) pcs.push_back(NamedFrame(worker.Id(frame)));
      pcs.push_back(NamedFrame(worker.Id(kUtils + "worker.py(374): _worker_loop")));
      worker.Thread(90, "gpuprof-sample")
          .StackSample(worker.process().pid, worker.Stack(pcs), 0, 1000 * kMs,
                       proto::kSamplePython);
    }
    const results::Advice advice = loader.Run();
    const results::Finding* finding = Find(advice, "IN-001");
    return finding == nullptr ? std::string() : finding->name() + WordsOf(*finding);
  };
  // Each of ten batches takes 200 ms of a worker, and 60 ms of a step are no wait.
  EXPECT_THAT(run({kSample, kSample}), HasSubstr("Raise num_workers from 2 to 4"));
  EXPECT_THAT(run({kSample, kSample, kSample, kSample, kSample, kSample}),
              Not(HasSubstr("not busy")));
  const std::string collate = run({kCollate, kCollate});
  EXPECT_THAT(collate, HasSubstr("Make collate_fn cheaper"));
  EXPECT_THAT(collate, HasSubstr("from 2 to 4"));
  const std::string order = run({kSample, kIdle, kIdle}, kOneLate);
  EXPECT_THAT(order, HasSubstr("in_order=False"));
  EXPECT_THAT(order, Not(HasSubstr("Raise num_workers")));
}

TEST(InputRules, OneWorkerHasMostOfTheWork) {
  const results::Advice advice = Loader({900, 100, 100, 100}).Run();
  const results::Finding* finding = Find(advice, "IN-005");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("pid 2"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("3.00 times"));
  EXPECT_THAT(Ids(Loader({500, 300, 300, 300}).Run()), Not(Contains("IN-005")));
}

// Three epochs of ten steps. Workers that start are waited for, and later batches are there.
TEST(InputRules, TheFirstBatchOfEachEpoch) {
  ProcessBuilder main(1), worker(2, 1);
  TrackBuilder& thread = main.Thread(1);
  int64_t at = 0;
  for (int64_t i = 0; i < 30; ++i) {
    if (i % 10 == 0) thread.Op("aten::random_", at, at + kMs);
    const int64_t begin = at + (i % 10 == 0 ? 400 : 2) * kMs;
    thread.Loader(at + kMs, begin);
    for (int64_t op = 0; op < 4; ++op)
      thread.Op("aten::addmm", begin + op * 10 * kMs, begin + (op * 10 + 9) * kMs);
    at = begin + 41 * kMs;
    if (i % 10 == 9) {  // finds no batch
      thread.Loader(at, at + kMs);
      at += 2 * kMs;
    }
  }
  thread.Op("aten::item", at, at + kMs);
  worker.Thread(2, "pt_data_worker").Op("aten::mul", 0, at).Sample(0, 0).Sample(at, at / 10);
  const results::Advice advice = Advise(MakeTrace({&main, &worker}));
  const results::Finding* finding = Find(advice, "IN-001");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->name(), "Steps wait for the first batch of each epoch");
  EXPECT_THAT(WordsOf(*finding), HasSubstr("takes up to 400 ms, the others 1.00 ms in the mean"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("persistent_workers=True"));
}

TEST(InputRules, TheStepsThreadWorksOnBatches) {
  const auto make = [](int64_t waited_ms) {
    Loader loader({300, 300}, 8);
    TrackBuilder& thread = loader.main().Thread(1);
    for (int64_t i = 0; i < 10; ++i)
      thread.Wait(proto::WaitKind::kInput, 5, 0, i * 100 * kMs, (i * 100 + waited_ms) * kMs);
    return loader.Run();
  };
  const results::Advice advice = make(1);
  const results::Finding* finding = Find(advice, "IN-006");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->gain().high_ns(), 7 * kMs);
  EXPECT_THAT(Ids(advice), Not(Contains("IN-001"))) << "one finding a mechanism";
  EXPECT_THAT(Ids(make(7)), Not(Contains("IN-006"))) << "it waits for the workers";
}

TEST(InputRules, SlowIteratorsOfTfData) {
  const auto make = [](int64_t call_us) {
    ProcessBuilder builder(1);
    TrackBuilder& consumer = builder.Thread(1);
    TrackBuilder& producer = builder.Thread(2);
    for (int64_t i = 0; i < 100; ++i) {
      const int64_t at = i * kMs;
      consumer.Op("Iterator::Root", at, at + call_us * kUs);
      consumer.Op("Iterator::Root::Prefetch", at + kUs, at + call_us * kUs);
      producer.Op("Iterator::Root::Prefetch::ParallelMapV2", at, at + 900 * kUs);
      producer.Op("Iterator::Root::Prefetch::ParallelMapV2::TFRecord", at, at + 100 * kUs);
    }
    return Advise(MakeTrace({&builder}));
  };
  const results::Advice advice = make(200);
  const results::Finding* finding = Find(advice, "IN-007");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("100 calls of Iterator::Root took 200 us in the mean"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("TFRecord worked longest: 10.0 ms"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("Read several files at once"));
  EXPECT_THAT(WordsOf(*finding), Not(HasSubstr("prefetch"))) << "it does so already";
  EXPECT_THAT(Ids(make(40)), Not(Contains("IN-007")));
}

// Forty steps in two epochs. The first call of each epoch waits until the buffer is full.
TEST(InputRules, AShuffleThatFillsItsBuffer) {
  ProcessBuilder builder(1);
  TrackBuilder& consumer = builder.Thread(1);
  int64_t at = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t call = i % 20 == 0 ? 900 * kMs : 100 * kUs;
    consumer.User("step " + std::to_string(i), at, at + call + 30 * kMs);
    consumer.Op("Iterator::Root", at, at + call);
    consumer.Op("Iterator::Root::Shuffle", at, at + call);
    consumer.Op("Iterator::Root::Shuffle::Generator", at, at + call - 10 * kUs);
    consumer.Op("step/MatMul:MatMul", at + call, at + call + 29 * kMs);
    at += call + 30 * kMs;
  }
  const results::Advice advice = Advise(MakeTrace({&builder}));
  const results::Finding* finding = Find(advice, "IN-007");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->name(),
            "The first batch of each epoch waits until the shuffle buffer is full");
  EXPECT_THAT(WordsOf(*finding), HasSubstr("takes up to 900 ms, the others 100 us in the mean"));
  EXPECT_THAT(WordsOf(*finding), Not(HasSubstr("py_function")));
}

// A sleep is longer than the waits of two epochs, but what a change of the input wins is known.
TEST(InputRules, ASureGainComesBeforeALargerBound) {
  ProcessBuilder builder(1);
  TrackBuilder& loop = builder.Thread(1);
  int64_t at = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t call = i % 20 == 0 ? 900 * kMs : 100 * kUs;
    loop.User("step " + std::to_string(i), at, at + call + 30 * kMs);
    loop.Op("IteratorGetNextOp::DoCompute", at, at + call);
    loop.Op("Iterator::Root", at, at + call);
    loop.Op("Iterator::Root::Shuffle", at, at + call);
    loop.Op("Iterator::Root::Shuffle::Generator", at, at + call - 10 * kUs);
    loop.Wait(proto::WaitKind::kSleep, 0, 0x20, at + call, at + call + 29 * kMs);
    at += call + 30 * kMs;
  }
  const results::Advice advice = Advise(MakeTrace({&builder}));
  ASSERT_GE(advice.findings_size(), 2);
  EXPECT_EQ(advice.findings(0).id(), "IN-007");
  const results::Finding* sleep = Find(advice, "SY-007");
  ASSERT_NE(sleep, nullptr);
  EXPECT_THAT(WordsOf(*sleep), HasSubstr("Sleep for a shorter time"));
  EXPECT_EQ(sleep->gain().method(), results::GAIN_METHOD_NOT_COMPUTED);
  EXPECT_EQ(sleep->severity(), results::SEVERITY_HIGH);
}

// A step that sleeps is told to prefetch only if nothing is known of its input.
TEST(InputRules, AWaitOutsideOfAKnownInputIsNoReasonToPrefetch) {
  const auto advice_of = [](bool has_iterator) {
    ProcessBuilder builder(1);
    TrackBuilder& loop = builder.Thread(1);
    for (int64_t i = 0; i < 10; ++i) {
      const int64_t at = i * 100 * kMs;
      loop.User("step " + std::to_string(i), at, at + 100 * kMs);
      if (has_iterator) {
        loop.Op("Iterator::Root::MapAndBatch", at, at + 9 * kMs);
        loop.Wait(proto::WaitKind::kInput, 5, 0x10, at + kMs, at + 9 * kMs);
      }
      loop.Wait(proto::WaitKind::kSleep, 0, 0x20, at + 10 * kMs, at + 90 * kMs);
    }
    return Advise(MakeTrace({&builder}));
  };
  const results::Advice known = advice_of(true), unknown = advice_of(false);
  ASSERT_NE(Find(known, "SY-007"), nullptr);
  ASSERT_NE(Find(unknown, "SY-007"), nullptr);
  EXPECT_THAT(WordsOf(*Find(known, "SY-007")), Not(HasSubstr("prefetch")));
  EXPECT_THAT(WordsOf(*Find(known, "SY-007")), HasSubstr("80.0 ms per step: sleeps"));
  EXPECT_THAT(WordsOf(*Find(known, "SY-007")), Not(HasSubstr("8.00 ms per step")))
      << "within a call for a batch";
  EXPECT_THAT(WordsOf(*Find(unknown, "SY-007")), HasSubstr("prefetch data"));
}

// What a parallel map waits for is what works: Python, in functions that TensorFlow calls.
TEST(InputRules, PythonInTheFunctionsOfTfData) {
  ProcessBuilder builder(1);
  TrackBuilder& consumer = builder.Thread(1);
  TrackBuilder& runner = builder.Thread(2);
  ProcessBuilder other(9);  // what it does is not this process's input
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = i * 100 * kMs;
    consumer.User("step " + std::to_string(i), at, at + 100 * kMs);
    consumer.Op("Iterator::Root::MapAndBatch", at, at + 60 * kMs);
    consumer.Op("step/MatMul:MatMul", at + 60 * kMs, at + 99 * kMs);
    runner.Op("PyFunc:PyFunc", at, at + 50 * kMs);
    runner.Op("Fill:Fill", at + 50 * kMs, at + 59 * kMs);
    runner.Op("ExecutorState::Process", at + 59 * kMs, at + 100 * kMs);
    other.Thread(3).Op("Conv2D:Conv2D", at, at + 100 * kMs);
  }
  const results::Advice advice = Advise(MakeTrace({&builder, &other}));
  const results::Finding* finding = Find(advice, "IN-007");
  ASSERT_NE(finding, nullptr);
  EXPECT_THAT(WordsOf(*finding), HasSubstr("PyFunc worked longest: 500 ms"));
  EXPECT_THAT(WordsOf(*finding), HasSubstr("Python runs one call at a time"));
  EXPECT_THAT(WordsOf(*finding), Not(HasSubstr("num_parallel_calls"))) << "the map is parallel";
  EXPECT_THAT(WordsOf(*finding), HasSubstr(".prefetch("));
}

TEST(InputRules, FilesOfAColdCache) {
  const auto make = [](int64_t slow_ms) {
    ProcessBuilder builder(1);
    TrackBuilder& thread = builder.Thread(1);
    const uint32_t path = builder.Id("/data/samples");
    int64_t at = 0;
    for (int i = 0; i < 30; ++i) {
      const int64_t read = (i < 10 ? slow_ms : 1) * kMs;
      const int64_t begin = at;
      thread.FileRead(path, 1 << 20, at, at + read);
      at += read + 20 * kMs;
      thread.Op("aten::mm", begin + read, at - kMs);
      thread.User("step " + std::to_string(i), begin, at);
    }
    return Advise(MakeTrace({&builder}));
  };
  const results::Advice advice = make(10);
  const results::Finding* finding = Find(advice, "IN-008");
  ASSERT_NE(finding, nullptr) << testing::PrintToString(Ids(advice));
  // The mean step is 24 ms long, and steps of the last third take 21 ms.
  EXPECT_EQ(finding->gain().high_ns(), 3 * kMs);
  EXPECT_THAT(Ids(make(2)), Not(Contains("IN-008")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
