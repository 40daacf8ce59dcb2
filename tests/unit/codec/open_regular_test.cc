// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What stands where a file should be: pipes, devices, links, and files of the kernel.

#include "proto/codec/open_regular.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace gpuprof::codec {
namespace {

class OpenRegularTest : public testing::Test {
 protected:
  OpenRegularTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    std::ofstream(folder_ / "file") << "content";
  }
  ~OpenRegularTest() override { std::filesystem::remove_all(folder_); }

  // 0, or why the file is refused.
  int ErrorOf(const std::filesystem::path& path, int flags = O_RDONLY) {
    errno = 0;
    const OwnedFile file(OpenRegular(AT_FDCWD, path.c_str(), flags));
    return file.fd() < 0 ? errno : 0;
  }

  const std::filesystem::path folder_ =
      testing::TempDir() + "/open_regular." + std::to_string(getpid());
};

TEST_F(OpenRegularTest, OpensAFileAndTellsItsSize) {
  struct stat status = {};
  const OwnedFile file(
      OpenRegular(AT_FDCWD, (folder_ / "file").c_str(), O_RDWR | O_NOFOLLOW, &status));
  ASSERT_GE(file.fd(), 0);
  EXPECT_EQ(status.st_size, 7);
  EXPECT_NE(fcntl(file.fd(), F_GETFD) & FD_CLOEXEC, 0);
  char text[8] = {};
  EXPECT_EQ(read(file.fd(), text, sizeof text), 7);
  EXPECT_STREQ(text, "content");
}

TEST_F(OpenRegularTest, OpensBelowAFolder) {
  const OwnedFile folder(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const OwnedFile file(OpenRegular(folder.fd(), "file", O_RDONLY));
  EXPECT_GE(file.fd(), 0);
}

TEST_F(OpenRegularTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(ErrorOf(folder_ / "pipe"), kNotRegular);
  EXPECT_EQ(ErrorOf(folder_ / "pipe", O_RDWR), kNotRegular);
  EXPECT_EQ(ErrorOf(folder_), kNotRegular);
  EXPECT_EQ(ErrorOf("/dev/null"), kNotRegular);
  EXPECT_EQ(ErrorOf("/dev/zero"), kNotRegular);
  EXPECT_EQ(ErrorOf(folder_ / "nothing"), ENOENT);
  EXPECT_EQ(OpenErrorText(kNotRegular), "not a regular file");
}

TEST_F(OpenRegularTest, RefusesFilesOfTheKernel) {
  EXPECT_EQ(ErrorOf("/proc/self/status"), kNotRegular);
  EXPECT_EQ(ErrorOf("/proc/kmsg"), kNotRegular);
  std::filesystem::create_symlink("/proc/version", folder_ / "link");
  EXPECT_EQ(ErrorOf(folder_ / "link"), kNotRegular);
  if (std::filesystem::exists("/sys/kernel/mm")) {
    EXPECT_EQ(ErrorOf("/sys/kernel/mm/transparent_hugepage/enabled"), kNotRegular);
  }
}

TEST_F(OpenRegularTest, FollowsLinksUnlessTheyAreRefused) {
  std::filesystem::create_symlink("file", folder_ / "link");
  EXPECT_EQ(ErrorOf(folder_ / "link"), 0);
  EXPECT_EQ(ErrorOf(folder_ / "link", O_RDONLY | O_NOFOLLOW), ELOOP);
  // The root folder of a process is reached by a link of /proc.
  EXPECT_EQ(ErrorOf("/proc/self/root" + (folder_ / "file").string()), 0);
}

TEST_F(OpenRegularTest, WorksWithoutProc) {
  if (geteuid() != 0) GTEST_SKIP() << "unmounting /proc needs root";
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        umount2("/proc", MNT_DETACH) != 0 || access("/proc/self", F_OK) == 0)
      _exit(77);
    const bool opens = ErrorOf(folder_ / "file") == 0;
    const bool refuses = ErrorOf(folder_ / "pipe") == kNotRegular;
    _exit(opens && refuses ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "/proc cannot be unmounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace gpuprof::codec
