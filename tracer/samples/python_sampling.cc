// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/samples/python_sampling.h"

#include <algorithm>

#include "proto/named_frame.h"
#include "proto/ticks.h"

namespace gpuprof::tracer {
namespace {

constexpr uint64_t kLongPartOfSecond = 4;
constexpr uint64_t kGilBytes = 256;  // its words, mutexes and conditions

}  // namespace

PythonSampling::PythonSampling(const Host* host, const Interpreter& interpreter, SampleRing* ring)
    : host_(host),
      ring_(ring),
      python_(interpreter),
      names_(host, interpreter.layout, python_.reads()),
      before_(proto::ReadTicks(host->settings->clock)) {}

PythonSampling::Sampled* PythonSampling::Find(int32_t tid) {
  for (const auto& sampled : sampled_) {
    if (sampled->sample.tid == tid) return sampled.get();
  }
  sampled_.push_back(std::unique_ptr<Sampled>(new Sampled));
  sampled_.back()->sample.tid = tid;
  return sampled_.back().get();
}

int32_t PythonSampling::HolderOf(uint64_t gil) const {
  for (const PythonThread& thread : threads_) {
    if (thread.gil == gil && thread.has_gil) return thread.tid;
  }
  return 0;
}

// Reads the stack of a thread into stack_, innermost frame first. False: it could not be read.
bool PythonSampling::ReadStack(const PythonThread& thread, uint64_t now) {
  stack_.clear();
  ++stacks_;
  if (!python_.Walk(thread, &frames_)) {
    ++bad_;
    return false;
  }
  for (const PythonFrame& frame : frames_) {
    const uint32_t name =
        names_.NameOf(frame.code, frame.bytes, frame.instruction, ring_->ring(), now);
    if (name == 0) {
      ++bad_;
      return false;
    }
    stack_.push_back(proto::NamedFrame(name));
  }
  return true;
}

void PythonSampling::Look(const PythonThread& thread, Sampled* sampled, uint64_t now) {
  ThreadState& state = sampled->state;
  // A number may be another thread's by now.
  if (!state.Read() && !state.Open(thread.tid)) return Close(sampled);
  uint16_t bits = proto::kSamplePython;
  if (state.runs()) bits |= proto::kSampleRuns;
  const bool waits = state.futex() >= thread.gil && state.futex() < thread.gil + kGilBytes;
  // Who had the lock when it was read may wait for it by now.
  if (waits) bits |= proto::kSampleWaitsForGil;
  if (!waits && thread.has_gil) bits |= proto::kSampleHasGil;
  const int32_t had = waits ? HolderOf(thread.gil) : 0;
  const int32_t holder = had != thread.tid ? had : 0;
  // In the same system call, at the same place of its stack: it has not moved.
  const bool has_rested = state.place() != 0 && state.place() == sampled->place &&
                          thread.leaf == sampled->leaf && sampled->is_open;
  sampled->place = state.place();
  sampled->leaf = thread.leaf;
  if (!has_rested && !ReadStack(thread, now)) return Close(sampled);
  const bool is_same_stack = has_rested || sampled->stack == stack_;
  Sample& sample = sampled->sample;
  if (!sampled->is_open || !is_same_stack || sample.bits != bits || sample.holder != holder) {
    Close(sampled);
    sampled->is_open = true;
    sample.start = before_;
    sample.bits = bits;
    sample.holder = holder;
    if (!is_same_stack) sampled->stack.swap(stack_);
  }
  sample.end = now;
}

void PythonSampling::Close(Sampled* sampled) {
  const Sample& sample = sampled->sample;
  if (sampled->is_open && sample.end > sample.start)
    ring_->Write(sample, sampled->stack.data(), static_cast<uint32_t>(sampled->stack.size()));
  sampled->is_open = false;
}

void PythonSampling::Tick(uint64_t now) {
  for (const auto& sampled : sampled_) sampled->is_seen = false;
  if (!python_.List(&threads_)) {
    ++bad_;
    threads_.clear();
  }
  for (const PythonThread& thread : threads_) {
    if (thread.leaf == 0) continue;
    Sampled* const sampled = Find(thread.tid);
    sampled->is_seen = true;
    Look(thread, sampled, now);
  }
  const auto is_gone = [this](const std::unique_ptr<Sampled>& sampled) {
    if (sampled->is_seen) return false;
    Close(sampled.get());
    return true;
  };
  sampled_.erase(std::remove_if(sampled_.begin(), sampled_.end(), is_gone), sampled_.end());
  before_ = now;
}

void PythonSampling::WriteLong(uint64_t now) {
  const uint64_t longest = host_->settings->ticks_per_second / kLongPartOfSecond;
  for (const auto& sampled : sampled_) {
    Sample& sample = sampled->sample;
    if (!sampled->is_open || sample.end != now || now - sample.start < longest) continue;
    ring_->Write(sample, sampled->stack.data(), static_cast<uint32_t>(sampled->stack.size()));
    sample.start = now;
  }
}

void PythonSampling::Finish() {
  // Those that ended earlier first.
  std::sort(sampled_.begin(), sampled_.end(),
            [](const auto& a, const auto& b) { return a->sample.end < b->sample.end; });
  for (const auto& sampled : sampled_) Close(sampled.get());
}

}  // namespace gpuprof::tracer
