// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/driver_calls.h"

#include <algorithm>

namespace gpuprof::tracer::cupti {
namespace {

template <typename Outer>
bool IsInside(const ApiCall& call, const Outer& outer) {
  return call.tid == outer.tid && call.correlation == outer.correlation &&
         call.start >= outer.start && call.end <= outer.end;
}

}  // namespace

DriverCalls::Newest* DriverCalls::NewestOf(uint32_t tid) {
  if (last_newest_ < newest_.size() && newest_[last_newest_].tid == tid)
    return &newest_[last_newest_];
  for (last_newest_ = 0; last_newest_ < newest_.size(); ++last_newest_) {
    if (newest_[last_newest_].tid == tid) return &newest_[last_newest_];
  }
  newest_.push_back({tid, 0, 0});
  return &newest_.back();
}

void DriverCalls::NoteNewest(const ApiCall& call) {
  Newest* newest = NewestOf(call.tid);
  if (call.start >= newest->start) *newest = {call.tid, call.correlation, call.start};
}

bool DriverCalls::IsFollowed(const ApiCall& call) {
  const Newest* newest = NewestOf(call.tid);
  return newest->start >= call.end && newest->correlation != call.correlation;
}

void DriverCalls::Link(uint32_t index) {
  uint32_t& first = first_[held_[index].call.correlation % kBuckets];
  held_[index].next = first;
  first = index + 1;
}

void DriverCalls::Hold(const ApiCall& call) {
  NoteNewest(call);
  if (!seen_.empty() && IsInside(call, seen_[call.correlation % kSeen])) return;
  if (first_.empty()) first_.resize(kBuckets);
  held_.push_back({.call = call});
  Link(static_cast<uint32_t>(held_.size() - 1));
}

void DriverCalls::Forget(const ApiCall& runtime) {
  NoteNewest(runtime);
  if (seen_.empty()) seen_.resize(kSeen);
  seen_[runtime.correlation % kSeen] = {runtime.tid, runtime.correlation, runtime.start,
                                        runtime.end};
  if (held_.empty()) return;
  for (uint32_t at = first_[runtime.correlation % kBuckets]; at != 0;) {
    Held& held = held_[at - 1];
    held.is_inner |= IsInside(held.call, runtime);
    at = held.next;
  }
}

void DriverCalls::Release(uint64_t now, uint64_t limit, bool all, std::vector<ApiCall>* out) {
  if (held_.empty()) return;
  all |= held_.size() > kMost;
  size_t kept = 0;
  for (Held& held : held_) {
    if (held.is_inner) continue;
    // One that this pass brought may have the call around it in what comes next.
    const bool is_new = held.since == 0;
    if (is_new) held.since = now;
    if (all || now - held.since > limit || (!is_new && IsFollowed(held.call))) {
      out->push_back(held.call);
    } else {
      held_[kept++] = held;
    }
  }
  held_.resize(kept);
  std::fill(first_.begin(), first_.end(), 0);
  for (uint32_t i = 0; i < kept; ++i) Link(i);
}

uint64_t DriverCalls::memory_bytes() const {
  return held_.capacity() * sizeof(Held) + first_.capacity() * sizeof(uint32_t) +
         newest_.capacity() * sizeof(Newest) + seen_.capacity() * sizeof(Seen);
}

}  // namespace gpuprof::tracer::cupti
