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

// One whose thread has none yet is its newest at once.
DriverCalls::Newest* DriverCalls::NewestOf(uint32_t tid, const ApiCall* first) {
  if (last_newest_ != PlaceIndex::kNone && newest_[last_newest_].tid == tid)
    return &newest_[last_newest_];
  last_newest_ = newest_index_.Find(tid, [&](uint32_t place) { return newest_[place].tid == tid; });
  if (last_newest_ == PlaceIndex::kNone) {
    if (first == nullptr) return nullptr;
    last_newest_ = static_cast<uint32_t>(newest_.size());
    newest_.push_back({tid, first->correlation, first->start});
    newest_index_.Add(tid, last_newest_);
  }
  return &newest_[last_newest_];
}

[[gnu::always_inline]] inline void DriverCalls::NoteNewest(const ApiCall& call) {
  const bool is_last = last_newest_ != PlaceIndex::kNone && newest_[last_newest_].tid == call.tid;
  Newest* newest = is_last ? &newest_[last_newest_] : NewestOf(call.tid, &call);
  if (call.start < newest->start) return;
  newest->correlation = call.correlation;
  newest->start = call.start;
}

bool DriverCalls::IsFollowed(const ApiCall& call) {
  const Newest* newest = NewestOf(call.tid, nullptr);
  return newest != nullptr && newest->start >= call.end && newest->correlation != call.correlation;
}

// Programs may make a thread for each call. Where a call of one comes after its thread was
// forgotten, it is held until the thread makes another, or for as long as any is.
void DriverCalls::ForgetThreads() {
  for (const Held& held : held_) {
    if (Newest* newest = NewestOf(held.call.tid, nullptr); newest != nullptr)
      newest->is_wanted = true;
  }
  std::erase_if(newest_, [](const Newest& newest) { return !newest.is_wanted; });
  newest_index_.Clear();
  last_newest_ = PlaceIndex::kNone;
  for (uint32_t i = 0; i < newest_.size(); ++i) {
    newest_[i].is_wanted = false;
    newest_index_.Add(newest_[i].tid, i);
  }
}

void DriverCalls::Link(uint32_t index) {
  uint32_t& first = first_[held_[index].call.correlation % kBuckets];
  held_[index].next = first;
  first = index + 1;
}

void DriverCalls::Hold(const ApiCall& call) {
  NoteNewest(call);
  if (first_.empty()) first_.resize(kBuckets);
  held_.push_back({.call = call});
  Link(static_cast<uint32_t>(held_.size() - 1));
}

void DriverCalls::Take(const std::vector<ApiCall>& runtime, const std::vector<ApiCall>& driver) {
  if (seen_.empty()) seen_.resize(kSeen);
  for (const ApiCall& call : runtime) {
    NoteNewest(call);
    seen_[call.correlation % kSeen] = {call.tid, call.correlation, call.start, call.end};
  }
  for (const ApiCall& call : driver) {
    // What is inside of a call begins no later one.
    if (!IsInside(call, seen_[call.correlation % kSeen])) Hold(call);
  }
  // Earlier ones, and those whose call around found no room among the newest.
  if (held_.empty()) return;
  for (const ApiCall& call : runtime) Forget(call);
}

void DriverCalls::Forget(const ApiCall& runtime) {
  for (uint32_t at = first_[runtime.correlation % kBuckets]; at != 0;) {
    Held& held = held_[at - 1];
    held.is_inner |= IsInside(held.call, runtime);
    at = held.next;
  }
}

void DriverCalls::Release(uint64_t now, uint64_t limit, bool all, std::vector<ApiCall>* out) {
  if (!held_.empty()) ReleaseHeld(now, limit, all, out);
  if (newest_.size() > kManyThreads) ForgetThreads();
}

void DriverCalls::ReleaseHeld(uint64_t now, uint64_t limit, bool all, std::vector<ApiCall>* out) {
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
         newest_.capacity() * sizeof(Newest) + newest_index_.memory_bytes() +
         seen_.capacity() * sizeof(Seen);
}

}  // namespace gpuprof::tracer::cupti
