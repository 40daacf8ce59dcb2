// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/device/given_names.h"

#include <gtest/gtest.h>

#include "analysis/analysis.h"
#include "proto/results/device_memory.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/memcpy.pb.h"
#include "proto/results/streams.pb.h"
#include "proto/results/sync.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

using proto::RangeKind;

// Two streams with work of all kinds; the first one's track has a name.
Trace MakeNamed() {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  for (const uint32_t stream : {7u, 13u}) {
    builder.Stream(0, 1, stream)
        .Kernel(kernel, 1 * kMs, 2 * kMs)
        .Copy(1, 1, 3, 64, 3 * kMs, 4 * kMs)
        .Sync(3, 4 * kMs, 5 * kMs)
        .Allocate(1 * kMs, 0x1000 * stream, 64);
  }
  Trace trace = MakeTrace({&builder});
  for (Track& track : trace.processes[0].tracks) {
    if (track.stream == 7) track.name = "copies";
  }
  return trace;
}

template <typename Result>
Result RunByStream(const std::string& pass, const Trace& trace) {
  PassOptions options;
  options.by = "stream";
  return RunPass<Result>(pass, trace, options);
}

// Each row's name, by the stream's number.
template <typename Rows>
std::map<uint32_t, std::string> NamesOf(const Rows& rows) {
  std::map<uint32_t, std::string> names;
  for (const auto& row : rows) names[row.stream()] = row.name();
  return names;
}

TEST(GivenNames, RowsOfStreamsHaveTheirNumberAndWhatTheyAreCalled) {
  const Trace trace = MakeNamed();
  const std::map<uint32_t, std::string> expected = {{7, "stream 7 (copies)"}, {13, "stream 13"}};
  EXPECT_EQ(NamesOf(RunByStream<results::Kernels>("kernels", trace).kernels()), expected);
  EXPECT_EQ(NamesOf(RunByStream<results::Memcpy>("memcpy", trace).copies()), expected);
  EXPECT_EQ(NamesOf(RunByStream<results::Syncs>("sync", trace).syncs()), expected);
  EXPECT_EQ(NamesOf(RunByStream<results::DeviceMemory>("device_memory", trace).uses()), expected);
}

TEST(GivenNames, WaitsOfStreamsForStreamsHaveThemToo) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5)
      .Call("cudaEventRecord", 1 * kMs, 2 * kMs, 2)
      .Call("cudaStreamWaitEvent", 3 * kMs, 4 * kMs, 3);
  builder.Stream(0, 1, 7).Kernel(kernel, 1 * kMs, 2 * kMs).Recorded(1 * kMs, 9, 2);
  builder.Stream(0, 1, 13).Kernel(kernel, 5 * kMs, 6 * kMs).Sync(2, 3 * kMs, 4 * kMs, 3, 9);
  Trace trace = MakeTrace({&builder});
  for (Track& track : trace.processes[0].tracks) {
    if (track.stream == 7) track.name = "copies";
  }
  const auto result = RunPass<results::Streams>("streams", trace);
  ASSERT_EQ(result.waits_size(), 1);
  const std::string text = Render(result, Format::kText, PassOptions(), 200);
  EXPECT_NE(text.find("0:13"), std::string::npos) << text;
  EXPECT_NE(text.find("0:7 (copies)"), std::string::npos) << text;
}

TEST(GivenNames, OfADeviceTheLastNameCounts) {
  ProcessBuilder builder(5);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(5)
      .Range("", "second", 4 * kMs, 4 * kMs, 0, RangeKind::kNameDevice)
      .Range("", "stream", 6 * kMs, 6 * kMs, 0, RangeKind::kNameStream);
  builder.Thread(6).Range("", "first", 2 * kMs, 2 * kMs, 0, RangeKind::kNameDevice);
  builder.Stream(0, 1, 7).Kernel(kernel, 1 * kMs, 2 * kMs);
  builder.Stream(1, 2, 7).Kernel(kernel, 1 * kMs, 2 * kMs);
  const Trace trace = MakeTrace({&builder});
  EXPECT_EQ(DeviceNames(trace.processes[0]), (std::map<uint32_t, std::string>{{0, "second"}}));
  const auto result = RunPass<results::Streams>("streams", trace);
  ASSERT_EQ(result.devices_size(), 2);
  EXPECT_EQ(result.devices(0).name(), "second");
  EXPECT_EQ(result.devices(1).name(), "");
  EXPECT_NE(Render(result, Format::kText, PassOptions(), 200).find("second"), std::string::npos);
}

// As a damaged file may have them.
TEST(GivenNames, NumbersThatAreNoDevicesAreNone) {
  ProcessBuilder builder(5);
  builder.Thread(5).Range("", "none", 0, 0, 0, RangeKind::kNameDevice);
  Trace trace = MakeTrace({&builder});
  for (Track& track : trace.processes[0].tracks) {
    track.range.payload.Rewrite([](size_t, uint64_t) { return UINT64_MAX; });
  }
  EXPECT_TRUE(DeviceNames(trace.processes[0]).empty());
}

}  // namespace
}  // namespace gpuprof::analysis::test
