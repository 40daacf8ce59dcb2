// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See parallel.h.

#include "analysis/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace gpuprof::analysis {

int ThreadCount(int wanted) {
  constexpr int kMostThreads = 256;
  if (wanted > 0) return std::min(wanted, kMostThreads);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(size_t count, int threads, const std::function<void(size_t, int)>& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  auto run = [&](int worker) {
    try {
      for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) work(i, worker);
    } catch (...) {
      next.store(count);
      std::lock_guard<std::mutex> lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const int workers =
      static_cast<int>(std::min<size_t>(count, static_cast<size_t>(ThreadCount(threads))));
  std::vector<std::thread> others;
  for (int worker = 1; worker < workers; ++worker) {
    try {
      others.emplace_back(run, worker);
    } catch (const std::system_error&) {
      break;
    }
  }
  run(0);
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace gpuprof::analysis
