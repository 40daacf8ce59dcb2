// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Bundles: the directory, its description, and the names of process files.

#include "launcher/record/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

std::string CommandOf(const std::vector<std::string>& command, const Variables& settings) {
  const proto::Bundle bundle = DescribeStart(command, settings);
  std::string words;
  for (const std::string& word : bundle.command()) words += word + "|";
  return words;
}

TEST(BundleCommand, SecretsAreMaskedUnlessAsked) {
  const std::vector<std::string> command = {"password=prog", "--password=x", "--token", "y", "z"};
  EXPECT_EQ(CommandOf(command, {}), "password=prog|--password=***|--token|***|z|");
  EXPECT_EQ(CommandOf(command, {{"GPUPROF_ARGUMENTS", "masked"}}), CommandOf(command, {}));
  EXPECT_EQ(CommandOf(command, {{"GPUPROF_ARGUMENTS", "none"}}), "password=prog|");
  EXPECT_EQ(CommandOf(command, {{"GPUPROF_ARGUMENTS", "all"}}),
            "password=prog|--password=x|--token|y|z|");
}

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

TEST_F(BundleTest, IsItsOwnersAloneWhateverTheUmask) {
  for (const mode_t mask : {0, 022, 0277, 0777}) {
    const std::string place = root_ + "/" + std::to_string(mask);
    const mode_t before = umask(mask);
    BundleDirectory bundle;
    EXPECT_EQ(bundle.Open(place + "/b"), "");
    EXPECT_EQ(bundle.Describe(proto::Bundle()), "");
    EXPECT_EQ(umask(before), mask) << "as it was";
    EXPECT_EQ(ModeOf(place) & ~0055u, 0700u);
    EXPECT_EQ(ModeOf(place + "/b"), 0700u);
    EXPECT_EQ(ModeOf(place + "/b/bundle.pb"), 0600u);
  }
}

TEST_F(BundleTest, OthersLoseTheRightToWrite) {
  ASSERT_EQ(chmod(root_.c_str(), 0777), 0);
  BundleDirectory bundle;
  ASSERT_EQ(bundle.Open(root_), "");
  EXPECT_EQ(ModeOf(root_), 0755u);
}

TEST_F(BundleTest, FollowsNoLink) {
  fs::create_directory(root_ + "/real");
  ASSERT_EQ(symlink("real", (root_ + "/link").c_str()), 0);
  BundleDirectory link;
  EXPECT_THAT(link.Open(root_ + "/link"), HasSubstr("is a link"));
  BundleDirectory bundle;
  ASSERT_EQ(bundle.Open(root_ + "/link/b"), "") << "above, links lead on";
  std::ofstream(root_ + "/precious") << "precious";
  ASSERT_EQ(symlink((root_ + "/precious").c_str(), (root_ + "/real/b/bundle.pb.new").c_str()), 0);
  ASSERT_EQ(symlink((root_ + "/precious").c_str(), (root_ + "/real/b/bundle.pb").c_str()), 0);
  ASSERT_EQ(bundle.Describe(DescribeStart({"prog"}, {})), "");
  EXPECT_EQ(fs::file_size(root_ + "/precious"), 8u);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root_ + "/real/b/bundle.pb")));
  ASSERT_EQ(symlink((root_ + "/new").c_str(), (root_ + "/real/b/gpu.wait").c_str()), 0);
  EXPECT_EQ(bundle.folder().Create("gpu.wait"), -1);
  EXPECT_FALSE(fs::exists(root_ + "/new"));
}

TEST_F(BundleTest, IsWrittenWhereItWasMade) {
  BundleDirectory bundle;
  ASSERT_EQ(bundle.Open(root_ + "/b"), "");
  fs::rename(root_ + "/b", root_ + "/aside");
  fs::create_directory(root_ + "/b");
  EXPECT_FALSE(bundle.folder().IsAt(root_ + "/b"));
  ASSERT_EQ(bundle.Describe(proto::Bundle()), "");
  EXPECT_TRUE(fs::exists(root_ + "/aside/bundle.pb"));
  EXPECT_TRUE(fs::is_empty(root_ + "/b"));
}

TEST_F(BundleTest, ANameThatIsTakenGetsLetters) {
  fs::create_directory(root_ + "/b");
  BundleDirectory first, second;
  ASSERT_EQ(first.OpenNew(root_ + "/b"), "");
  ASSERT_EQ(second.OpenNew(root_ + "/b"), "");
  EXPECT_THAT(first.path(), testing::MatchesRegex(".*/b-[a-z2-7]{6}"));
  EXPECT_NE(first.path(), second.path());
  BundleDirectory unmade;
  EXPECT_THAT(unmade.OpenNew("/proc/b"), HasSubstr("-o DIR"));
}

TEST_F(BundleTest, AForeignFolderIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a folder to another user";
  fs::create_directory(root_ + "/b");
  ASSERT_EQ(chown((root_ + "/b").c_str(), 12345, 12345), 0);
  BundleDirectory bundle;
  EXPECT_THAT(bundle.Open(root_ + "/b"), HasSubstr("belongs to user 12345"));
}

// Who may move the bundle is told; nothing of theirs is believed.
TEST_F(BundleTest, TellsWhoCanMoveIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to give a folder to another user";
  const auto risk = [this](const std::string& name) {
    BundleDirectory bundle;
    EXPECT_EQ(bundle.Open(root_ + "/above/" + name), "");
    return bundle.folder().Risk();
  };
  const std::string above = root_ + "/above";
  EXPECT_EQ(risk("1"), "");
  chmod(above.c_str(), 01777);
  EXPECT_EQ(risk("2"), "") << "in a sticky folder only owners move";
  chmod(above.c_str(), 0777);
  EXPECT_THAT(risk("3"), HasSubstr("every user can move"));
  chmod(above.c_str(), 0775);
  EXPECT_EQ(risk("4"), "") << "root's group";
  chmod(above.c_str(), 0755);
  ASSERT_EQ(chown(above.c_str(), 12345, 12345), 0);
  EXPECT_THAT(risk("5"), HasSubstr("user 12345 can move or remove the bundle, because " + above));
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
