// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sampler_process.h.

#include "launcher/gpu/sampler_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "launcher/base/descriptors.h"
#include "launcher/record/bundle.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr int kReadyLimitMs = 2000;
constexpr int kEndLimitMs = 2000;
// Where the sampler's process keeps what it needs; all above is closed.
constexpr int kStopPlace = 3, kReportPlace = 4, kFolderPlace = 5, kLogPlace = 6;

// Out of the way of the places, then into them.
int Above(int fd) { return fd < 0 ? -1 : fcntl(fd, F_DUPFD, kLogPlace + 1); }

uint64_t NowMs() { return proto::ReadClockNs(CLOCK_MONOTONIC) / 1'000'000; }

// Returns how long a process has waited for a processor; 0 if the kernel does not tell.
uint64_t WithoutProcessorMs(pid_t pid) {
  char path[64], text[128];
  snprintf(path, sizeof path, "/proc/%d/schedstat", static_cast<int>(pid));
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
  if (fd >= 0) close(fd);
  if (bytes <= 0) return 0;
  text[bytes] = 0;
  unsigned long long ran = 0, waited = 0;
  return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited / 1'000'000 : 0;
}

}  // namespace

void SamplerProcess::Prepare(const SamplerOptions& options, const TrustedFolder* folder,
                             GpuLog* log) {
  options_ = options;
  folder_ = folder;
  log_ = log;
  is_wanted_ = true;
  if (!options_.to_trace) return;
  const int fd = folder_->Create(proto::kGpuWaitFile);
  options_.to_trace = fd >= 0;
  is_wanted_ = fd >= 0 || log_->is_open();
  if (fd >= 0) close(fd);
}

void SamplerProcess::RunInChild(int stop, int report) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  setsid();
  prctl(PR_SET_NAME, "gpuprof-gpu");
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int kept[] = {Above(stop), Above(report), Above(log_->fd()), Above(folder_->fd())};
  dup2(kept[0], kStopPlace);
  dup2(kept[1], kReportPlace);
  dup2(kept[3], kFolderPlace);
  if (kept[2] >= 0) dup2(kept[2], kLogPlace);
  CloseFrom(kept[2] >= 0 ? kLogPlace + 1 : kLogPlace);
  const int nothing = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) dup2(nothing, fd);
  if (nothing > 2) close(nothing);
  if (chdir("/") != 0) _exit(1);
  // A tool that is to be loaded into the program is not to be loaded here.
  unsetenv("CUDA_INJECTION64_PATH");
  // The launcher's object stays open in the launcher; here it becomes our copy's.
  GpuLog log;
  if (kept[2] >= 0) log.Adopt(kLogPlace);
  {
    Sampler sampler(options_, &log, kStopPlace, kReportPlace);
    sampler.Run();
  }
  // The launcher may have been killed.
  if (options_.to_trace) unlinkat(kFolderPlace, proto::kGpuWaitFile, 0);
  _exit(0);
}

std::vector<std::string> SamplerProcess::Start() {
  if (!is_wanted_) return {};
  not_in_trace_ = Fork();
  if (pid_ <= 0 || !log_->is_open()) return not_in_trace_;
  log_->Close();
  return ReadReport(kReadyLimitMs, false);
}

// Empty, or why there will be no counters.
std::vector<std::string> SamplerProcess::Fork() {
  const auto no_pipe = [] {
    return std::vector<std::string>{std::string("no hardware counters: no pipe could be made: ") +
                                    strerror(errno)};
  };
  int stop[2], report[2];
  if (pipe2(stop, O_CLOEXEC) != 0) return no_pipe();
  if (pipe2(report, O_CLOEXEC) != 0) {
    std::vector<std::string> why = no_pipe();
    close(stop[0]);
    close(stop[1]);
    return why;
  }
  pid_ = fork();
  if (pid_ == 0) {
    close(stop[1]);
    close(report[0]);
    RunInChild(stop[0], report[1]);
  }
  close(stop[0]);
  close(report[1]);
  stop_ = stop[1];
  report_ = report[0];
  if (pid_ < 0)
    return {std::string("no hardware counters: no process could be made: ") + strerror(errno)};
  return {};
}

// Words that have come, until an empty line or, `to_end`, until the sampler has gone. Time in which
// the sampler got no processor does not count: on a busy machine it is late, and does not hang.
std::vector<std::string> SamplerProcess::ReadReport(int limit_ms, bool to_end) {
  std::vector<std::string> lines;
  const uint64_t begin = NowMs(), without_before = WithoutProcessorMs(pid_);
  bool is_ready = false;
  while (!is_at_end_ && (to_end || !is_ready)) {
    const uint64_t without = WithoutProcessorMs(pid_) - without_before;
    const uint64_t until = begin + static_cast<uint64_t>(limit_ms) + without;
    const uint64_t left = until - std::min(until, NowMs());
    // What has come is read even if the time is over: the launcher itself may be late.
    pollfd wait = {report_, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left)) <= 0) {
      if (left == 0) break;
      continue;
    }
    char buffer[4096];
    const ssize_t got = read(report_, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    is_at_end_ = got <= 0;
    if (got > 0) unread_.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = unread_.find('\n')) != std::string::npos; unread_.erase(0, end + 1)) {
      const std::string line = unread_.substr(0, end);
      if (line.empty()) is_ready = true;
      if (line.size() == 2 && line[0] == kPhaseMark) {
        phase_ = line[1];
      } else if (!line.empty()) {
        lines.push_back(line);
        said_.push_back(line);
      }
    }
  }
  return lines;
}

std::string SamplerProcess::WhyNotEnded() const {
  if (phase_ == kPhaseOpening)
    return "no hardware counters by PM sampling: the command ended while CUDA and CUPTI were still "
           "being opened. Opening takes seconds on some machines; profile a longer run";
  if (phase_ == kPhaseClosing)
    return "the reader of hardware counters keeps running until the driver has taken the counters "
           "back; its trace is complete";
  return std::string("the reader of hardware counters did not end and was killed: NVML ") +
         (options_.pm_period_ns != 0 ? "or CUPTI " : "") +
         "hangs; dmesg may name an Xid error of the GPU";
}

std::vector<std::string> SamplerProcess::Stop() {
  if (stop_ >= 0) close(stop_);
  stop_ = -1;
  std::vector<std::string> lines;
  if (pid_ > 0) {
    lines = ReadReport(kEndLimitMs, true);
    // What it says itself is in its trace as well, where it has one.
    if (!HasSamplerTrace(options_.bundle, pid_)) not_in_trace_ = said_;
    int status = 0;
    const bool hangs = !is_at_end_;
    // What gives the counters back has nothing else to do, and ends by itself.
    if (hangs && phase_ != kPhaseClosing) kill(pid_, SIGKILL);
    // A process that the kernel holds cannot be waited for.
    const pid_t ended = waitpid(pid_, &status, hangs ? WNOHANG : 0);
    std::string end;
    if (hangs) {
      end = WhyNotEnded();
    } else if (ended == pid_ && WIFSIGNALED(status)) {
      end = std::string("the reader of hardware counters died of ") + strsignal(WTERMSIG(status)) +
            ": counters stop there";
    }
    if (!end.empty()) {
      lines.push_back(end);
      not_in_trace_.push_back(end);
    }
  }
  // Not before: its going tells the sampler that CUDA is in use.
  if (options_.to_trace) folder_->Remove(proto::kGpuWaitFile);
  pid_ = -1;
  if (report_ >= 0) close(report_);
  report_ = -1;
  return lines;
}

}  // namespace gpuprof::launcher
