// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "analysis/passes/passes.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/ranges.pb.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using proto::RangeKind;

results::Ranges RunRangesBy(const Trace& trace, const std::string& by = "") {
  PassOptions options;
  options.by = by;
  std::unique_ptr<google::protobuf::Message> result;
  EXPECT_FALSE(Run("ranges", trace, options, &result));
  return dynamic_cast<const results::Ranges&>(*result);
}

const results::Range& RowOf(const results::Ranges& result, const std::string& name,
                            results::RangeKind kind = results::RANGE_KIND_PUSH_POP) {
  static const results::Range none;
  for (const results::Range& range : result.ranges()) {
    if (range.name() == name && range.kind() == kind) return range;
  }
  ADD_FAILURE() << "no " << kind << " " << name;
  return none;
}

// outer [0, 100), in it solve [10, 60) with solve [20, 30) in that, and of another domain solve
// [15, 95), which overlaps; then outer [200, 210).
Trace MakeNested() {
  ProcessBuilder builder(5, 1);
  builder.Thread(5)
      .Range("", "solve", 20 * kMs, 30 * kMs, 2)
      .Range("", "solve", 10 * kMs, 60 * kMs, 1)
      .Range("lib", "solve", 15 * kMs, 95 * kMs)
      .Range("", "outer", 0, 100 * kMs)
      .Range("", "outer", 200 * kMs, 210 * kMs);
  return MakeTrace({&builder});
}

TEST(Ranges, WhatIsNestedInItselfCountsOnceInTheTotal) {
  const results::Ranges result = RunRangesBy(MakeNested());
  EXPECT_EQ(result.count(), 5u);
  const results::Range& outer = RowOf(result, "outer");
  EXPECT_EQ(outer.count(), 2u);
  EXPECT_EQ(outer.total_ns(), 110 * kMs);
  EXPECT_EQ(outer.self_ns(), 60 * kMs) << "without the 50 of solve, and with those of the library";
  EXPECT_EQ(outer.mean_ns(), 55 * kMs);
  EXPECT_EQ(outer.min_ns(), 10 * kMs);
  EXPECT_EQ(outer.max_ns(), 100 * kMs);
  ASSERT_EQ(result.ranges_size(), 3);
  EXPECT_EQ(result.ranges(0).name(), "outer");
  EXPECT_EQ(result.ranges(1).domain(), "lib");
  EXPECT_EQ(result.ranges(1).total_ns(), 80 * kMs);
  EXPECT_EQ(result.ranges(1).self_ns(), 80 * kMs);
  const results::Range& solve = result.ranges(2);
  EXPECT_EQ(solve.domain(), "");
  EXPECT_EQ(solve.count(), 2u);
  EXPECT_EQ(solve.total_ns(), 50 * kMs);
  EXPECT_EQ(solve.self_ns(), 50 * kMs);
  EXPECT_EQ(solve.mean_ns(), 30 * kMs) << "of 10 and 50";
}

TEST(Ranges, ByDomainTheOutermostCount) {
  const results::Ranges result = RunRangesBy(MakeNested(), "domain");
  ASSERT_EQ(result.ranges_size(), 2);
  EXPECT_EQ(RowOf(result, "").count(), 4u);
  EXPECT_EQ(RowOf(result, "").total_ns(), 110 * kMs);
  EXPECT_EQ(RowOf(result, "").self_ns(), 110 * kMs);
  EXPECT_EQ(RowOf(result, "lib").total_ns(), 80 * kMs);
}

TEST(Ranges, EqualTimesNestByTheRecordersDepth) {
  ProcessBuilder builder(5, 1);
  builder.Thread(5)
      .Range("", "inner", 10 * kMs, 20 * kMs, 1)
      .Range("", "outer", 10 * kMs, 20 * kMs, 0)
      .Range("", "inner", 20 * kMs, 20 * kMs, 0);  // begins where they end
  const results::Ranges result = RunRangesBy(MakeTrace({&builder}));
  EXPECT_EQ(RowOf(result, "outer").self_ns(), 0);
  EXPECT_EQ(RowOf(result, "inner").self_ns(), 10 * kMs);
}

TEST(Ranges, StartedRangesStandAloneAndNamesAreTold) {
  ProcessBuilder builder(5, 1);
  builder.Thread(5)
      .Range("", "copy", 0, 10 * kMs, 0, RangeKind::kStartEnd, 6)
      .Range("", "tick", 3 * kMs, 3 * kMs, 0, RangeKind::kMark)
      .Range("", "old name", 4 * kMs, 4 * kMs, 0, RangeKind::kNameThread)
      .Range("", "worker", 5 * kMs, 5 * kMs, 0, RangeKind::kNameThread)
      .Range("", "run", 0, 20 * kMs, 0, RangeKind::kPushPop, 0, proto::kFlagIncomplete);
  builder.Thread(6).Range("", "copy", 5 * kMs, 15 * kMs, 0, RangeKind::kStartEnd);
  const results::Ranges result = RunRangesBy(MakeTrace({&builder}));
  EXPECT_EQ(result.count(), 3u);
  EXPECT_EQ(result.mark_count(), 1u);
  const results::Range& copy = RowOf(result, "copy", results::RANGE_KIND_START_END);
  EXPECT_EQ(copy.count(), 2u);
  EXPECT_EQ(copy.total_ns(), 20 * kMs) << "they may overlap";
  EXPECT_FALSE(copy.has_self_ns());
  EXPECT_EQ(copy.crossing_count(), 1u);
  EXPECT_EQ(copy.thread_count(), 2u);
  EXPECT_EQ(RowOf(result, "run").incomplete_count(), 1u);
  const std::string text = Render(result, Format::kText, {}, 200);
  EXPECT_NE(text.find("run (1 unfinished)"), std::string::npos) << text;
  EXPECT_EQ(RowOf(result, "run").self_ns(), 20 * kMs);
  ASSERT_EQ(result.names_size(), 1);
  EXPECT_EQ(result.names(0).kind(), results::RANGE_NAME_THREAD);
  EXPECT_EQ(result.names(0).name(), "worker");
}

// Containers give the same pid on every host.
TEST(Ranges, ProcessesOfOnePidOnTwoHostsAreTwo) {
  ProcessBuilder first(1), second(1);
  second.process().host = "other";
  for (ProcessBuilder* builder : {&first, &second}) {
    builder->Thread(1)
        .Range("", builder == &first ? "one" : "two", 0, 0, 0, RangeKind::kNameDevice)
        .Range("", "run", 1 * kMs, 2 * kMs);
  }
  const results::Ranges result = RunRangesBy(MakeTrace({&first, &second}));
  ASSERT_EQ(result.names_size(), 2) << "each has a device 0";
  EXPECT_EQ(result.names(0).name(), "one");
  EXPECT_EQ(result.names(1).name(), "two");
  EXPECT_EQ(result.names(1).pid(), 1);
  EXPECT_EQ(RowOf(result, "run").count(), 2u);
  EXPECT_EQ(RowOf(result, "run").process_count(), 2u);
  EXPECT_EQ(RowOf(result, "run").thread_count(), 2u);
}

const results::RangeValue& ValueOf(const results::Ranges& result, const std::string& name,
                                   const std::string& range) {
  static const results::RangeValue none;
  for (const results::RangeValue& value : result.values()) {
    if (value.name() == name && value.range() == range) return value;
  }
  ADD_FAILURE() << "no value " << name << " of " << range;
  return none;
}

TEST(Ranges, ValuesOfPayloadsAreSummedByRangeAndName) {
  ProcessBuilder builder(5, 1);
  const uint64_t sum = builder.Id("Sum");
  const uint64_t max = builder.Id("Max");
  const auto minus = static_cast<uint64_t>(int64_t{-2});
  builder.Thread(5)
      .Range("", "bare", 0, 1 * kMs)
      .Value("NCCL", 2 * kMs, 0, "Message size [bytes]", RangeValue::kUint64, 1000)
      .Value("NCCL", 2 * kMs, 1, "op", RangeValue::kText, sum)
      .Range("NCCL", "AllReduce", 1 * kMs, 2 * kMs)
      .Value("NCCL", 4 * kMs, 0, "Message size [bytes]", RangeValue::kUint64, 3000)
      .Value("NCCL", 4 * kMs, 1, "op", RangeValue::kText, max)
      .Range("NCCL", "AllReduce", 3 * kMs, 4 * kMs)
      // Of one moment, and told apart by their depth and their places.
      .Value("NCCL", 6 * kMs, 0, "root", RangeValue::kInt64, minus, 1)
      .Range("NCCL", "Reduce", 6 * kMs, 6 * kMs, 1)
      .Value("NCCL", 6 * kMs, 0, "root", RangeValue::kInt64, 5, 1)
      .Range("NCCL", "Reduce", 6 * kMs, 6 * kMs, 1)
      .Value("NCCL", 6 * kMs, 0, "op", RangeValue::kText, sum)
      .Range("NCCL", "AllReduce", 5 * kMs, 6 * kMs)
      .Value("", 7 * kMs, 0, "lost", RangeValue::kUint64, 1, 0, RangeKind::kMark)
      .Value("", 8 * kMs, 0, "where", RangeValue::kAddress, 0xbeef, 0, RangeKind::kMark)
      .Range("", "spot", 8 * kMs, 8 * kMs, 0, RangeKind::kMark);
  const Trace trace = MakeTrace({&builder});
  const results::Ranges result = RunRangesBy(trace);
  EXPECT_EQ(result.values_size(), 4) << "what has no range is no range's";
  const results::RangeValue& bytes = ValueOf(result, "Message size [bytes]", "AllReduce");
  EXPECT_EQ(bytes.count(), 2u);
  EXPECT_EQ(bytes.domain(), "NCCL");
  EXPECT_EQ(bytes.kind(), results::RANGE_KIND_PUSH_POP);
  EXPECT_EQ(bytes.unit(), "bytes");
  EXPECT_EQ(bytes.sum_value(), 4000);
  EXPECT_EQ(bytes.mean_value(), 2000);
  EXPECT_EQ(bytes.min_value(), 1000);
  EXPECT_EQ(bytes.max_value(), 3000);
  EXPECT_FALSE(bytes.has_most_frequent());
  const results::RangeValue& op = ValueOf(result, "op", "AllReduce");
  EXPECT_EQ(op.count(), 3u);
  EXPECT_FALSE(op.has_sum_value());
  EXPECT_EQ(op.text_count(), 2u);
  EXPECT_EQ(op.most_frequent(), "Sum");
  EXPECT_EQ(op.most_frequent_count(), 2u);
  const results::RangeValue& root = ValueOf(result, "root", "Reduce");
  EXPECT_EQ(root.count(), 2u);
  EXPECT_EQ(root.min_value(), -2);
  EXPECT_EQ(root.max_value(), 5);
  EXPECT_EQ(root.unit(), "");
  EXPECT_EQ(ValueOf(result, "where", "spot").most_frequent(), "0xbeef");
  const results::Ranges by_domain = RunRangesBy(trace, "domain");
  EXPECT_EQ(ValueOf(by_domain, "op", "NCCL").count(), 3u);
  const std::string text = Render(result, Format::kText, PassOptions(), 160);
  EXPECT_NE(text.find("Sum (2 of 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("NCCL:AllReduce"), std::string::npos) << text;
}

// Two threads launch; on the first a library's and the program's own range of one name.
Trace MakeLaunches() {
  ProcessBuilder builder(5, 1);
  const uint32_t add = builder.Signature("add", 1, 32);
  const uint32_t mul = builder.Signature("mul", 1, 32);
  builder.Thread(5)
      .Range("lib", "step", 10 * kMs, 20 * kMs)
      .Range("", "step", 30 * kMs, 40 * kMs)
      .Range("", "whole", 0, 50 * kMs)
      .Range("", "elsewhere", 0, 50 * kMs, 0, RangeKind::kStartEnd, 6)
      .Call("cudaLaunchKernel_v7000", 5 * kMs, 6 * kMs, 1)
      .Call("cudaLaunchKernel_v7000", 12 * kMs, 13 * kMs, 2)
      .Call("cudaLaunchKernel_v7000", 39 * kMs, 42 * kMs, 3)   // its middle is behind the range
      .Call("cudaLaunchKernel_v7000", 29 * kMs, 32 * kMs, 4);  // and here inside
  builder.Thread(6).Call("cudaLaunchKernel_v7000", 12 * kMs, 13 * kMs, 5);
  // When a kernel runs says nothing about where it was launched.
  builder.Stream(0, 1, 7)
      .Kernel(add, 12 * kMs, 14 * kMs, 1)
      .Kernel(add, 60 * kMs, 61 * kMs, 2)
      .Kernel(mul, 62 * kMs, 63 * kMs, 3)
      .Kernel(mul, 64 * kMs, 68 * kMs, 4)
      .Kernel(mul, 70 * kMs, 78 * kMs, 5)
      .Kernel(mul, 80 * kMs, 81 * kMs);
  return MakeTrace({&builder});
}

Error RunUnder(const std::string& range, results::Kernels* out, const char* pass = "kernels") {
  PassOptions options;
  options.under_range = range;
  std::unique_ptr<google::protobuf::Message> result;
  const Error error = Run(pass, MakeLaunches(), options, &result);
  if (!error) *out = dynamic_cast<const results::Kernels&>(*result);
  return error;
}

TEST(KernelsUnderRange, ThoseLaunchedInsideOnTheLaunchingThread) {
  results::Kernels kernels;
  ASSERT_FALSE(RunUnder("step", &kernels));
  EXPECT_EQ(kernels.under_range(), "step");
  EXPECT_EQ(kernels.count(), 2u);
  EXPECT_EQ(kernels.total_ns(), 5 * kMs) << "the second add and the mul of 4 ms";
  ASSERT_FALSE(RunUnder("lib:step", &kernels));
  EXPECT_EQ(kernels.count(), 1u);
  EXPECT_EQ(kernels.total_ns(), 1 * kMs);
  ASSERT_FALSE(RunUnder("whole", &kernels));
  EXPECT_EQ(kernels.count(), 4u);
}

TEST(Ranges, HaveTheTimeOfTheGpusWorkThatTheirThreadLaunchedWithin) {
  const results::Ranges result = RunRangesBy(MakeLaunches());
  for (const results::Range& range : result.ranges()) {
    if (range.name() == "step" && range.domain().empty()) {
      EXPECT_EQ(range.device_ns(), 4 * kMs);
    }
    if (range.name() == "step" && range.domain() == "lib") {
      EXPECT_EQ(range.device_ns(), 1 * kMs);
    }
    if (range.name() == "whole") {
      EXPECT_EQ(range.device_ns(), 8 * kMs);
    }
    if (range.name() == "elsewhere") {
      EXPECT_FALSE(range.has_device_ns()) << "begun by another thread";
    }
  }
  EXPECT_FALSE(RowOf(RunRangesBy(MakeNested()), "outer").has_device_ns()) << "no GPU was used";
}

// forward [0, 60) with forward [10, 30) in an operation of it, and loss [30, 50); a copy is
// launched in the inner one and a kernel in loss.
Trace MakeFrameworkRanges() {
  ProcessBuilder builder(5, 1);
  const uint32_t add = builder.Signature("add", 1, 32);
  builder.Thread(5)
      .User("forward", 0, 60 * kMs)
      .Op("aten::linear", 5 * kMs, 30 * kMs)
      .User("forward", 10 * kMs, 30 * kMs)
      .User("loss", 30 * kMs, 50 * kMs)
      .Call("cudaMemcpyAsync", 12 * kMs, 13 * kMs, 1)
      .Call("cudaLaunchKernel", 40 * kMs, 41 * kMs, 2)
      .Call("cudaLaunchKernel", 70 * kMs, 71 * kMs, 3);
  builder.Stream(0, 1, 7)
      .Copy(1, 2, 3, 4096, 80 * kMs, 82 * kMs, 1)
      .Kernel(add, 84 * kMs, 85 * kMs, 2)
      .Kernel(add, 86 * kMs, 90 * kMs, 3);
  return MakeTrace({&builder});
}

TEST(Ranges, OfAFrameworkAreADomain) {
  const results::Ranges result = RunRangesBy(MakeFrameworkRanges());
  EXPECT_EQ(result.count(), 3u);
  ASSERT_EQ(result.ranges_size(), 2);
  const results::Range& forward = RowOf(result, "forward");
  EXPECT_EQ(forward.domain(), "PyTorch");
  EXPECT_EQ(forward.count(), 2u);
  EXPECT_EQ(forward.total_ns(), 60 * kMs);
  EXPECT_EQ(forward.self_ns(), 40 * kMs) << "without the loss";
  EXPECT_EQ(forward.device_ns(), 3 * kMs) << "the copy counts once";
  const results::Range& loss = RowOf(result, "loss");
  EXPECT_EQ(loss.self_ns(), 20 * kMs);
  EXPECT_EQ(loss.device_ns(), 1 * kMs);
  const results::Ranges domains = RunRangesBy(MakeFrameworkRanges(), "domain");
  ASSERT_EQ(domains.ranges_size(), 1);
  EXPECT_EQ(domains.ranges(0).name(), "PyTorch");
  EXPECT_EQ(domains.ranges(0).device_ns(), 3 * kMs);
}

TEST(KernelsUnderRange, OfAFramework) {
  PassOptions options;
  for (const char* name : {"loss", "PyTorch:loss"}) {
    options.under_range = name;
    std::unique_ptr<google::protobuf::Message> result;
    ASSERT_FALSE(analysis::Run("kernels", MakeFrameworkRanges(), options, &result));
    EXPECT_EQ(dynamic_cast<const results::Kernels&>(*result).total_ns(), 1 * kMs);
  }
}

TEST(KernelsUnderRange, WhatCannotBeAnsweredIsRefused) {
  results::Kernels kernels;
  EXPECT_EQ(RunUnder("absent", &kernels).kind, ErrorKind::kUsage);
  EXPECT_EQ(RunUnder("elsewhere", &kernels).kind, ErrorKind::kUsage) << "begun by another thread";
  EXPECT_EQ(RunUnder("step", &kernels, "heap").kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace gpuprof::analysis::test
