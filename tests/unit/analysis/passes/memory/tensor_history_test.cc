// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who held a framework's memory over time.

#include "analysis/passes/memory/tensor_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kMs;
using test::MakeTrace;
using test::ProcessBuilder;
using test::RunPass;
using testing::ElementsAre;

// Expects that the parts add up to the total at each moment, and that moments are in order.
void ExpectWhole(const results::TensorHistory& history) {
  EXPECT_LE(history.time_ns_size(), 480);
  EXPECT_LE(history.owners_size(), 9);
  ASSERT_EQ(history.live_bytes_size(), history.time_ns_size());
  EXPECT_TRUE(std::is_sorted(history.time_ns().begin(), history.time_ns().end()));
  for (int i = 0; i < history.time_ns_size(); ++i) {
    uint64_t sum = 0;
    for (const results::TensorOwner& owner : history.owners()) {
      ASSERT_EQ(owner.live_bytes_size(), history.time_ns_size());
      sum += owner.live_bytes(i);
    }
    EXPECT_EQ(sum, history.live_bytes(i)) << i;
  }
}

TEST(TensorHistory, FewChangesAreAllKept) {
  TensorHistory history(5);
  history.Change(10, 0, 100);
  history.Change(20, 1, 300);
  history.Change(20, 0, -100);
  history.Change(30, 2, 50);
  history.Restart(40);
  results::TensorHistory out;
  history.Finish({"a", "b", "c"}, &out);
  ExpectWhole(out);
  EXPECT_THAT(out.time_ns(), ElementsAre(10, 20, 20, 30, 40, 40));
  EXPECT_THAT(out.live_bytes(), ElementsAre(100, 400, 300, 350, 50, 0));
  ASSERT_EQ(out.owners_size(), 3);
  EXPECT_EQ(out.owners(0).name(), "b") << "the one with the highest peak first";
  EXPECT_THAT(out.owners(0).live_bytes(), ElementsAre(0, 300, 300, 300, 0, 0));
}

// Compares with the sums of all changes.
TEST(TensorHistory, ManyChangesKeepTheirPeaks) {
  constexpr int64_t kEnd = 1'000'000;
  constexpr uint32_t kOwners = 20;
  std::mt19937 random(7);
  TensorHistory history(kEnd / 20);
  std::vector<int64_t> live(kOwners, 0), at_peak;
  int64_t total = 0, peak = 0, peak_time = 0;
  std::map<int64_t, int64_t> highest;  // by run of changes
  for (int64_t time = 0; time < kEnd; time += 20) {
    const uint32_t owner = random() % kOwners;
    int64_t bytes = static_cast<int64_t>(random() % 1000) * (owner + 1);
    if (random() % 2 == 0) bytes = -std::min(bytes, live[owner]);
    history.Change(time, owner, bytes);
    live[owner] += bytes;
    total += bytes;
    if (total > peak) {
      peak = total;
      peak_time = time;
      at_peak = live;
    }
    int64_t& most = highest[(time / 20) / (kEnd / 20 / 160 + 1)];
    most = std::max(most, total);
  }
  std::vector<std::string> names;
  for (uint32_t i = 0; i < kOwners; ++i) names.push_back(std::to_string(i));
  results::TensorHistory out;
  history.Finish(names, &out);
  ExpectWhole(out);
  ASSERT_EQ(out.owners_size(), 9);
  EXPECT_TRUE(out.owners(8).is_others());
  EXPECT_EQ(out.live_bytes(out.live_bytes_size() - 1), static_cast<uint64_t>(total));
  const auto most = std::max_element(out.live_bytes().begin(), out.live_bytes().end());
  const auto at = static_cast<int>(most - out.live_bytes().begin());
  EXPECT_EQ(*most, static_cast<uint64_t>(peak));
  EXPECT_EQ(out.time_ns(at), peak_time);
  for (int i = 0; i < 8; ++i) {
    const auto owner = static_cast<size_t>(std::stoi(out.owners(i).name()));
    EXPECT_EQ(out.owners(i).live_bytes(at), static_cast<uint64_t>(at_peak[owner]));
  }
  for (const auto& [run, bytes] : highest)
    EXPECT_THAT(out.live_bytes(), testing::Contains(static_cast<uint64_t>(bytes))) << run;
}

TEST(TensorHistory, OwnersBeyondCountAreOthers) {
  TensorHistory history(TensorHistory::kMostOwners + 100);
  for (uint32_t owner = 0; owner < TensorHistory::kMostOwners + 100; ++owner)
    history.Change(owner / 1000, owner, 1);
  results::TensorHistory out;
  history.Finish({"first"}, &out);
  ExpectWhole(out);
  EXPECT_EQ(out.owners(0).name(), "first");
}

TEST(TensorHistory, OperationsOwnWhatTheyAllocate) {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .Op("aten::mm", 1 * kMs, 2 * kMs)
      .Op("aten::add", 3 * kMs, 4 * kMs)
      .Tensor(1 * kMs, 0x10, 1000, 1 << 8)
      .Tensor(3 * kMs, 0x20, 400, 1 << 8)
      .Tensor(5 * kMs, 0x10, -1000, 1 << 8);
  const auto heap = RunPass<results::Heap>("heap", MakeTrace({&builder}));
  ASSERT_EQ(heap.tensor_histories_size(), 1);
  const results::TensorHistory& history = heap.tensor_histories(0);
  ExpectWhole(history);
  EXPECT_EQ(history.pid(), 1);
  EXPECT_EQ(history.device(), "cuda:0");
  EXPECT_EQ(history.by(), results::TENSOR_OWNER_KIND_OPERATION);
  EXPECT_THAT(history.live_bytes(), ElementsAre(1000, 1400, 400));
  ASSERT_EQ(history.owners_size(), 2);
  EXPECT_EQ(history.owners(0).name(), "aten::mm");
  EXPECT_THAT(history.owners(1).live_bytes(), ElementsAre(0, 400, 400));
}

TEST(TensorHistory, ModulesOwnWhatIsAllocatedInThem) {
  ProcessBuilder builder(1);
  builder.Thread(1)
      .Op("aten::mm", 1 * kMs, 2 * kMs)
      .Op("aten::mm", 3 * kMs, 4 * kMs)
      .Op("aten::mm", 8 * kMs, 9 * kMs)
      .Tensor(1 * kMs, 0x10, 1000, 1 << 8)
      .Tensor(3 * kMs, 0x20, 400, 1 << 8)
      .Tensor(8 * kMs, 0x30, 100, 1 << 8);
  Trace trace = MakeTrace({&builder});
  Process& process = trace.processes[0];
  process.strings[901] = "nn.Module: Linear_0";
  process.strings[902] = "nn.Module: Net_0";
  PythonTable& python = process.tracks[0].python;
  const std::tuple<int64_t, int64_t, uint32_t> calls[] = {{3 * kMs, 4 * kMs, 901},
                                                          {1 * kMs, 5 * kMs, 902}};
  for (const auto& [start, end, name] : calls) {
    python.end_ns.push_back(end);
    python.duration_ns.push_back(end - start);
    python.name.push_back(name);
    python.parent.push_back(name == 901 ? 1 : PythonTable::kNoRow);
    python.stack.push_back(0);
    python.self_ns.push_back(end - start);
  }
  const auto heap = RunPass<results::Heap>("heap", trace);
  ASSERT_EQ(heap.tensor_histories_size(), 1);
  const results::TensorHistory& history = heap.tensor_histories(0);
  ExpectWhole(history);
  EXPECT_EQ(history.by(), results::TENSOR_OWNER_KIND_MODULE);
  ASSERT_EQ(history.owners_size(), 3);
  EXPECT_EQ(history.owners(0).name(), "Net");
  EXPECT_EQ(history.owners(1).name(), "Net/Linear");
  EXPECT_EQ(history.owners(2).name(), "") << "in no module";
  EXPECT_THAT(history.owners(1).live_bytes(), ElementsAre(0, 400, 400));
}

}  // namespace
}  // namespace gpuprof::analysis
