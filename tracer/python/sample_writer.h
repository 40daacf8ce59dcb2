// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Looks at all Python threads once a tick and writes what they did. Equal samples of a thread that
// follow each other become one, which stands for their time together.
//
// The sampler's thread alone.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tracer/python/code_names.h"
#include "tracer/python/python_threads.h"
#include "tracer/python/thread_state.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

class SampleWriter {
 public:
  SampleWriter(const Host* host, const Interpreter& interpreter);

  // Samples each thread. The sample stands for the time since the last tick.
  void Tick();
  // Writes the samples that are not in the ring yet.
  void Finish();

  uint64_t stacks() const { return stacks_; }
  uint64_t bad() const { return bad_; }

  // Before a file's first sample.
  static void BeginFile() { CodeNames::BeginFile(); }

 private:
  // A sampled thread, with its sample that may go on.
  struct Sampled {
    int32_t tid = 0;
    uint64_t place = 0;  // ThreadState::place
    uint64_t leaf = 0;
    ThreadState state;
    bool is_seen = false;
    bool is_open = false;  // there is a sample
    uint64_t start = 0, end = 0;
    uint16_t bits = 0;
    int32_t holder = 0;
    std::vector<uint64_t> stack;
  };

  Sampled* Find(int32_t tid);
  void Look(const PythonThread& thread, int32_t holder, Sampled* sampled, uint64_t now);
  bool ReadStack(const PythonThread& thread, uint64_t now);
  void Close(Sampled* sampled);
  void Write(const Sampled& sampled);
  int32_t HolderOf(uint64_t gil) const;

  const Host* host_;
  PythonThreads python_;
  CodeNames names_;
  proto::RingHeader* ring_ = nullptr;
  std::vector<std::unique_ptr<Sampled>> sampled_;
  std::vector<PythonThread> threads_;
  std::vector<PythonFrame> frames_;
  std::vector<uint64_t> stack_;
  uint64_t before_ = 0;  // the last tick
  uint64_t stacks_ = 0;
  uint64_t bad_ = 0;
};

}  // namespace gpuprof::tracer
