// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls a function if its owner lives longer than it may. The function runs on another thread.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace gpuprof::analysis {

class Deadline {
 public:
  // Calls `act` once the seconds are over, and again now and then.
  Deadline(double seconds, std::function<void()> act)
      : thread_([this, seconds, act = std::move(act)] {
          constexpr std::chrono::milliseconds kAgain(100);
          std::unique_lock lock(mutex_);
          const auto is_done = [this] { return is_done_; };
          if (changed_.wait_for(lock, std::chrono::duration<double>(seconds), is_done)) return;
          is_over_ = true;
          do act();
          while (!changed_.wait_for(lock, kAgain, is_done));
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool is_over() const { return is_over_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  std::atomic<bool> is_over_{false};
  std::thread thread_;  // last: it uses the others
};

}  // namespace gpuprof::analysis
