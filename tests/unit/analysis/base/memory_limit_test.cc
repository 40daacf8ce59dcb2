// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The memory limits of control groups, version 1 and 2.

#include "analysis/base/memory_limit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpuprof::analysis {
namespace {

class GroupMemoryLimitTest : public testing::Test {
 protected:
  GroupMemoryLimitTest() { std::filesystem::create_directory(root_); }
  ~GroupMemoryLimitTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  uint64_t Limit(const std::string& groups) { return GroupMemoryLimit(groups, root_); }
  uint64_t Room(const std::string& groups) { return GroupMemoryRoom(groups, root_); }

  const std::filesystem::path root_ =
      testing::TempDir() + "/memory_limit." + std::to_string(getpid());
};

TEST_F(GroupMemoryLimitTest, NoGroupSetsNone) {
  EXPECT_EQ(Limit(""), UINT64_MAX);
  EXPECT_EQ(Limit("0::/\n"), UINT64_MAX);
  EXPECT_EQ(Limit("no group\n1:memory\n"), UINT64_MAX);
  Write("memory.max", "max");
  EXPECT_EQ(Limit("0::/\n"), UINT64_MAX);
}

TEST_F(GroupMemoryLimitTest, TheLeastOfAGroupAndThoseAboveCounts) {
  Write("memory.max", "9000");
  Write("job/memory.max", "5000");
  Write("job/step/memory.max", "max");
  Write("job/step/memory.high", "max");
  EXPECT_EQ(Limit("0::/job/step\n"), 5000u);
  Write("job/step/memory.high", "4000");
  EXPECT_EQ(Limit("0::/job/step\n"), 4000u);
  Write("memory.max", "3000");
  EXPECT_EQ(Limit("0::/job/step\n"), 3000u);
  EXPECT_EQ(Limit("0::/\n"), 3000u);
}

TEST_F(GroupMemoryLimitTest, InAContainerThePathMayBeTheHosts) {
  Write("memory.max", "7000");
  EXPECT_EQ(Limit("0::/system.slice/container\n"), 7000u);
  EXPECT_EQ(Limit("0::/../../other\n"), 7000u);
}

TEST_F(GroupMemoryLimitTest, Version1HasAHierarchyOfItsOwn) {
  Write("memory/memory.limit_in_bytes", "9223372036854771712");
  Write("memory/docker/abc/memory.limit_in_bytes", "6000");
  Write("cpu/docker/abc/memory.limit_in_bytes", "10");
  EXPECT_EQ(Limit("5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/docker/abc\n"), 6000u);
}

TEST_F(GroupMemoryLimitTest, RoomIsWhatIsNotHeld) {
  EXPECT_EQ(Room("0::/job\n"), UINT64_MAX);
  Write("job/memory.max", "5000");
  EXPECT_EQ(Room("0::/job\n"), 5000u) << "nobody tells what is held";
  Write("job/memory.current", "3000");
  EXPECT_EQ(Room("0::/job\n"), 2000u);
  // Files that nobody reads at the moment make room.
  Write("job/memory.stat", "anon 1000\ninactive_file 1500\nactive_file 500");
  EXPECT_EQ(Room("0::/job\n"), 3500u);
  // The group above has other members.
  Write("memory.high", "9000");
  Write("memory.current", "8900");
  EXPECT_EQ(Room("0::/job\n"), 100u);
  Write("memory.current", "9900");
  EXPECT_EQ(Room("0::/job\n"), 0u);
}

TEST_F(GroupMemoryLimitTest, RoomOfVersion1) {
  Write("memory/job/memory.limit_in_bytes", "6000");
  Write("memory/job/memory.usage_in_bytes", "5000");
  Write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 200");
  EXPECT_EQ(Room("4:memory:/job\n0::/job\n"), 1200u);
}

TEST(AvailableMemory, IsThatOfTheMachine) {
  EXPECT_EQ(AvailableMemory("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:    3 kB\n"), 3072u);
  EXPECT_EQ(AvailableMemory("MemTotal: 9 kB\n"), UINT64_MAX);
  EXPECT_EQ(AvailableMemory(""), UINT64_MAX);
  EXPECT_GT(RoomInMemory(), 0u);
}

TEST_F(GroupMemoryLimitTest, TheDefaultIsBelowTheMachine) {
  const uint64_t machine =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_GT(DefaultMemoryLimit(), 0u);
  EXPECT_LE(DefaultMemoryLimit(), machine / 4 * 3);
}

}  // namespace
}  // namespace gpuprof::analysis
