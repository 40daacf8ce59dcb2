// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How what PyTorch's compiler (Inductor) tells of a generated file gets from the thread that asked
// Python for it to the drain: the file's path, and which of its lines came from which place of the
// program.
//
// Hand over: a thread that has CPython's global interpreter lock, on the program's threads, too. No
// heap and no lock: pages are mapped for each file. Take: the drain's pass.

#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace gpuprof::tracer::inductor {

// One after the other in its pages; the path and the lines follow.
class GeneratedModule {
 public:
  // Maps pages for a path and for lines whose texts have so many bytes together. Null: they are too
  // long, or there is no memory.
  static GeneratedModule* Make(std::string_view path, uint64_t lines, uint64_t text_bytes) noexcept;
  static void Release(GeneratedModule* module) noexcept;

  // Adds a line, and the stack of the program that it came from. Lines and bytes above what Make
  // was told are left out.
  void Add(uint32_t line, std::string_view stack) noexcept;

  std::string_view path() const { return {bytes(), path_bytes_}; }
  // Goes from line to line. `at`: 0 first. False: there is none behind it.
  bool Next(uint64_t* at, uint32_t* line, std::string_view* stack) const noexcept;

  GeneratedModule* next = nullptr;  // of those that wait
  uint32_t tid = 0;                 // of the thread that has asked

 private:
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }

  uint64_t mapped_ = 0;
  uint64_t room_ = 0;  // bytes behind the object
  uint64_t used_ = 0;
  uint32_t path_bytes_ = 0;
};

class GeneratedModules {
 public:
  void HandOver(GeneratedModule* module) noexcept;
  // Returns all that wait, the newest first. The caller releases them.
  GeneratedModule* Take() noexcept { return waiting_.exchange(nullptr, std::memory_order_acquire); }
  // In a forked child: what waits is the parent's.
  void AfterForkChild() noexcept;

  // Files that were lost: too long, too many, or without memory.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  void CountLost() { lost_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<GeneratedModule*> waiting_{nullptr};
  std::atomic<uint64_t> lost_{0};
};

// The process's.
GeneratedModules& WaitingModules();

}  // namespace gpuprof::tracer::inductor
