// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How what JAX recorded gets from the thread that asked JAX for it to the drain: whole windows, in
// order. A window is what one session of JAX's profiler returned: an XSpace as bytes.
//
// Hand over: a thread that has CPython's global interpreter lock, on the program's threads, too. No
// heap and no lock: pages are mapped for each window. Take: the drain's pass.

#pragma once

#include <atomic>
#include <cstdint>

namespace gpuprof::tracer::jax {

// The clocks at one moment.
struct Moment {
  uint64_t ticks = 0, monotonic_ns = 0, realtime_ns = 0;
};

// One after the other in the pages of a window; the XSpace follows.
struct Window {
  uint64_t mapped;   // bytes
  uint64_t bytes;    // of the XSpace
  uint32_t capture;  // number of the capture that it is of
  uint32_t tid;      // of the agent's thread
  bool is_first;     // of its capture: no gap lies before it
  // Only compiled programs are of interest, and no event.
  bool has_programs;
  Moment begin, end;
  const char* space() const { return reinterpret_cast<const char*>(this + 1); }
};

class Windows {
 public:
  // Maps pages for a window of so many bytes. Null: it is too long, or there is no memory.
  Window* Make(uint64_t bytes) noexcept;
  // Gives a window to the drain. False: too many wait; it was dropped.
  bool HandOver(Window* window) noexcept;
  // Returns the oldest window, or null. Give it back with Release.
  Window* Take() noexcept;
  static void Release(Window* window) noexcept;
  // In a forked child: what waits is the parent's.
  void AfterForkChild() noexcept;

  // Windows that were lost: they were too long, too many, or without memory.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  void CountLost() { lost_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kMost = 16;
  static constexpr uint64_t kMostBytes = 48u << 20;

  std::atomic<Window*> slots_[kMost] = {};
  std::atomic<uint32_t> head_{0};  // of the one that hands over: one at a time
  uint32_t tail_ = 0;              // of the drain
  std::atomic<uint64_t> lost_{0};
};

}  // namespace gpuprof::tracer::jax
