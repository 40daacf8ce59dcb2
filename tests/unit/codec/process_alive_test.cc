// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Who is alive: real child processes that map, do not map, or no longer are.

#include "proto/codec/process_alive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>

#include "tests/unit/codec/codec_test_util.h"

#include "proto/codec/recover.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::codec {
namespace {

uint64_t NowUs() { return proto::ReadClockNs(CLOCK_REALTIME) / 1000; }

std::string StemOf(const TempFolder& folder, int32_t pid, uint64_t start_id) {
  char name[64];
  std::snprintf(name, sizeof name, "p%d-%" PRIx64, pid, start_id);
  return folder / name;
}

// A child that runs `what` and then sleeps until it is killed.
template <typename What>
class Child {
 public:
  explicit Child(What what) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      what(getpid());
      if (::write(ready[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~Child() { Kill(); }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  int32_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(ProcessIsAlive, NoSuchProcess) {
  int pid = 0;
  uint64_t start = 0;
  ASSERT_EQ(std::sscanf(DeadStem().c_str(), "p%d-%" SCNx64, &pid, &start), 2);
  EXPECT_FALSE(ProcessIsAlive(pid, start));
  EXPECT_FALSE(ProcessIsAlive(0, start));
  EXPECT_FALSE(ProcessIsAlive(-1, start));
}

TEST(ProcessIsAlive, AStranger) {
  EXPECT_FALSE(ProcessIsAlive(getpid(), NowUs())) << "it does not carry our object";
  EXPECT_FALSE(ProcessIsAlive(2, NowUs())) << "a thread of the kernel, or nobody";
}

TEST(ProcessIsAlive, ALivingOneOfThatAge) {
  const TempFolder folder;
  Child child([&](int32_t) { CarryObject(folder); });
  EXPECT_TRUE(ProcessIsAlive(child.pid(), NowUs()));
}

TEST(ProcessIsAlive, AYoungerOneOfTheSameNumber) {
  const TempFolder folder;
  Child child([&](int32_t) { CarryObject(folder); });
  EXPECT_FALSE(ProcessIsAlive(child.pid(), NowUs() - 365ull * 86'400 * 1'000'000));
  EXPECT_FALSE(ProcessIsAlive(getpid(), NowUs() - 365ull * 86'400 * 1'000'000));
}

TEST(ProcessIsAlive, AZombieIsDead) {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(ProcessIsAlive(pid, NowUs()));
  waitpid(pid, nullptr, 0);
}

TEST(ProcessIsAlive, TheMappingIsTheProof) {
  const TempFolder folder;
  const uint64_t start = 0x1234;  // long before: age alone would say no
  Child child([&](int32_t pid) { new FakeProcess(StemOf(folder, pid, start), 1, 64); });
  const std::string stem = StemOf(folder, child.pid(), start);
  EXPECT_EQ(FindRingUse(child.pid(), start), RingUse::kMapped);
  EXPECT_TRUE(ProcessIsAlive(child.pid(), start));
  const RecoverResult result = Recover(stem, -1);
  EXPECT_FALSE(result.ok);
  EXPECT_NE(result.error.find("still runs"), std::string::npos) << result.error;
  EXPECT_TRUE(Exists(stem + proto::kRingSuffix));
  EXPECT_FALSE(Exists(stem + proto::kTraceSuffix));
  // Another start of the same process is an image that has gone.
  EXPECT_EQ(FindRingUse(child.pid(), 0x1233), RingUse::kGone);
  const int32_t pid = child.pid();
  child.Kill();
  EXPECT_FALSE(ProcessIsAlive(pid, start));
  EXPECT_TRUE(Recover(stem, -1).ok);
}

TEST(ProcessIsAlive, ALivingProcessThatDoesNotMapTheRing) {
  const TempFolder folder;
  const uint64_t start = NowUs();
  Child child([&](int32_t) { CarryObject(folder); });
  EXPECT_EQ(FindRingUse(child.pid(), NowUs()), RingUse::kUnmapped);
  EXPECT_TRUE(ProcessIsAlive(child.pid(), NowUs())) << "it may be dormant";
  // A ring file that nobody maps is one that an earlier image left: it can be finished.
  { FakeProcess left(StemOf(folder, child.pid(), start), 1, 64); }
  EXPECT_TRUE(Recover(StemOf(folder, child.pid(), start), -1).ok);
}

TEST(ProcessIsAlive, AProcessThatMayNotBeLookedInto) {
  // Another user's, or so it is for us: not dumpable, and we are nobody while we look.
  const uint64_t start = NowUs() - 1;
  Child child([](int32_t) { prctl(PR_SET_DUMPABLE, 0); });
  Child recorded([](int32_t) {
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_NAME, proto::kControlThread);
  });
  if (geteuid() == 0 && seteuid(65534) != 0) GTEST_SKIP() << "cannot become another user here";
  const bool is_hidden = FindRingUse(recorded.pid(), start) == RingUse::kHidden;
  EXPECT_EQ(FindRingUse(child.pid(), start), is_hidden ? RingUse::kHidden : RingUse::kGone);
  usleep(2'100'000);
  EXPECT_EQ(FindRingUse(child.pid(), start), RingUse::kGone) << "without our thread";
  if (is_hidden) {
    EXPECT_EQ(FindRingUse(recorded.pid(), start), RingUse::kHidden);
  }
  ASSERT_EQ(seteuid(getuid()), 0);
}

TEST(ProcessIsAlive, TheFirstThreadMayEndBeforeTheOthers) {
  const TempFolder folder;
  const uint64_t start = 0x77;
  const pid_t pid = fork();
  if (pid == 0) {
    new FakeProcess(StemOf(folder, getpid(), start), 1, 64);
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (;;) pause();
        },
        nullptr);
    syscall(SYS_exit, 0);
  }
  bool is_zombie = false;
  for (int i = 0; i < 500 && !is_zombie; ++i) {
    usleep(10'000);
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const std::vector<uint8_t> stat = ReadBytes(path);
    const std::string text(stat.begin(), stat.end());
    is_zombie = text.find(") Z ") != std::string::npos;
  }
  ASSERT_TRUE(is_zombie);
  EXPECT_TRUE(ProcessIsAlive(pid, start));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  EXPECT_FALSE(ProcessIsAlive(pid, start));
}

TEST(ProcessIsAlive, AProcessInANamespaceBelowOurs) {
  const TempFolder folder;
  const uint64_t start = NowUs();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0) {
      if (::write(ready[1], "n", 1) != 1) _exit(1);
      _exit(0);
    }
    const pid_t inner = fork();
    if (inner == 0) {
      new FakeProcess(StemOf(folder, getpid(), start), 1, 64);
      if (::write(ready[1], "y", 1) != 1) _exit(1);
      for (;;) pause();
    }
    // The inner one goes when we are told to go.
    char byte;
    pause();
    (void)byte;
    _exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  if (answer == 'y') {
    EXPECT_TRUE(ProcessIsAlive(1, start)) << "its number there is 1";
    EXPECT_FALSE(Recover(StemOf(folder, 1, start), -1).ok);
  }
  // Ends the inner one too: it is found by its parent.
  const std::string children =
      "/proc/" + std::to_string(outer) + "/task/" + std::to_string(outer) + "/children";
  const std::vector<uint8_t> list = ReadBytes(children);
  const int inner = std::atoi(std::string(list.begin(), list.end()).c_str());
  if (inner > 1) kill(inner, SIGKILL);
  kill(outer, SIGKILL);
  waitpid(outer, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
  if (answer != 'y') GTEST_SKIP() << "may not make a pid namespace here";
}

}  // namespace
}  // namespace gpuprof::codec
