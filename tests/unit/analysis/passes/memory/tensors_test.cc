// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Framework memory over several captures: what happened between two of them was not recorded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/analysis.h"
#include "proto/results/heap.pb.h"
#include "proto/results/overview.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;
using test::TrackBuilder;
using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kCuda0 = 1 << 8;
constexpr uint32_t kCuda1 = 1 << 8 | 1;
constexpr uint64_t kMiB = 1 << 20;

std::string Text(const google::protobuf::Message& result) {
  return Render(result, Format::kText, {}, 0);
}

// Two captures of 10 ms, 10 ms apart. At the end of the first 1,000 bytes are live.
class Tensors : public testing::Test {
 protected:
  Tensors() : builder_(1), track_(builder_.Thread(1)) {
    builder_.Capture(0, 10 * kMs).Capture(20 * kMs, 30 * kMs);
    track_.Op("aten::first", 0, 9 * kMs);
    track_.Tensor(1 * kMs, 0x10, 1000, kCuda0);
  }
  Trace Build() const { return MakeTrace({&builder_}); }
  results::Heap Heap() const { return RunPass<results::Heap>("heap", Build()); }

  ProcessBuilder builder_;
  TrackBuilder& track_;
};

TEST_F(Tensors, ALaterCaptureKnowsNothingOfTheBlocksBefore) {
  track_.Op("aten::second", 20 * kMs, 29 * kMs).Tensor(21 * kMs, 0x20, 1500, kCuda0, 2);
  track_.Tensor(22 * kMs, 0x20, -1500, kCuda0, 2).Tensor(23 * kMs, 0x20, 700, kCuda0, 2);
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  const results::TensorDevice& device = heap.tensors(0);
  EXPECT_EQ(device.name(), "cuda:0");
  EXPECT_EQ(device.count(), 3u);
  EXPECT_EQ(device.allocated_bytes(), 3200u);
  EXPECT_EQ(device.peak_bytes(), 1500u);
  EXPECT_EQ(device.peak_time_ns(), 21 * kMs);
  EXPECT_EQ(device.end_bytes(), 700u);
  EXPECT_EQ(device.end_count(), 1u);

  ASSERT_EQ(heap.tensor_ops_size(), 2);
  EXPECT_EQ(heap.tensor_ops(0).name(), "aten::second");
  EXPECT_EQ(heap.tensor_ops(0).peak_bytes(), 1500u);
  EXPECT_EQ(heap.tensor_ops(1).name(), "aten::first");
  EXPECT_EQ(heap.tensor_ops(1).peak_bytes(), 0u);
  EXPECT_EQ(heap.tensor_ops(1).end_bytes(), 0u);

  uint64_t highest = 0;
  for (const results::TensorPoint& point : heap.tensor_timeline()) {
    highest = std::max(highest, point.live_bytes());
  }
  EXPECT_EQ(highest, 1500u);
  ASSERT_GT(heap.tensor_timeline_size(), 0);
  EXPECT_EQ(heap.tensor_timeline(heap.tensor_timeline_size() - 1).live_bytes(), 700u);

  const auto overview = RunPass<results::Overview>("overview", Build());
  ASSERT_EQ(overview.memory().tensors_size(), 1);
  EXPECT_EQ(overview.memory().tensors(0).peak_bytes(), 1500u);
  EXPECT_EQ(overview.memory().tensors(0).peak_op(), "aten::second");
  EXPECT_EQ(overview.memory().tensors(0).peak_op_bytes(), 1500u);
}

TEST_F(Tensors, ATpuIsNamedAsOne) {
  proto::Device& device = builder_.process().devices.emplace_back();
  device.set_name("TPU v6 Lite");
  EXPECT_EQ(Heap().tensors(0).name(), "tpu:0");
  device.set_name("NVIDIA H100");
  EXPECT_EQ(Heap().tensors(0).name(), "cuda:0");
}

TEST_F(Tensors, APeakOfTheFirstCaptureStaysItsOwn) {
  track_.Tensor(21 * kMs, 0x20, 600, kCuda0, 2).Tensor(22 * kMs, 0x30, 300, kCuda0, 2);
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_EQ(heap.tensors(0).peak_bytes(), 1000u);
  EXPECT_EQ(heap.tensors(0).peak_time_ns(), 1 * kMs);
  EXPECT_EQ(heap.tensors(0).end_bytes(), 900u);
}

TEST_F(Tensors, AnOldBlocksAddressIsANewOnesOrNobodys) {
  track_.Tensor(2 * kMs, 0x20, 50, kCuda0);
  track_.Tensor(21 * kMs, 0x10, 64, kCuda0, 2).Tensor(22 * kMs, 0x20, -50, kCuda0, 2);
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_EQ(heap.tensors(0).implied_free_count(), 0u) << "it was freed between the captures";
  EXPECT_EQ(heap.tensors(0).unmatched_free_count(), 1u) << "as of any block from before";
  EXPECT_EQ(heap.tensors(0).short_lived_count(), 0u);
  EXPECT_EQ(heap.tensors(0).end_bytes(), 64u);
}

// Of another thread and another device: the capture is the process's.
TEST_F(Tensors, ADeviceThatTheLaterCaptureDoesNotTellOfForgetsToo) {
  builder_.Thread(2).Tensor(21 * kMs, 0x20, 300, kCuda1, 2);
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 2);
  EXPECT_EQ(heap.tensors(0).name(), "cuda:0");
  EXPECT_EQ(heap.tensors(0).peak_bytes(), 1000u);
  EXPECT_EQ(heap.tensors(0).end_bytes(), 0u);
  EXPECT_EQ(heap.tensors(1).name(), "cuda:1");
  EXPECT_EQ(heap.tensors(1).end_bytes(), 300u);
}

TEST_F(Tensors, ALaterCaptureWithoutAnEventKnowsOfNoBlock) {
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_EQ(heap.tensors(0).peak_bytes(), 1000u);
  EXPECT_EQ(heap.tensors(0).end_bytes(), 0u) << "it may have been freed in between";
  EXPECT_EQ(heap.tensors(0).end_count(), 0u);
}

// What was there before a capture only the framework knows, and the first event may give it back.
TEST_F(Tensors, TheFrameworksOwnCountHasWhatWasThereBefore) {
  const int64_t back = static_cast<int64_t>(8 * kMiB);
  track_.Tensor(21 * kMs, 0x40, -back, kCuda0, 2, 12 * kMiB, 32 * kMiB);
  track_.Tensor(22 * kMs, 0x20, 2 << 20, kCuda0, 2, 14 * kMiB, 32 * kMiB);
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_EQ(heap.tensors(0).peak_bytes(), 2 * kMiB);
  EXPECT_EQ(heap.tensors(0).reported_peak_bytes(), 20 * kMiB);
  EXPECT_EQ(heap.tensors(0).reserved_peak_bytes(), 32 * kMiB);
  EXPECT_THAT(Text(heap), HasSubstr("allocator's own peak"));
  EXPECT_THAT(Text(heap), HasSubstr("20.0 MiB"));
  const auto overview = RunPass<results::Overview>("overview", Build());
  ASSERT_EQ(overview.memory().tensors_size(), 1);
  EXPECT_EQ(overview.memory().tensors(0).reported_peak_bytes(), 20 * kMiB);
  EXPECT_THAT(Text(overview), HasSubstr("20.0 MiB by its allocator's own count"));
}

TEST_F(Tensors, AFrameworkThatCountsNothingIsNotSaidTo) {
  track_.Tensor(21 * kMs, 0x40, -4096, kCuda0, 2);
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_FALSE(heap.tensors(0).has_reported_peak_bytes());
  EXPECT_FALSE(heap.tensors(0).has_reserved_peak_bytes());
  EXPECT_THAT(Text(heap), Not(HasSubstr("allocator's own peak")));
}

// PyTorch's CPU allocator knows sizes only of what it was asked to report.
TEST_F(Tensors, ABlockThatIsReturnedWithoutItsSize) {
  track_.Tensor(2 * kMs, 0x20, 500, kCuda0, 1, kMiB);
  track_.Tensor(3 * kMs, 0x10, proto::kReturnedOfUnknownSize, kCuda0, 1, kMiB);
  builder_.process().captures.pop_back();
  const auto heap = Heap();
  ASSERT_EQ(heap.tensors_size(), 1);
  EXPECT_EQ(heap.tensors(0).peak_bytes(), 1500u);
  EXPECT_EQ(heap.tensors(0).end_bytes(), 500u);
  EXPECT_EQ(heap.tensors(0).unmatched_free_count(), 0u);
  EXPECT_EQ(heap.tensors(0).reported_peak_bytes(), kMiB);
}

}  // namespace
}  // namespace gpuprof::analysis
