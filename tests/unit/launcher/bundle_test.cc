// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Bundles: the directory, its description, and the names of process files.

#include "launcher/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpuprof::launcher {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class BundleTest : public testing::Test {
 protected:
  BundleTest() : root_(testing::TempDir() + "gpuprof-bundle-" + std::to_string(getpid())) {
    fs::create_directories(root_);
  }
  ~BundleTest() override { fs::remove_all(root_); }
  std::string root_;
};

TEST_F(BundleTest, IsMadeWithItsParentsAndRemovedIfUnused) {
  BundleDirectory bundle;
  ASSERT_EQ(bundle.Open(root_ + "/x/y/"), "");
  EXPECT_EQ(bundle.path(), root_ + "/x/y");
  ASSERT_EQ(bundle.Describe(DescribeStart({"prog", "a b"}, {{"GPUPROF_STACKS", "3"}})), "");
  EXPECT_TRUE(fs::exists(root_ + "/x/y/bundle.pb"));
  EXPECT_FALSE(fs::exists(root_ + "/x/y/bundle.pb.new"));
  bundle.RemoveIfUnused();
  EXPECT_FALSE(fs::exists(root_ + "/x"));
}

TEST_F(BundleTest, DescribesTheRun) {
  BundleDirectory bundle;
  ASSERT_EQ(bundle.Open(root_), "");  // existing and empty
  ASSERT_EQ(bundle.Describe(DescribeStart({"prog", "a b"}, {{"GPUPROF_STACKS", "3"}})), "");
  proto::Bundle read;
  std::ifstream file(root_ + "/bundle.pb", std::ios::binary);
  ASSERT_TRUE(read.ParseFromIstream(&file));
  EXPECT_EQ(read.command(1), "a b");
  EXPECT_EQ(read.setting(0), "GPUPROF_STACKS=3");
  EXPECT_GT(read.started_realtime_ns(), 0u);
  EXPECT_EQ(read.ended_realtime_ns(), 0u);
  EXPECT_EQ(read.format_major(), 1u);
  bundle.RemoveIfUnused();
  EXPECT_TRUE(fs::exists(root_)) << "a directory that was there before is kept";
}

TEST_F(BundleTest, PathsAndPatternsMayBeOfAnyBytes) {
  BundleDirectory bundle;
  ASSERT_EQ(bundle.Open(root_), "");
  testing::internal::CaptureStderr();
  ASSERT_EQ(bundle.Describe(DescribeStart({"caf\xe9"}, {{"GPUPROF_EXCLUDE", "caf\xe9"}})), "");
  proto::Bundle read;
  std::ifstream file(root_ + "/bundle.pb", std::ios::binary);
  EXPECT_TRUE(read.ParseFromIstream(&file));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "libprotobuf says nothing";
  EXPECT_EQ(read.setting(0), "GPUPROF_EXCLUDE=caf\xe9");
}

TEST_F(BundleTest, IsNeverWrittenOverAnything) {
  std::ofstream(root_ + "/precious") << "x";
  BundleDirectory bundle;
  EXPECT_THAT(bundle.Open(root_), HasSubstr("is not empty"));
  BundleDirectory file;
  EXPECT_THAT(file.Open(root_ + "/precious"), HasSubstr("not a directory"));
  BundleDirectory below;
  EXPECT_THAT(below.Open(root_ + "/precious/x"), HasSubstr("a part of the path is a file"));
  BundleDirectory remote;
  EXPECT_THAT(remote.Open(root_ + "/" + std::string(600, 'x')), HasSubstr("more than 511"));
}

TEST(BundleNames, Default) {
  const std::string name = DefaultBundleName("my prog/x", 1700000000, 42);
  EXPECT_THAT(name, testing::MatchesRegex("gpuprof-my_prog_x-2023111[45]-[0-9]*-42"));
}

TEST(BundleNames, ProcessFiles) {
  ProcessFiles process;
  ASSERT_TRUE(ParseProcessFile("p12-5f3a.ring", &process));
  EXPECT_EQ(process.pid, 12);
  EXPECT_EQ(process.start_id, 0x5f3au);
  EXPECT_EQ(process.stem, "p12-5f3a");
  EXPECT_TRUE(process.has_ring);
  ASSERT_TRUE(ParseProcessFile("p12-5f3a.gpt", &process));
  EXPECT_TRUE(process.has_trace);
  for (const char* other :
       {"bundle.pb", "p12.gpt", "p-1.gpt", "px-1.gpt", "p12-xyz.gpt", "p12-1.txt", "p12-.gpt", "",
        "p12-1", "p0-1.gpt", "p-5-1.gpt", "p12-1.gpt.tmp"}) {
    EXPECT_FALSE(ParseProcessFile(other, &process)) << other;
  }
}

TEST_F(BundleTest, ListsProcessesOnce) {
  for (const char* name :
       {"p7-a.gpt", "p7-a.ring", "p7-b.gpt", "p9-a.ring", "bundle.pb", "notes.txt"})
    std::ofstream(root_ + "/" + name) << "12";
  const std::vector<ProcessFiles> list = ListProcesses(root_);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_TRUE(list[0].has_ring && list[0].has_trace);
  EXPECT_EQ(list[0].stem, root_ + "/p7-a");
  EXPECT_FALSE(list[1].has_ring);
  EXPECT_EQ(list[2].pid, 9);
  EXPECT_EQ(BundleBytes(root_), 12u);
}

}  // namespace
}  // namespace gpuprof::launcher
