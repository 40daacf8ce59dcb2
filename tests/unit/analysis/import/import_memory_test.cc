// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Events of imported files take no more memory than they may, and what was read before is kept.

#include "analysis/import/import_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"
#include "proto/foreign/xspace.pb.h"

namespace gpuprof::analysis::import {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kEvents = 200'000;

TEST(ImportMemory, AFileMayTakeMuchMoreThanItsSizeButNotAThousandTimes) {
  const ImportMemory memory(uint64_t{64} << 30);
  EXPECT_EQ(memory.MostOf(0), 256 * kMiB);
  EXPECT_EQ(memory.MostOf(kMiB), 456 * kMiB);
  EXPECT_EQ(memory.MostOf(UINT64_MAX), uint64_t{64} << 30);
  EXPECT_EQ(ImportMemory(100 * kMiB).MostOf(kMiB), 100 * kMiB);
}

TEST(MemoryMeter, RefusesBeyondTheFileOrBeyondAllFiles) {
  ImportMemory memory(1000 * kMiB);
  MemoryMeter small(&memory, "small.json", 0), large(&memory, "large.json", 100 * kMiB);
  EXPECT_FALSE(small.Check(256 * kMiB));
  EXPECT_THAT(small.Check(257 * kMiB).message,
              HasSubstr("small.json: the events take more than 256 MiB of memory"));
  EXPECT_FALSE(large.Check(743 * kMiB));
  EXPECT_THAT(large.Check(744 * kMiB).message, HasSubstr("memory limit of 1000 MiB"));
}

class LimitedImports : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  std::shared_ptr<const Trace> Read(const std::string& path, uint64_t limit) {
    OpenOptions options;
    options.memory_limit_bytes = limit;
    std::shared_ptr<const Trace> trace;
    const Error error = Open(path, options, &trace);
    EXPECT_FALSE(error) << error.message;
    return trace;
  }
  // Reads a file with and without a limit that is below what its events take.
  void Check(const std::string& path) {
    const std::shared_ptr<const Trace> whole = Read(path, 0);
    ASSERT_NE(whole, nullptr);
    EXPECT_TRUE(whole->faults.empty());
    ASSERT_EQ(whole->processes.size(), 1u);
    EXPECT_EQ(whole->processes[0].rows, uint64_t{kEvents});
    const std::shared_ptr<const Trace> part = Read(path, 4 * kMiB);
    ASSERT_NE(part, nullptr);
    ASSERT_EQ(part->faults.size(), 1u);
    EXPECT_THAT(part->faults[0].what, HasSubstr("memory limit of 4.00 MiB"));
    ASSERT_EQ(part->processes.size(), 1u);
    EXPECT_GT(part->processes[0].rows, 1'000u);
    EXPECT_LT(part->processes[0].rows, 100'000u);
  }

  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("memory." + std::to_string(getpid()));
};

TEST_F(LimitedImports, EventsOfJson) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < kEvents; ++i) {
    text += i == 0 ? "" : ",\n";
    text += R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": )" +
            std::to_string(i) + R"(, "dur": 1})";
  }
  Check(Write("t.json", text + "]}"));
}

TEST_F(LimitedImports, KernelsOfJson) {
  std::string text = R"({"schemaVersion": 1, "traceEvents": [)";
  for (int i = 0; i < kEvents; ++i) {
    text += i == 0 ? "" : ",\n";
    text += R"({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": )" +
            std::to_string(2 * i) + R"(, "dur": 1, "args": {"device": 0, "stream": 7}})";
  }
  Check(Write("t.json", text + "]}"));
}

TEST_F(LimitedImports, EventsOfAnXSpace) {
  foreign::xspace::XSpace space;
  auto* plane = space.add_planes();
  plane->set_name("/host:CPU");
  (*plane->mutable_event_metadata())[1].set_name("MatMul");
  auto* line = plane->add_lines();
  line->set_id(1);
  for (int i = 0; i < kEvents; ++i) {
    auto* event = line->add_events();
    event->set_metadata_id(1);
    event->set_offset_ps(int64_t{i} * 2000);
    event->set_duration_ps(1000);
  }
  Check(Write("host.xplane.pb", space.SerializeAsString()));
}

}  // namespace
}  // namespace gpuprof::analysis::import
