// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/base/read_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

namespace gpuprof::launcher {
namespace {

TEST(ReadFile, GivesAllOfIt) {
  const std::string path = testing::TempDir() + "/read_file_" + std::to_string(getpid());
  const std::string text = std::string(10'000, 'x') + std::string("\0\n", 2);
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(ReadFile(path), text);
  unlink(path.c_str());
  EXPECT_EQ(ReadFile(path), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

TEST(ReadFile, AFileThatOpensAndCannotBeReadIsNone) {
  EXPECT_EQ(ReadFile(testing::TempDir()), std::nullopt);
  EXPECT_EQ(errno, EISDIR);
}

// As long as it is not waited for, a process that has ended has its files, and some fail when read.
TEST(ReadFile, OfAnEndedProcessThrowsNothing) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  for (const char* name : {"/stat", "/environ", "/maps", "/comm", "/syscall", "/stack"})
    ReadFile("/proc/" + std::to_string(child) + name);
  EXPECT_NE(ReadFile("/proc/" + std::to_string(child) + "/stat"), std::nullopt);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace gpuprof::launcher
