// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Links in what the user named are followed, links below it are not.

#include "proto/codec/input_path.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace gpuprof::codec {
namespace {

namespace fs = std::filesystem;

class InputPathTest : public testing::Test {
 protected:
  InputPathTest() {
    fs::remove_all(root_);
    fs::create_directories(root_ / "bundle" / "inner");
    fs::create_directories(root_ / "private");
    for (const char* name : {"bundle/file", "bundle/inner/file", "private/file"})
      std::ofstream(root_ / name) << name;
  }
  ~InputPathTest() override { fs::remove_all(root_); }

  // Returns the content, or the words of the error.
  static std::string ContentOf(const InputPath& input) {
    struct stat status;
    const OwnedFile file(OpenInput(input, &status));
    if (file.fd() < 0) return OpenErrorText(errno);
    std::string text(static_cast<size_t>(status.st_size), '\0');
    EXPECT_EQ(read(file.fd(), text.data(), text.size()), status.st_size);
    return text;
  }
  InputPath Named(const std::string& name) const { return (root_ / name).string(); }

  static constexpr char kLink[] =
      "a symbolic link, which is not followed here; copy the file itself";
  const fs::path root_ = testing::TempDir() + "/input_path." + std::to_string(getpid());
};

TEST_F(InputPathTest, OpensWhatIsNamedAndWhatIsBelow) {
  EXPECT_EQ(ContentOf(Named("bundle/file")), "bundle/file");
  EXPECT_EQ(ContentOf(Named("bundle").Below("file")), "bundle/file");
  EXPECT_EQ(ContentOf(Named("bundle/").Below("file")), "bundle/file");
  EXPECT_EQ(ContentOf(Named("bundle").Below("inner/file")), "bundle/inner/file");
  EXPECT_EQ(ContentOf(Named("bundle").Below("inner").Below("file")), "bundle/inner/file");
  EXPECT_EQ(ContentOf(Named("bundle").Below("nothing")), "No such file or directory");
  EXPECT_EQ(ContentOf(Named("bundle").Below("inner")), "not a regular file");
}

TEST_F(InputPathTest, FollowsNamedLinksAlone) {
  fs::create_directory_symlink(root_ / "private", root_ / "named");
  fs::create_symlink(root_ / "private/file", root_ / "named_file");
  EXPECT_EQ(ContentOf(Named("named").Below("file")), "private/file");
  EXPECT_EQ(ContentOf(Named("named_file")), "private/file");
  fs::create_symlink(root_ / "private/file", root_ / "bundle/link");
  fs::create_symlink("file", root_ / "bundle/near");
  fs::create_directory_symlink(root_ / "private", root_ / "bundle/folder");
  EXPECT_EQ(ContentOf(Named("bundle").Below("link")), kLink);
  EXPECT_EQ(ContentOf(Named("bundle").Below("near")), kLink);
  EXPECT_EQ(ContentOf(Named("bundle").Below("folder/file")), kLink);
  EXPECT_EQ(ContentOf(Named("bundle").Below("inner/../../private/file")), kLink);
  EXPECT_EQ(ContentOf(Named("bundle").Below("../private/file")), kLink);
}

TEST_F(InputPathTest, TellsLinksBelow) {
  fs::create_directory_symlink(root_ / "private", root_ / "bundle/folder");
  struct stat status;
  ASSERT_TRUE(StatInput(Named("bundle").Below("folder"), &status));
  EXPECT_TRUE(S_ISLNK(status.st_mode));
  EXPECT_FALSE(StatInput(Named("bundle").Below("folder/file"), &status));
  ASSERT_TRUE(StatInput(Named("bundle/folder"), &status));
  EXPECT_TRUE(S_ISDIR(status.st_mode));
  EXPECT_LT(OwnedFile(OpenInputFolder(Named("bundle").Below("folder"))).fd(), 0);
  EXPECT_GE(OwnedFile(OpenInputFolder(Named("bundle").Below("inner"))).fd(), 0);
}

TEST_F(InputPathTest, AHeldFolderStays) {
  InputPath bundle = Named("bundle");
  bundle.Hold();
  InputPath inner = bundle.Below("inner");
  inner.Hold();
  fs::rename(root_ / "bundle", root_ / "moved");
  fs::create_directory_symlink(root_ / "private", root_ / "bundle");
  EXPECT_EQ(ContentOf(bundle.Below("file")), "bundle/file");
  EXPECT_EQ(ContentOf(inner.Below("file")), "bundle/inner/file");
  EXPECT_EQ(ContentOf(Named("bundle").Below("file")), "private/file");
  struct stat status;
  ASSERT_TRUE(StatInput(bundle, &status));
  EXPECT_TRUE(S_ISDIR(status.st_mode));
  // What is no folder is not held.
  InputPath file = Named("private/file");
  file.Hold();
  EXPECT_EQ(file.held, nullptr);
  EXPECT_EQ(ContentOf(file), "private/file");
}

TEST_F(InputPathTest, KnowsTheFolderAround) {
  EXPECT_EQ(Named("bundle/file").Above().path, (root_ / "bundle").string());
  EXPECT_TRUE(Named("bundle/file").Above().IsNamed());
  EXPECT_EQ(InputPath("file").Above().path, ".");
  EXPECT_EQ(InputPath("/file").Above().path, "/");
  fs::create_symlink(root_ / "private/file", root_ / "bundle/link");
  EXPECT_EQ(ContentOf(Named("bundle").Below("file").Above().Below("link")), kLink);
}

TEST_F(InputPathTest, RefusesFurtherNamesOfAnotherUsersFiles) {
  if (geteuid() != 0) GTEST_SKIP() << "it needs two users";
  constexpr uid_t kOther = 61001;
  fs::create_hard_link(root_ / "private/file", root_ / "bundle/further");
  EXPECT_EQ(ContentOf(Named("bundle").Below("further")), "private/file");
  ASSERT_EQ(chown((root_ / "bundle").c_str(), kOther, kOther), 0);
  EXPECT_EQ(ContentOf(Named("bundle").Below("further")), OpenErrorText(kForeignName));
  EXPECT_EQ(ContentOf(Named("bundle").Below("file")), "bundle/file");
  fs::remove(root_ / "private/file");
  EXPECT_EQ(ContentOf(Named("bundle").Below("further")), "private/file");
}

TEST_F(InputPathTest, TheStateTellsChangesOfContentAndName) {
  const std::string path = root_ / "bundle/file";
  const auto state = [&] {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return FileState(status);
  };
  struct stat before = {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  const std::string first = state();
  EXPECT_EQ(state(), first);
  // The same size at the same time of the last write, as rsync leaves it.
  struct stat after = before;
  while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
         after.st_ctim.tv_nsec == before.st_ctim.tv_nsec) {
    std::fstream(path, std::ios::in | std::ios::out) << "B";
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    ASSERT_EQ(stat(path.c_str(), &after), 0);
  }
  ASSERT_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
  ASSERT_EQ(after.st_size, before.st_size);
  EXPECT_NE(state(), first);
}

}  // namespace
}  // namespace gpuprof::codec
