// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Closing what was inherited, on kernels with close_range and, by a filter of system calls, without
// it and without the kernel's list of what is open.

#include "launcher/base/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace gpuprof::launcher {
namespace {

constexpr int kFirst = 10;
constexpr int kNoFilter = 77;
constexpr uint32_t kCloseRange = 436;

// What the child ends with.
enum Outcome { kGood = 0, kOneBelowIsClosed = 1, kOneIsOpen = 2 };

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// A numbered system call fails, or, with `from`, one whose first argument is that or above: the
// process is killed.
struct Rule {
  uint32_t number;
  uint32_t from = 0;
};

bool Filter(const std::vector<Rule>& rules) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const Rule& rule : rules) {
    if (rule.from == 0) {
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule.number, 0, 1));
      code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS));
    } else {
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule.number, 0, 4));
      code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])));
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, rule.from, 0, 1));
      code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
      code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    }
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Opens more than one read of the kernel's list tells, closes from kFirst on below the rules, and
// looks; in a process of its own.
int CloseBelow(const std::vector<Rule>& rules) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = open("/dev/null", O_RDONLY);
    for (int fd = 0; fd < 600; ++fd) {
      if (!IsOpen(fd)) dup2(file, fd);
    }
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (!rules.empty() && !Filter(rules)) _exit(kNoFilter);
    CloseFrom(kFirst);
    for (int fd = 0; fd < kFirst; ++fd) {
      if (!IsOpen(fd)) _exit(kOneBelowIsClosed);
    }
    for (int fd = kFirst; fd < 1000; ++fd) {
      if (IsOpen(fd)) _exit(kOneIsOpen);
    }
    _exit(kGood);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CloseFrom, ByTheKernel) { EXPECT_EQ(CloseBelow({}), kGood); }

// The limit may be a thousand million: no number is closed that nobody has opened.
TEST(CloseFrom, WithoutCloseRangeWhatIsListed) {
  const int outcome = CloseBelow({{kCloseRange}, {SYS_close, 1000}});
  if (outcome == kNoFilter) GTEST_SKIP() << "no system call filter can be installed here";
  EXPECT_EQ(outcome, kGood);
}

TEST(CloseFrom, WithoutAListUpToALimit) {
  const int outcome = CloseBelow({{kCloseRange}, {SYS_getdents64}, {SYS_close, 65'536}});
  if (outcome == kNoFilter) GTEST_SKIP() << "no system call filter can be installed here";
  EXPECT_EQ(outcome, kGood);
}

}  // namespace
}  // namespace gpuprof::launcher
