// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/samples/native_sampling.h"

#include <unistd.h>

#include <algorithm>

#include "tracer/base/futex.h"
#include "tracer/thread_list.h"

namespace gpuprof::tracer {
namespace {

// Each has a descriptor and 17 pages that the kernel locks.
constexpr size_t kMostThreads = 256;

}  // namespace

NativeSampling::NativeSampling(const Host* host, SampleRing* ring)
    : host_(host), ring_(ring), sample_(new NativeSample) {}

int NativeSampling::Begin() {
  NativeEvents trial;
  const int error = trial.Open(getpid());
  if (error == 0) UpdateThreads();
  return error;
}

void NativeSampling::UpdateThreads() {
  tracks_ = host_->next_track->load(std::memory_order_relaxed);
  next_look_ns_ = Monotonic() + kSecond;
  std::vector<int32_t> tids;
  ListThreads(&tids);
  for (const auto& thread : threads_) thread->is_seen = false;
  for (const int32_t tid : tids) {
    const auto known = std::find_if(threads_.begin(), threads_.end(),
                                    [tid](const auto& thread) { return thread->tid == tid; });
    if (known != threads_.end()) {
      (*known)->is_seen = true;
      continue;
    }
    if (threads_.size() >= kMostThreads) {
      has_too_many_ = true;
      break;
    }
    std::unique_ptr<Thread> thread(new Thread);
    thread->tid = tid;
    thread->is_seen = true;
    // gpuprof's own threads stay known, and closed.
    if (!IsToolThread(tid) && thread->events.Open(tid) != 0) continue;
    threads_.push_back(std::move(thread));
  }
}

void NativeSampling::Take(Thread* thread, uint64_t now, uint64_t now_ns) {
  if (!thread->events.is_open()) return;
  const uint64_t rate = host_->settings->ticks_per_second;
  while (thread->events.Next(sample_.get())) {
    const uint64_t ago = now_ns - std::min(now_ns, sample_->time_ns);
    const auto ticks =
        static_cast<uint64_t>(static_cast<double>(ago) / 1e9 * static_cast<double>(rate));
    taken_.push_back({now - std::min(ticks, now), thread->tid, static_cast<uint32_t>(pcs_.size()),
                      sample_->frames});
    pcs_.insert(pcs_.end(), sample_->pcs, sample_->pcs + sample_->frames);
  }
  lost_ += thread->events.lost() - thread->lost;
  thread->lost = thread->events.lost();
}

void NativeSampling::Tick(uint64_t now) {
  const uint64_t now_ns = Monotonic();
  taken_.clear();
  pcs_.clear();
  for (const auto& thread : threads_) Take(thread.get(), now, now_ns);
  std::sort(taken_.begin(), taken_.end(),
            [](const Taken& a, const Taken& b) { return a.time < b.time; });
  const auto period = static_cast<uint64_t>(static_cast<double>(kNativePeriodNs) / 1e9 *
                                            static_cast<double>(host_->settings->ticks_per_second));
  for (const Taken& taken : taken_) {
    Sample sample;
    sample.start = taken.time - period;
    sample.end = taken.time;
    sample.tid = taken.tid;
    sample.bits = proto::kSampleRuns | proto::kSampleNative;
    ring_->Write(sample, pcs_.data() + taken.first, taken.frames);
  }
  const bool has_new = host_->next_track->load(std::memory_order_relaxed) != tracks_;
  if (!has_new && now_ns < next_look_ns_) return;
  UpdateThreads();
  // What ended threads have left was taken in this tick.
  threads_.erase(std::remove_if(threads_.begin(), threads_.end(),
                                [](const auto& thread) { return !thread->is_seen; }),
                 threads_.end());
}

}  // namespace gpuprof::tracer
