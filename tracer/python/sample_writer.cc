// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/sample_writer.h"

#include <algorithm>

#include "proto/named_frame.h"
#include "proto/ticks.h"

namespace gpuprof::tracer {
namespace {

using proto::Record;
using proto::RecordKind;

// A sample that goes on is written now and then: of a process that is killed it would be missing.
constexpr uint64_t kLongestParts = 4;  // a second has so many
constexpr uint64_t kGilBytes = 256;    // its words, mutexes and conditions

struct WakeDrain {
  const Host* host;
  void operator()() const noexcept { host->wake_drain(); }
  bool Grow(proto::RingHeader* ring) const noexcept { return host->grow_ring(ring); }
  bool AwaitRoom(const proto::RingHeader*, uint64_t) const noexcept { return false; }
};

}  // namespace

SampleWriter::SampleWriter(const Host* host, const Interpreter& interpreter)
    : host_(host), python_(interpreter), names_(host, interpreter.layout, python_.reads()) {
  before_ = proto::ReadTicks(host->settings->clock);
}

SampleWriter::Sampled* SampleWriter::Find(int32_t tid) {
  for (const auto& sampled : sampled_) {
    if (sampled->tid == tid) return sampled.get();
  }
  sampled_.push_back(std::unique_ptr<Sampled>(new Sampled));
  sampled_.back()->tid = tid;
  return sampled_.back().get();
}

int32_t SampleWriter::HolderOf(uint64_t gil) const {
  for (const PythonThread& thread : threads_) {
    if (thread.gil == gil && thread.has_gil) return thread.tid;
  }
  return 0;
}

// Reads the stack of a thread into stack_, innermost frame first. False: it could not be read.
bool SampleWriter::ReadStack(const PythonThread& thread, uint64_t now) {
  stack_.clear();
  ++stacks_;
  if (!python_.Walk(thread, &frames_)) {
    ++bad_;
    return false;
  }
  for (const PythonFrame& frame : frames_) {
    const uint32_t name = names_.NameOf(frame.code, frame.bytes, frame.instruction, ring_, now);
    if (name == 0) {
      ++bad_;
      return false;
    }
    stack_.push_back(proto::NamedFrame(name));
  }
  return true;
}

void SampleWriter::Look(const PythonThread& thread, int32_t holder, Sampled* sampled,
                        uint64_t now) {
  ThreadState& state = sampled->state;
  // A number may be another thread's by now.
  if (!state.Read() && !state.Open(thread.tid)) return Close(sampled);
  uint16_t bits = proto::kSamplePython;
  if (state.runs()) bits |= proto::kSampleRuns;
  if (thread.has_gil) bits |= proto::kSampleHasGil;
  const bool waits = state.futex() >= thread.gil && state.futex() < thread.gil + kGilBytes;
  if (waits) bits |= proto::kSampleWaitsForGil;
  // In the same system call, at the same place of its stack: it has not moved.
  const bool has_rested = state.place() != 0 && state.place() == sampled->place &&
                          thread.leaf == sampled->leaf && sampled->is_open;
  sampled->place = state.place();
  sampled->leaf = thread.leaf;
  const int32_t awaited = waits ? holder : 0;
  if (!has_rested && !ReadStack(thread, now)) {
    Close(sampled);
    return;
  }
  const bool is_same = sampled->is_open && sampled->bits == bits && sampled->holder == awaited &&
                       (has_rested || sampled->stack == stack_);
  if (!is_same) {
    std::vector<uint64_t> stack = has_rested ? sampled->stack : stack_;
    Close(sampled);
    sampled->is_open = true;
    sampled->start = before_;
    sampled->bits = bits;
    sampled->holder = awaited;
    sampled->stack.swap(stack);
  }
  sampled->end = now;
}

void SampleWriter::Close(Sampled* sampled) {
  if (sampled->is_open && sampled->end > sampled->start) Write(*sampled);
  sampled->is_open = false;
}

void SampleWriter::Write(const Sampled& sampled) {
  constexpr uint32_t kMostSlots = 2 + proto::PayloadSlots(proto::kMaxStackFrames * 8) + 1;
  Record group[kMostSlots] = {};
  const auto frames = static_cast<uint32_t>(sampled.stack.size());
  uint32_t slots = 0;
  group[slots++] = {sampled.end,
                    0,
                    static_cast<uint8_t>(RecordKind::kStack),
                    0,
                    static_cast<uint16_t>(frames),
                    0,
                    frames * sizeof(uint64_t)};
  std::copy(sampled.stack.begin(), sampled.stack.end(), reinterpret_cast<uint64_t*>(group + slots));
  slots += proto::PayloadSlots(frames * sizeof(uint64_t));
  const uint64_t duration = sampled.end - sampled.start;
  const bool is_long = duration >= proto::kLongDuration;
  if (is_long)
    group[slots++] = {sampled.end, 0,       static_cast<uint8_t>(RecordKind::kDuration), 0, 0,
                      0,           duration};
  group[slots++] = {
      sampled.end,
      is_long ? proto::kLongDuration : static_cast<uint32_t>(duration),
      static_cast<uint8_t>(RecordKind::kSample),
      proto::kFlagHasStack,
      sampled.bits,
      static_cast<uint32_t>(sampled.tid) | uint64_t{static_cast<uint32_t>(sampled.holder)} << 32,
      0};
  ring_->last_time = sampled.end;
  proto::RingWriteGroup(ring_, group, slots, 1, WakeDrain{host_});
}

void SampleWriter::Tick() {
  ring_ = host_->own_ring();
  if (ring_ == nullptr) return;
  const uint64_t now = proto::ReadTicks(host_->settings->clock);
  for (const auto& sampled : sampled_) sampled->is_seen = false;
  if (!python_.List(&threads_)) {
    ++bad_;
    threads_.clear();
  }
  for (const PythonThread& thread : threads_) {
    if (thread.leaf == 0) continue;
    Sampled* const sampled = Find(thread.tid);
    sampled->is_seen = true;
    Look(thread, HolderOf(thread.gil), sampled, now);
  }
  const auto gone = [this](const std::unique_ptr<Sampled>& sampled) {
    if (sampled->is_seen) return false;
    Close(sampled.get());
    return true;
  };
  sampled_.erase(std::remove_if(sampled_.begin(), sampled_.end(), gone), sampled_.end());
  // At last, so that the ends of samples stay in their order.
  const uint64_t longest = host_->settings->ticks_per_second / kLongestParts;
  for (const auto& sampled : sampled_) {
    if (!sampled->is_open || sampled->end != now || now - sampled->start < longest) continue;
    Write(*sampled);
    sampled->start = now;
  }
  before_ = now;
}

void SampleWriter::Finish() {
  ring_ = host_->own_ring();
  if (ring_ == nullptr) return;
  // Those that ended earlier first.
  std::sort(sampled_.begin(), sampled_.end(),
            [](const auto& a, const auto& b) { return a->end < b->end; });
  for (const auto& sampled : sampled_) Close(sampled.get());
}

}  // namespace gpuprof::tracer
