// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/passes/passes.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/matrix_ops.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/meta.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

// Two streams that overlap for 2 of 12 ms, two signatures of one name, one of another.
Trace MakeStreams() {
  ProcessBuilder builder(5, 1);
  const uint32_t wide = builder.Signature("_Z3addPf", 64, 256);
  const uint32_t narrow = builder.Signature("_Z3addPf", 1, 32);
  const uint32_t norm = builder.Signature("norm", 2, 128);
  builder.Thread(5).Call("cudaLaunchKernel_v7000", 0, 5 * kUs, 11);
  builder.Stream(0, 1, 7).Kernel(wide, 1 * kMs, 5 * kMs, 11).Kernel(narrow, 6 * kMs, 7 * kMs, 12);
  builder.Stream(0, 1, 13).Kernel(norm, 3 * kMs, 6 * kMs, 13, 4).Kernel(norm, 20 * kMs, 24 * kMs);
  return MakeTrace({&builder});
}

results::Kernels RunBy(const Trace& trace, const std::string& by) {
  PassOptions options;
  options.by = by;
  return RunPass<results::Kernels>("kernels", trace, options);
}

// Two steps of a training loop; each launches "mm" twice within aten::mm and once outside.
TEST(Kernels, ByOperationJoinsLaunchesOperationsStacksAndSteps) {
  ProcessBuilder builder(5, 1);
  const uint32_t mm = builder.Signature("mm", 64, 256);
  const uint32_t often = builder.Stack({NamedFrame(builder.Id("often"))});
  const uint32_t seldom = builder.Stack({NamedFrame(builder.Id("seldom"))});
  TrackBuilder& thread = builder.Thread(5);
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  uint32_t id = 0;
  for (int64_t step = 0; step < 2; ++step) {
    const int64_t at = step * 100 * kMs;
    thread.User("ProfilerStep#" + std::to_string(step + 3), at, at + 90 * kMs);
    thread.Op("aten::mm", at + 10 * kMs, at + 20 * kMs);
    for (const int64_t offset : {11, 12, 50}) {
      ++id;
      thread.Call("cudaLaunchKernel", at + offset * kMs, at + offset * kMs + kUs, id);
      thread.Launch(at + offset * kMs, id, offset == 11 ? often : seldom);
      const int64_t start = at + offset * kMs + 10 * kUs;
      stream.Kernel(mm, start, start + (offset == 11 ? 600 : 100) * kUs, id);
    }
  }
  stream.Kernel(mm, 300 * kMs, 301 * kMs, 99);  // its launch is not in the recording
  const results::Kernels result = RunBy(MakeTrace({&builder}), "op");
  EXPECT_EQ(result.count(), 7u);
  EXPECT_EQ(result.total_ns(), 2600 * kUs);
  ASSERT_EQ(result.kernels_size(), 2);
  const results::Kernel& inside = result.kernels(0);
  EXPECT_EQ(inside.op(), "aten::mm");
  EXPECT_EQ(inside.launched_by(), "often") << "most of the time, not most of the launches";
  EXPECT_EQ(inside.count(), 4u);
  EXPECT_EQ(inside.total_ns(), 1400 * kUs);
  EXPECT_EQ(inside.median_ns(), 100 * kUs);
  EXPECT_EQ(inside.step_count(), 2u);
  EXPECT_EQ(inside.count_per_step(), 2.0);
  EXPECT_EQ(inside.launched_count(), 4u);
  EXPECT_DOUBLE_EQ(inside.total_ratio(), 1400.0 / 2600.0);
  const results::Kernel& outside = result.kernels(1);
  EXPECT_FALSE(outside.has_op()) << "the range of a step is not an operation";
  EXPECT_EQ(outside.count(), 3u);
  EXPECT_EQ(outside.total_ns(), 1200 * kUs);
  EXPECT_EQ(outside.launched_count(), 2u);
  EXPECT_EQ(outside.count_per_step(), 1.0) << "the one without a launch is in no step";
  EXPECT_EQ(outside.launched_by(), "seldom");
}

TEST(Kernels, ByNameSumsSignatures) {
  const results::Kernels result = RunBy(MakeStreams(), "name");
  EXPECT_EQ(result.count(), 4u);
  EXPECT_EQ(result.total_ns(), 12 * kMs);
  EXPECT_EQ(result.busy_ns(), 10 * kMs) << "what overlaps counts once";
  ASSERT_EQ(result.kernels_size(), 2);
  const results::Kernel& norm = result.kernels(0);
  EXPECT_EQ(norm.name(), "norm");
  EXPECT_EQ(norm.total_ns(), 7 * kMs);
  EXPECT_EQ(norm.graph_count(), 1u);
  EXPECT_EQ(norm.grid(), "2,1,1");
  const results::Kernel& add = result.kernels(1);
  EXPECT_EQ(add.name(), "add(float*)");
  EXPECT_EQ(add.mangled(), "_Z3addPf");
  EXPECT_EQ(add.count(), 2u);
  EXPECT_EQ(add.signature_count(), 2u);
  EXPECT_FALSE(add.has_grid()) << "of two";
  EXPECT_EQ(add.min_ns(), 1 * kMs);
  EXPECT_EQ(add.max_ns(), 4 * kMs);
  EXPECT_EQ(add.launched_count(), 1u);
  EXPECT_DOUBLE_EQ(add.total_ratio(), 5.0 / 12);
}

// So many rows that medians are counted in rounds, and rows shared among threads.
TEST(Kernels, FiguresOfManyRowsAreThoseOfLists) {
  std::mt19937 random(1);
  for (const bool is_in_order : {true, false}) {
    ProcessBuilder builder(5, 1);
    const uint32_t signatures[] = {builder.Signature("a", 1, 32), builder.Signature("b", 1, 32),
                                   builder.Signature("a", 2, 32), builder.Signature("rare", 1, 32)};
    TrackBuilder* const streams[] = {&builder.Stream(0, 1, 7), &builder.Stream(0, 1, 8)};
    std::map<std::string, SampleList> durations;
    std::map<std::string, uint64_t> launched;
    std::vector<Interval> spans;
    int64_t end = 0;
    for (uint32_t row = 0; row < 150'000; ++row) {
      const uint32_t which = row % 10'000 == 0 ? 3 : static_cast<uint32_t>(random() % 3);
      const std::string name = which == 3 ? "rare" : which == 1 ? "b" : "a";
      const uint32_t weight = row / 50'000 == 1 ? 3 : 1;
      const int64_t duration = which == 1 ? static_cast<int64_t>(random() % 50'000'000)
                                          : 1000 + static_cast<int64_t>(random() % 64);
      end += is_in_order ? duration + 10 : 10;
      const bool is_launched = random() % 2 == 0;
      if (is_launched) builder.Thread(5).Call("cudaLaunchKernel", end, end + 1, row + 1);
      streams[row % 2]->Weight(weight).Kernel(signatures[which], end - duration, end, row + 1);
      durations[name].Add(duration, weight);
      launched[name] += is_launched ? weight : 0;
      spans.push_back({end - duration, end});
    }
    const results::Kernels result = RunBy(MakeTrace({&builder}), "name");
    ASSERT_EQ(result.kernels_size(), 3);
    for (const results::Kernel& kernel : result.kernels()) {
      const Samples samples = durations.at(kernel.name()).Take();
      EXPECT_EQ(kernel.count(), samples.size()) << kernel.name();
      EXPECT_EQ(kernel.total_ns(), samples.total()) << kernel.name();
      EXPECT_EQ(kernel.median_ns(), samples.median()) << kernel.name();
      EXPECT_EQ(kernel.mean_ns(), samples.mean()) << kernel.name();
      EXPECT_EQ(kernel.min_ns(), samples.min()) << kernel.name();
      EXPECT_EQ(kernel.max_ns(), samples.max()) << kernel.name();
      EXPECT_EQ(kernel.launched_count(), launched.at(kernel.name())) << kernel.name();
    }
    EXPECT_EQ(result.busy_ns(), TotalLength(UnionOf(spans))) << is_in_order;
  }
}

TEST(Kernels, TensorCoresByTheCodeThatWasSeen) {
  constexpr uint32_t kHmma = proto::kCodeLookedAt | MatrixOpBit(proto::MatrixOp::kHmma);
  ProcessBuilder builder(1);
  const auto launch = [&](const char* name, uint32_t grid, uint32_t matrix_ops) {
    const uint32_t signature = builder.Signature(name, grid, 32);
    builder.process().signatures[signature].set_matrix_ops(matrix_ops);
    builder.Stream(0, 1, 7).Kernel(signature, 0, grid * kMs);
  };
  launch("plain_name", 9, 0);
  launch("plain_name", 8, kHmma);
  launch("my_hmma_kernel", 7, proto::kCodeLookedAt);
  launch("contradictory", 3, proto::kCodeLookedAt);
  launch("contradictory", 2, kHmma);
  launch("differs_from_module_to_module", 2, proto::kCodeLookedAt);
  launch("differs_from_module_to_module", 2, MatrixOpBit(proto::MatrixOp::kHmma));
  launch("unseen_s884gemm", 1, 0);
  const results::Kernels result = RunBy(MakeTrace({&builder}), "name");
  ASSERT_EQ(result.kernels_size(), 5);
  EXPECT_EQ(result.kernels(0).tensor_cores(), results::TENSOR_CORE_USE_YES);
  EXPECT_EQ(result.kernels(0).tensor_cores_evidence(), "SASS: HMMA");
  EXPECT_EQ(result.kernels(1).tensor_cores(), results::TENSOR_CORE_USE_NO);
  EXPECT_EQ(result.kernels(1).tensor_cores_evidence(), "SASS: no matrix instructions");
  EXPECT_EQ(result.kernels(2).tensor_cores(), results::TENSOR_CORE_USE_UNKNOWN);
  EXPECT_EQ(result.kernels(3).tensor_cores(), results::TENSOR_CORE_USE_UNKNOWN);
  EXPECT_EQ(result.kernels(4).tensor_cores(), results::TENSOR_CORE_USE_YES);
  EXPECT_EQ(result.kernels(4).tensor_cores_evidence(), "s884");
  EXPECT_EQ(result.tensor_cores_ns(), 18 * kMs);
  EXPECT_EQ(result.tensor_cores_unknown_ns(), 9 * kMs);
}

// Containers give the same pid on every host, and each file numbers names as it likes.
TEST(Kernels, ProcessesOfOnePidOnTwoHostsAreTwo) {
  ProcessBuilder first(1), second(1);
  second.process().host = "other";
  first.Stream(0, 1, 7).Kernel(first.Signature("one", 1, 32), 0, 4 * kMs);
  second.Stream(0, 1, 7).Kernel(second.Signature("two", 1, 32), 1 * kMs, 2 * kMs);
  const results::Kernels result = RunBy(MakeTrace({&first, &second}), "name");
  ASSERT_EQ(result.kernels_size(), 2);
  EXPECT_EQ(result.kernels(0).name(), "one");
  EXPECT_EQ(result.kernels(1).name(), "two");
  EXPECT_EQ(result.kernels(1).pid(), 1);
  EXPECT_EQ(result.busy_ns(), 5 * kMs) << "two devices, although both are number 0";
}

TEST(Kernels, RowsThatStandForSeveralCountAsThese) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5).Call("cudaLaunchKernel_v7000", 0, 5 * kUs, 11);
  builder.Stream(0, 1, 7)
      .Kernel(kernel, 1 * kMs, 2 * kMs)
      .Weight(4)
      .Kernel(kernel, 3 * kMs, 6 * kMs, 11, 2);
  proto::GpuRate* rate = builder.process().health.add_gpu_rate();
  rate->set_records(5);
  rate->set_left_out(3);
  rate->set_most_one_in(4);
  const results::Kernels result = RunBy(MakeTrace({&builder}), "name");
  EXPECT_EQ(result.count(), 5u);
  EXPECT_EQ(result.total_ns(), 13 * kMs);
  EXPECT_EQ(result.busy_ns(), 4 * kMs);
  ASSERT_EQ(result.kernels_size(), 1);
  const results::Kernel& row = result.kernels(0);
  EXPECT_EQ(row.median_ns(), 3 * kMs);
  EXPECT_EQ(row.mean_ns(), 13 * kMs / 5);
  EXPECT_EQ(row.launched_count(), 4u);
  EXPECT_EQ(row.graph_count(), 4u);
  EXPECT_EQ(result.meta().confidence().level(), results::LEVEL_MEDIUM);
  ASSERT_EQ(result.meta().notes_size(), 1);
  EXPECT_NE(result.meta().notes(0).find("3 of 5 records"), std::string::npos);
}

TEST(Kernels, BySignatureAndByStream) {
  const Trace trace = MakeStreams();
  const results::Kernels by_signature = RunBy(trace, "signature");
  ASSERT_EQ(by_signature.kernels_size(), 3);
  EXPECT_EQ(by_signature.kernels(2).grid(), "1,1,1");
  const results::Kernels by_stream = RunBy(trace, "stream");
  ASSERT_EQ(by_stream.kernels_size(), 2);
  EXPECT_EQ(by_stream.kernels(0).stream(), 13u);
  EXPECT_EQ(by_stream.kernels(0).name(), "stream 13");
  EXPECT_EQ(by_stream.kernels(0).total_ns(), 7 * kMs);
  EXPECT_EQ(by_stream.kernels(1).signature_count(), 2u);
}

}  // namespace
}  // namespace gpuprof::analysis::test
