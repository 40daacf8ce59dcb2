// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See witness.h.

#include "launcher/record/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "launcher/base/descriptors.h"
#include "launcher/record/obstacle_inbox.h"

namespace gpuprof::launcher {
namespace {

constexpr int kLooks = 4;
constexpr int kMostLooks = 4000;
constexpr long kPauseNs = 250'000;

}  // namespace

void Witness::Start(ObstacleInbox* inbox) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  shared_ = static_cast<Shared*>(memory);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    prctl(PR_SET_NAME, "gpuprof-witness");
    Serve(inbox);
  }
  pid_ = child;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", static_cast<int>(child));
  status_ = open(path, O_RDONLY | O_CLOEXEC);
}

// In the witness. Keeps no other descriptor than the inbox, which may be a terminal's or a pipe's
// end.
void Witness::Serve(ObstacleInbox* inbox) {
  const bool has_inbox = inbox != nullptr && inbox->fd() >= 0;
  if (has_inbox) {
    dup2(inbox->fd(), 0);
    inbox->set_fd(0);
  }
  CloseFrom(has_inbox ? 1 : 0);
  sigset_t all;
  sigfillset(&all);
  pollfd waits[] = {{signalfd(-1, &all, SFD_NONBLOCK), POLLIN, 0}, {has_inbox ? 0 : -1, POLLIN, 0}};
  for (;;) {
    poll(waits, 2, -1);
    signalfd_siginfo taken;
    while (read(waits[0].fd, &taken, sizeof taken) == sizeof taken) {
      if (taken.ssi_signo < kSignals) shared_->count[taken.ssi_signo].fetch_add(1);
    }
    if (has_inbox) inbox->Take();
  }
}

void Witness::Stop() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
  }
  if (status_ >= 0) close(status_);
  pid_ = 0;
  status_ = -1;
}

// Reads its state and "ShdPnd:", the signals that it has not taken yet. Both matter on a busy
// machine.
Witness::Look Witness::LookAt(int number) const {
  Look look;
  char text[4096];
  const ssize_t bytes = status_ >= 0 ? pread(status_, text, sizeof text - 1, 0) : -1;
  if (bytes <= 0) return look;
  text[bytes] = 0;
  const char* state = strstr(text, "State:\t");
  look.is_awake = state != nullptr && state[7] == 'R';
  const char* line = strstr(text, "ShdPnd:\t");
  look.has_pending = line != nullptr && (strtoull(line + 8, nullptr, 16) >> (number - 1) & 1) != 0;
  return look;
}

bool Witness::Saw(int number) {
  if (pid_ == 0 || number <= 0 || number >= kSignals) return false;
  for (int look = 0, all = 0; look < kLooks && all < kMostLooks; ++all) {
    const Look now = LookAt(number);
    const uint32_t count = shared_->count[number].load();
    if (count != seen_[number] || now.has_pending) {
      // Of real-time signals each is told to each; of the others several may have become one here.
      const bool merges = number < SIGRTMIN && count != seen_[number];
      seen_[number] = merges ? count : seen_[number] + 1;
      return true;
    }
    // A witness that is awake may have taken the signal, and not have counted it yet.
    if (!now.is_awake) ++look;
    const timespec pause = {0, kPauseNs};
    nanosleep(&pause, nullptr);
  }
  return false;
}

}  // namespace gpuprof::launcher
