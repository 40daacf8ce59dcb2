// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of processes of several hosts, whose pids may be the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "analysis/analysis.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/streams.pb.h"
#include "proto/results/threads.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Trace MakeTwo(const std::string& second_host) {
  ProcessBuilder first(1), second(1);
  first.process().host = "node1";
  second.process().host = second_host;
  for (ProcessBuilder* builder : {&first, &second}) {
    builder->Thread(1).Op("mm", 0, 3 * kMs);
    builder->Stream(0, 1, 7).Kernel(builder->Signature("k", 1, 32), 0, 4 * kMs);
  }
  return MakeTrace({&first, &second});
}

template <typename Result>
std::string TextOf(const std::string& pass, const Trace& trace, const std::string& by = "") {
  PassOptions options;
  options.by = by;
  return Render(RunPass<Result>(pass, trace, options), Format::kText, options, 0);
}

TEST(Hosts, RowsSayOnWhichOfSeveralTheirProcessWas) {
  const Trace trace = MakeTwo("node2");
  const auto streams = RunPass<results::Streams>("streams", trace);
  ASSERT_EQ(streams.streams_size(), 2);
  EXPECT_EQ(streams.streams(0).host(), "node1");
  EXPECT_EQ(streams.streams(1).host(), "node2");
  EXPECT_THAT(TextOf<results::Streams>("streams", trace), HasSubstr("1 on node2"));
  EXPECT_THAT(TextOf<results::Threads>("threads", trace), HasSubstr("1 on node2"));
  EXPECT_THAT(TextOf<results::Ops>("ops", trace, "process"), HasSubstr("1 on node2"));
}

// Of this kind of row and of those within it.
void CheckKind(const google::protobuf::Descriptor& kind, std::set<std::string>* seen) {
  if (!seen->insert(std::string(kind.name())).second) return;
  // Points of one process's timeline, files of one machine, stacks below the name of their process,
  // and what a device with a host lists.
  const bool is_told_elsewhere = testing::Matches(testing::AnyOf(
      "HeapPoint", "TensorPoint", "Input", "FoldedStack", "CudaDevice"))(std::string(kind.name()));
  if (kind.FindFieldByName("pid") != nullptr && !is_told_elsewhere) {
    EXPECT_NE(kind.FindFieldByName("host"), nullptr) << kind.name();
  }
  for (int i = 0; i < kind.field_count(); ++i) {
    if (const auto* within = kind.field(i)->message_type()) CheckKind(*within, seen);
  }
}

TEST(Hosts, EveryKindOfRowWithAPidHasOne) {
  const Trace trace = MakeTwo("node2");
  std::set<std::string> seen;
  for (const PassInfo& pass : Passes()) {
    PassOptions options;
    options.symbolize = false;
    std::unique_ptr<google::protobuf::Message> result;
    ASSERT_FALSE(analysis::Run(pass.name, trace, options, &result));
    CheckKind(*result->GetDescriptor(), &seen);
  }
  EXPECT_GT(seen.size(), 60u);
}

TEST(Hosts, KernelsAndCallsOfTwoHostsAreTold) {
  const Trace trace = MakeTwo("node2");
  const auto kernels = RunPass<results::Kernels>("kernels", trace);
  ASSERT_EQ(kernels.kernels_size(), 2);
  EXPECT_EQ(kernels.kernels(0).host() + kernels.kernels(1).host(), "node1node2");
  const auto ops = RunPass<results::Ops>("ops", trace);
  ASSERT_EQ(ops.ops_size(), 1);
  ASSERT_EQ(ops.ops(0).places_size(), 2);
  EXPECT_EQ(ops.ops(0).places(0).host() + ops.ops(0).places(1).host(), "node1node2");
}

TEST(Hosts, NotesAndTheOverviewTellThemApart) {
  ProcessBuilder first(1), second(1);
  second.process().host = "node2";
  first.Thread(1).Alloc(1 * kMs, 0x1000, 100, first.Stack({0x10}));
  second.Thread(1).Alloc(1 * kMs, 0x1000, 5000, second.Stack({0x20}));
  for (ProcessBuilder* builder : {&first, &second}) {
    builder->Capture(0, 10 * kMs);
    builder->Stream(0, 1, 7).Release(2 * kMs, 0x7000, 64);
  }
  const Trace trace = MakeTrace({&first, &second});
  const auto memory = RunPass<results::DeviceMemory>("device_memory", trace);
  EXPECT_EQ(memory.meta().notes_size(), 2) << "each released one block that was older";
  const auto overview = RunPass<results::Overview>("overview", trace);
  EXPECT_EQ(overview.memory().peak_bytes(), 5000u);
  EXPECT_EQ(overview.memory().peak_stack_bytes(), 5000u);
  EXPECT_EQ(overview.memory().peak_stack_name(), "0x20");
}

TEST(Hosts, OfOneHostNothingIsSaid) {
  const Trace trace = MakeTwo("node1");
  EXPECT_THAT(TextOf<results::Streams>("streams", trace), Not(HasSubstr("node1")));
  EXPECT_THAT(TextOf<results::Threads>("threads", trace), Not(HasSubstr("node1")));
  EXPECT_THAT(TextOf<results::Ops>("ops", trace, "process"), Not(HasSubstr("node1")));
}

}  // namespace
}  // namespace gpuprof::analysis::test
