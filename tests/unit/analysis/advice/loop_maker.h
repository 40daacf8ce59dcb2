// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program with steps whose truth is known by construction: one thread launches work on streams
// of one device, as CUDA does. Work begins when it was launched and the work before it has ended.
// Times are in microseconds. Test code only, one thread.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/results/advice.pb.h"
#include "tests/unit/analysis/passes/run_pass.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {

class LoopMaker {
 public:
  static constexpr int64_t kCallUs = 5, kDelayUs = 5;
  // CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
  static constexpr uint32_t kHtoD = 1, kDtoH = 2, kDtoD = 8;
  static constexpr uint32_t kPageable = 1, kPinned = 2, kDevice = 3;

  LoopMaker() : builder_(5), thread_(&builder_.Thread(5)) {
    proto::Device& device = builder_.process().devices.emplace_back();
    device.set_id(0);
    device.set_compute_major(9);
    UseStream(7);
  }

  // Gives the device the limits of an H100: 132 multiprocessors.
  void DescribeDevice() {
    proto::Device& device = builder_.process().devices.front();
    device.set_multiprocessors(132);
    device.set_memory_bytes(uint64_t{80} << 30);
    device.set_threads_per_warp(32);
    device.set_warps_per_multiprocessor(64);
    device.set_blocks_per_multiprocessor(32);
    device.set_registers_per_multiprocessor(65536);
    device.set_shared_bytes_per_multiprocessor(233472);
  }
  // Sets how a kernel is launched, in all of its launches.
  void Shape(const std::string& name, uint32_t blocks, uint32_t threads, uint32_t registers = 32,
             uint32_t depth = 1) {
    proto::Signature& signature = builder_.process().signatures[Signature(name)];
    signature.set_grid(0, blocks);
    signature.set_grid(2, depth);
    signature.set_block(0, threads);
    signature.set_registers(registers);
  }

  // Work goes to this stream from here on.
  void UseStream(uint32_t number, uint32_t flag = 0) {
    if (streams_.count(number) == 0) {
      streams_[number] = {&builder_.Stream(0, 1, number), 0};
      Track& track = builder_.process().tracks.back();
      track.is_described = flag != 0;
      track.stream_flag = flag;
    }
    stream_ = &streams_[number];
  }

  // The host works.
  void Host(int64_t us) { at_ += us; }
  void Op(const std::string& name, int64_t us) {
    thread_->Op(name, at_ * kUs, (at_ + us) * kUs);
    at_ += us;
  }
  void Loader(int64_t us) {
    thread_->Loader(at_ * kUs, (at_ + us) * kUs);
    at_ += us;
  }
  // Opens a span that ends with Close().
  void Open(const std::string& name) { open_.push_back({name, at_}); }
  void Close() {
    thread_->Op(open_.back().first, open_.back().second * kUs, at_ * kUs);
    open_.pop_back();
  }

  void Kernel(const std::string& name, int64_t us, int64_t call_us = kCallUs) {
    Call("cudaLaunchKernel", call_us);
    const int64_t start = Start();
    stream_->builder->Kernel(Signature(name), start * kUs, (start + us) * kUs, id_);
    stream_->free_at = start + us;
  }
  // The kernel begins 5 us behind the begin of the call, which may last longer than the kernel.
  void KernelInCall(const std::string& name, int64_t us, int64_t call_us) {
    const int64_t start = std::max(at_ + kDelayUs, stream_->free_at);
    Call("cudaLaunchKernel", call_us);
    stream_->builder->Kernel(Signature(name), start * kUs, (start + us) * kUs, id_);
    stream_->free_at = start + us;
  }
  // The call of pageable memory lasts as long as the copy; so does a synchronous one.
  void Copy(uint32_t kind, uint64_t bytes, int64_t us, bool is_pageable, bool is_async = true) {
    const uint32_t host = is_pageable ? kPageable : kPinned;
    ++id_;
    const int64_t begin = at_;
    at_ += kCallUs;
    const int64_t start = Start();
    const bool waits = is_pageable || !is_async;
    if (waits) at_ = start + us + 1;
    thread_->Call(is_async ? "cudaMemcpyAsync" : "cudaMemcpy", begin * kUs, at_ * kUs, id_);
    stream_->builder->Copy(kind, kind == kHtoD ? host : kDevice, kind == kDtoH ? host : kDevice,
                           bytes, start * kUs, (start + us) * kUs, id_, is_async ? 1 : 0);
    stream_->free_at = start + us;
  }
  void Set(uint64_t bytes, int64_t us) {
    Call("cudaMemsetAsync", kCallUs);
    const int64_t start = Start();
    stream_->builder->Set(bytes, start * kUs, (start + us) * kUs, id_);
    stream_->free_at = start + us;
  }
  // A call that launches nothing.
  void Call(const std::string& name, int64_t us) {
    thread_->Call(name, at_ * kUs, (at_ + us) * kUs, ++id_);
    at_ += us;
  }
  void Synchronize() {
    int64_t end = at_;
    for (const auto& [number, stream] : streams_) end = std::max(end, stream.free_at);
    Call("cudaDeviceSynchronize", end + 5 - at_);
  }

  // Marks what follows, until the next call, as a step.
  void BeginStep() {
    EndStep();
    step_at_ = at_;
  }
  void EndStep() {
    if (step_at_ < 0) return;
    thread_->User("step " + std::to_string(step_++), step_at_ * kUs, at_ * kUs);
    step_at_ = -1;
  }

  int64_t now() const { return at_; }
  ProcessBuilder& builder() { return builder_; }
  TrackBuilder& stream(uint32_t number) { return *streams_[number].builder; }
  TrackBuilder& thread() { return *thread_; }
  Trace Build() {
    EndStep();
    return MakeTrace({&builder_});
  }

 private:
  struct StreamState {
    TrackBuilder* builder = nullptr;
    int64_t free_at = 0;
  };

  int64_t Start() const { return std::max(at_ + kDelayUs, stream_->free_at); }
  uint32_t Signature(const std::string& name) {
    const auto [at, is_new] = signatures_.try_emplace(name, 0);
    if (is_new) at->second = builder_.Signature(name, 1024, 128);
    return at->second;
  }

  ProcessBuilder builder_;
  TrackBuilder* thread_;
  std::map<uint32_t, StreamState> streams_;
  StreamState* stream_ = nullptr;
  std::map<std::string, uint32_t> signatures_;
  std::vector<std::pair<std::string, int64_t>> open_;
  int64_t at_ = 0, step_at_ = -1;
  uint64_t step_ = 0;
  uint32_t id_ = 0;
};

// Makes five steps, each of which ends with a wait for the device.
template <typename Body>
Trace FiveSteps(const Body& body) {
  LoopMaker loop;
  for (int i = 0; i < 5; ++i) {
    loop.BeginStep();
    body(loop);
    loop.Synchronize();
  }
  return loop.Build();
}

// Runs the rules. Every finding leads to a place that the trace has.
inline results::Advice Advise(const Trace& trace, const PassOptions& options = {}) {
  auto advice = RunPass<results::Advice>("advise", trace, options);
  for (const results::Finding& finding : advice.findings()) {
    if (!finding.has_place()) continue;
    const results::Place& place = finding.place();
    EXPECT_NE(place.kind(), results::PLACE_KIND_NONE) << finding.id();
    EXPECT_NE(place.pid(), 0) << finding.id();
    EXPECT_LE(place.start_ns(), place.end_ns()) << finding.id();
    EXPECT_GE(place.start_ns(), advice.meta().window_start_ns()) << finding.id();
    EXPECT_LE(place.end_ns(), advice.meta().window_end_ns()) << finding.id();
  }
  return advice;
}

inline std::vector<std::string> Ids(const results::Advice& advice) {
  std::vector<std::string> ids;
  for (const results::Finding& finding : advice.findings()) ids.push_back(finding.id());
  return ids;
}

inline const results::Finding* Find(const results::Advice& advice, const std::string& id) {
  for (const results::Finding& finding : advice.findings())
    if (finding.id() == id) return &finding;
  return nullptr;
}

// Returns all that a finding says.
inline std::string WordsOf(const results::Finding& finding) {
  std::string words = finding.name();
  for (const std::string& line : finding.evidence()) words += "\n" + line;
  for (const std::string& line : finding.fix()) words += "\n" + line;
  return words + "\n" + finding.caveat();
}

}  // namespace gpuprof::analysis::test
