// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See calling_threads.h.

#include "tracer/cupti/calling_threads.h"

namespace gpuprof::tracer::cupti {
namespace {

// Longer than a call is held: its thread may be found by nothing else then.
constexpr uint64_t kOldThread = 30'000'000'000;  // on CUPTI's clock

void GiveUp(codec::SpanBuffer** buffer, std::vector<const codec::SpanBuffer*>* unused) {
  if (*buffer != nullptr) unused->push_back(*buffer);
  *buffer = nullptr;
}

}  // namespace

CallingThread* CallingThreads::Find(uint32_t tid, uint64_t time) {
  last_ = index_.Find(tid, [&](uint32_t place) { return IsIt(threads_[place], tid, time); });
  if (last_ == PlaceIndex::kNone) {
    const ThreadTracks::Answer answer = tracks_->TrackAt(tid, time);
    last_ = index_.Find(tid, [&](uint32_t place) {
      return threads_[place].tid == tid && threads_[place].track == answer.track;
    });
    if (last_ == PlaceIndex::kNone) {
      last_ = static_cast<uint32_t>(threads_.size());
      threads_.push_back({.tid = tid, .track = answer.track, .since = 0, .until = 0});
      index_.Add(tid, last_);
    }
    threads_[last_].since = answer.since;
    threads_[last_].until = answer.until;
  }
  threads_[last_].used = written_;
  return &threads_[last_];
}

void CallingThreads::RowsAreWritten(std::vector<const codec::SpanBuffer*>* unused) {
  last_ = PlaceIndex::kNone;  // the next use is noted
  const uint32_t now = written_++;
  if (threads_.size() <= kMany) return;
  for (CallingThread& thread : threads_) {
    if (thread.used == now) continue;
    GiveUp(&thread.calls, unused);
    GiveUp(&thread.overheads, unused);
  }
  const bool are_too_many = threads_.size() > kMostKnown;
  const uint32_t old = are_too_many ? MedianUse(threads_) : 0;
  const size_t forgotten = std::erase_if(threads_, [&](const CallingThread& thread) {
    if (thread.used == now) return false;
    const bool is_over = thread.until < newest_ && newest_ - thread.until > kOldThread;
    return is_over || (are_too_many && thread.used <= old);
  });
  if (forgotten == 0) return;
  index_.Clear();
  for (uint32_t i = 0; i < threads_.size(); ++i) index_.Add(threads_[i].tid, i);
}

uint64_t CallingThreads::memory_bytes() const {
  return threads_.capacity() * sizeof(CallingThread) + index_.memory_bytes();
}

}  // namespace gpuprof::tracer::cupti
