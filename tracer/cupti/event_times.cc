// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/event_times.h"

#include <algorithm>

namespace gpuprof::tracer::cupti {

void EventTimes::Take(const EventRecording& recording) {
  recordings_.push_back({recording});
  has_news_ = has_new_ = true;
}

void EventTimes::TakeCall(uint32_t correlation, uint64_t start) {
  calls_.push_back({.start = start, .correlation = correlation});
  has_news_ = has_new_ = true;
}

// Appends the recordings that have a call, and removes both.
void EventTimes::Join(std::vector<EventRecording>* out) {
  // Calls alone wait unsorted: some libraries tell of no recording.
  if (!has_news_ || recordings_.empty()) return;
  has_news_ = false;
  std::sort(recordings_.begin(), recordings_.end(), [](const Held& x, const Held& y) {
    return x.recording.correlation < y.recording.correlation;
  });
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& x, const Call& y) { return x.correlation < y.correlation; });
  size_t kept = 0, at = 0;
  for (Held& held : recordings_) {
    EventRecording& recording = held.recording;
    while (at < calls_.size() && calls_[at].correlation < recording.correlation) ++at;
    if (at < calls_.size() && calls_[at].correlation == recording.correlation) {
      calls_[at].is_matched = true;
      recording.time = calls_[at].start;
      out->push_back(recording);
    } else {
      recordings_[kept++] = held;
    }
  }
  recordings_.resize(kept);
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(),
                              [](const Call& call) { return call.is_matched; }),
               calls_.end());
}

uint64_t EventTimes::Release(uint64_t now, uint64_t limit, bool all,
                             std::vector<EventRecording>* out) {
  Join(out);
  if (held() == 0 || (!all && !has_new_ && now - oldest_ <= limit)) return 0;
  has_new_ = false;
  oldest_ = now;
  const uint64_t before = recordings_.size();
  const auto is_over = [&](auto& held) {
    if (held.since == 0) held.since = now;
    if (all || now - held.since > limit) return true;
    oldest_ = std::min(oldest_, held.since);
    return false;
  };
  if (recordings_.size() > kMost) recordings_.clear();
  recordings_.erase(std::remove_if(recordings_.begin(), recordings_.end(), is_over),
                    recordings_.end());
  // Those of events that were recorded before the capture, or of a library that tells of none.
  if (calls_.size() > kMost) calls_.clear();
  calls_.erase(std::remove_if(calls_.begin(), calls_.end(), is_over), calls_.end());
  return before - recordings_.size();
}

uint64_t EventTimes::memory_bytes() const {
  return recordings_.capacity() * sizeof(Held) + calls_.capacity() * sizeof(Call);
}

}  // namespace gpuprof::tracer::cupti
