// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See dead_processes.h.

#include "launcher/record/dead_processes.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "launcher/base/read_file.h"
#include "launcher/record/bundle.h"
#include "proto/codec/recover.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kSecond = 1'000'000'000u;
// To look takes one part in so many of the time.
constexpr uint64_t kShare = 40;
// A process that has lived long is asked for seldom: its table of mappings may be long, too.
constexpr uint64_t kAgeShare = 8;
constexpr uint64_t kLongestWait = 10 * kSecond;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }
uint64_t Spent() { return proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace

int DeadProcesses::Look(const TrustedFolder& folder, int32_t root, uint64_t* spent_ns) {
  uint64_t began = Spent();
  // By the open folder: its path may be another folder's by now.
  const std::string base = "/proc/self/fd/" + std::to_string(folder.fd()) + "/";
  int finished = 0;
  std::map<std::string, Ring> rings;
  for (const std::string& name : ListFolder(folder.fd())) {
    ProcessFiles process;
    if (!ParseProcessFile(name, &process) || !process.has_ring || process.pid == root) continue;
    const uint64_t now = Now();
    const auto known = rings_.find(process.stem);
    Ring ring = known != rings_.end() ? known->second : Ring{now, now};
    if (now >= ring.next_ns) {
      bool is_finished = false;
      if (!codec::ProcessIsAlive(process.pid, process.start_id)) {
        *spent_ns += Spent() - began;
        is_finished = codec::RecoverNear(base + process.stem).ok;
        began = Spent();
      }
      if (is_finished) {
        ++finished;
        continue;
      }
      ring.next_ns = now + std::min((now - ring.seen_ns) / kAgeShare, kLongestWait);
    }
    rings.emplace(process.stem, ring);
  }
  rings_ = std::move(rings);
  *spent_ns += Spent() - began;
  return finished;
}

void DeadProcesses::Run(const TrustedFolder* folder, int32_t root) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (uint64_t pause = kSecond; !is_over_;) {
    stopped_.wait_for(lock, std::chrono::nanoseconds(pause), [this] { return is_over_; });
    if (is_over_) return;
    lock.unlock();
    uint64_t spent_ns = 0;
    Look(*folder, root, &spent_ns);
    pause = std::max(kSecond, spent_ns * kShare);
    lock.lock();
  }
}

void DeadProcesses::Start(const TrustedFolder* folder, int32_t root) {
  // The command's signals are the main thread's to pass on.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this, folder, root] { Run(folder, root); });
  } catch (const std::system_error&) {
    // A limit on processes: the end of the run will do.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void DeadProcesses::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

}  // namespace gpuprof::launcher
