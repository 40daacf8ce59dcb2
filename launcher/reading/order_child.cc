// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See order_child.h.

#include "launcher/reading/order_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/base/text.h"

extern "C" char** environ;

namespace gpuprof::launcher {
namespace {

constexpr int kNicerOrder = 10;  // the programs of this machine come first

}  // namespace

void OrderChild::Become() const {
  sigset_t none;
  sigemptyset(&none);
  char name[] = "gpuprof";
  char* arguments[] = {name, const_cast<char*>(word), nullptr};
  // Copies first: a descriptor may have a number that another one is about to get.
  const int held = folder < 0 ? -1 : fcntl(folder, F_DUPFD_CLOEXEC, kHeldOrderFolder + 1);
  const int said = fcntl(errors, F_DUPFD_CLOEXEC, kHeldOrderFolder + 1);
  const int made = fcntl(result, F_DUPFD_CLOEXEC, kHeldOrderFolder + 1);
  const int asked = fcntl(order, F_DUPFD_CLOEXEC, kHeldOrderFolder + 1);
  if (dup2(asked, 0) == 0 && dup2(made, 1) == 1 && dup2(said, 2) == 2 &&
      (folder < 0 || dup2(held, kHeldOrderFolder) == kHeldOrderFolder)) {
    setpriority(PRIO_PROCESS, 0, kNicerOrder);
    // It is of no use without its caller, whose thread waits for it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kExitOwnFailure);
    // If memory runs out nevertheless, it is this process that goes.
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0 && write(score, "1000", 4) != 4) {}
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve("/proc/self/exe", arguments, environ);
  }
  _exit(kExitOwnFailure);
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = write(fd, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    text.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

bool WriteOrder(int fd, std::string_view text) {
  return WriteAll(fd, text) && lseek(fd, 0, SEEK_SET) == 0;
}

}  // namespace gpuprof::launcher
