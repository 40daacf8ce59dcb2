// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/tf_data.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kUs = 1000, kMs = 1'000'000;

const DataIterator* Find(const DataPipeline& pipeline, const std::string& name) {
  for (const DataIterator& iterator : pipeline.iterators)
    if (iterator.name == name) return &iterator;
  return nullptr;
}

int64_t SumOfWaits(const DataPipeline& pipeline) {
  return std::accumulate(
      pipeline.iterators.begin(), pipeline.iterators.end(), int64_t{0},
      [](int64_t sum, const DataIterator& iterator) { return sum + iterator.waited_ns; });
}

TEST(TfData, NoIteratorsNoPipelines) {
  test::ProcessBuilder builder(1);
  builder.Thread(1).Op("MatMul:MatMul", 0, kMs);
  EXPECT_TRUE(FindDataPipelines(builder.Build()).empty());
}

// The map works on another thread: the time in Prefetch is a wait for it.
TEST(TfData, TheInnermostAtWorkHasTheWait) {
  test::ProcessBuilder builder(1);
  test::TrackBuilder &consumer = builder.Thread(1), &producer = builder.Thread(2);
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t at = i * 100 * kMs;
    consumer.Op("Iterator::Root", at, at + 40 * kMs);
    consumer.Op("Iterator::Root::Prefetch", at + kMs, at + 40 * kMs);
    producer.Op("Iterator::Root::Prefetch::MapAndBatch", at, at + 39 * kMs);
    producer.Op("Iterator::Root::Prefetch::MapAndBatch::TFRecord", at + 2 * kMs, at + 5 * kMs);
  }
  const std::vector<DataPipeline> found = FindDataPipelines(builder.Build());
  ASSERT_EQ(found.size(), 1u);
  const DataPipeline& pipeline = found[0];
  EXPECT_EQ(pipeline.waited_ns, 400 * kMs);
  EXPECT_EQ(pipeline.window_ns, 940 * kMs);
  ASSERT_EQ(pipeline.iterators.size(), 4u);
  EXPECT_EQ(pipeline.iterators[pipeline.blamed].name, "MapAndBatch");
  EXPECT_EQ(Find(pipeline, "Root")->waited_ns, 10 * kMs);
  EXPECT_EQ(Find(pipeline, "Prefetch")->waited_ns, 10 * kMs);
  EXPECT_EQ(Find(pipeline, "MapAndBatch")->waited_ns, 350 * kMs);
  EXPECT_EQ(Find(pipeline, "TFRecord")->waited_ns, 30 * kMs);
  EXPECT_EQ(SumOfWaits(pipeline), pipeline.waited_ns);
  EXPECT_EQ(Find(pipeline, "MapAndBatch")->self_ns, 360 * kMs);
  EXPECT_EQ(Find(pipeline, "TFRecord")->depth, 3u);
  EXPECT_EQ(CountOfLongWaits(pipeline), 0u);
  EXPECT_FALSE(pipeline.filled);
}

// Elements of an interleave have numbers, and are one iterator on several threads.
TEST(TfData, NumbersOfElementsAreNoIterators) {
  test::ProcessBuilder builder(1);
  builder.Thread(1).Op("Iterator::Root", 0, 10 * kMs);
  builder.Thread(1).Op("Iterator::Root::ParallelInterleaveV4", 0, 10 * kMs);
  for (int32_t i = 0; i < 3; ++i)
    builder.Thread(2 + i).Op(
        "Iterator::Root::ParallelInterleaveV4[" + std::to_string(i) + "]::TextLine", i * kMs,
        (i + 2) * kMs);
  const DataPipeline pipeline = FindDataPipelines(builder.Build()).at(0);
  ASSERT_EQ(pipeline.iterators.size(), 3u);
  const DataIterator& source = *Find(pipeline, "TextLine");
  EXPECT_EQ(source.count, 3u);
  EXPECT_EQ(source.threads, 3u);
  EXPECT_EQ(source.total_ns, 6 * kMs);
  EXPECT_EQ(source.waited_ns, 4 * kMs) << "two at once are waited for once";
  EXPECT_EQ(pipeline.iterators[*source.parent].name, "ParallelInterleaveV4");
  EXPECT_EQ(SumOfWaits(pipeline), 10 * kMs);
}

TEST(TfData, OfTwoAtOnceTheLongerOneHasTheTime) {
  test::ProcessBuilder builder(1);
  builder.Thread(1).Op("Iterator::Root", 0, 10 * kMs);
  builder.Thread(1).Op("Iterator::Root::Zip", 0, 10 * kMs);
  builder.Thread(2).Op("Iterator::Root::Zip::Map", 0, 8 * kMs);
  builder.Thread(3).Op("Iterator::Root::Zip::Batch", 5 * kMs, 10 * kMs);
  const DataPipeline pipeline = FindDataPipelines(builder.Build()).at(0);
  EXPECT_EQ(Find(pipeline, "Map")->waited_ns, 8 * kMs);
  EXPECT_EQ(Find(pipeline, "Batch")->waited_ns, 2 * kMs);
  EXPECT_EQ(Find(pipeline, "Zip")->waited_ns, 0);
}

TEST(TfData, ABufferThatFillsIsNoSteadyWait) {
  test::ProcessBuilder builder(1);
  test::TrackBuilder& thread = builder.Thread(1);
  for (int64_t i = 0; i < 50; ++i) {
    const int64_t at = i * 100 * kMs, length = i == 0 ? 90 * kMs : 50 * kUs;
    for (const char* name :
         {"Iterator::Root", "Iterator::Root::Shuffle", "Iterator::Root::Shuffle::Generator"})
      thread.Op(name, at, at + length);
  }
  const DataPipeline pipeline = FindDataPipelines(builder.Build()).at(0);
  EXPECT_EQ(CountOfLongWaits(pipeline), 1u);
  ASSERT_TRUE(pipeline.filled);
  EXPECT_EQ(pipeline.iterators[*pipeline.filled].name, "Shuffle");
  EXPECT_EQ(pipeline.iterators[pipeline.blamed].name, "Generator");
  EXPECT_EQ(pipeline.python_ns, pipeline.waited_ns) << "a generator is Python";
}

TEST(TfData, FunctionsOfPythonInAMap) {
  test::ProcessBuilder builder(1);
  builder.Thread(1).Op("Iterator::Root", 0, 10 * kMs);
  builder.Thread(1).Op("Iterator::Root::Map", 0, 10 * kMs);
  builder.Thread(1).Op("PyFunc:PyFunc", 2 * kMs, 9 * kMs);
  builder.Thread(1).Op("PyFunc:PyFunc", 12 * kMs, 15 * kMs);  // after the wait
  EXPECT_EQ(FindDataPipelines(builder.Build()).at(0).python_ns, 7 * kMs);
}

TEST(TfData, PipelinesWithoutARootOfOneName) {
  test::ProcessBuilder builder(1);
  builder.Thread(1).Op("Iterator::Root::Map", 0, kMs);
  builder.Thread(2).Op("Iterator::Prefetch::Generator", 0, 3 * kMs);
  const std::vector<DataPipeline> found = FindDataPipelines(builder.Build());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].iterators[0].path, "Iterator::Prefetch::Generator")
      << "the longest wait first";
  EXPECT_EQ(found[1].iterators[0].path, "Iterator::Root::Map");
}

TEST(TfData, Classes) {
  EXPECT_EQ(ClassOfIterator("ParallelMapV2"), IteratorClass::kParallel);
  EXPECT_EQ(ClassOfIterator("MapAndBatch"), IteratorClass::kParallel);
  EXPECT_EQ(ClassOfIterator("Map"), IteratorClass::kTransform);
  EXPECT_EQ(ClassOfIterator("TFRecord"), IteratorClass::kSource);
  EXPECT_EQ(ClassOfIterator("BatchV2"), IteratorClass::kBatch);
  EXPECT_EQ(ClassOfIterator("ShuffleV3"), IteratorClass::kShuffle);
  EXPECT_EQ(ClassOfIterator("Root"), IteratorClass::kOther);
  EXPECT_TRUE(IsAsynchronous("Prefetch"));
  EXPECT_FALSE(IsAsynchronous("Map"));
}

}  // namespace
}  // namespace gpuprof::analysis
