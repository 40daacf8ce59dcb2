// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When CUDA events were recorded. CUPTI's record of it tells no time, unless the device is asked to
// take one each time; the call that it was done by has one, and the same correlation id. Records
// come in any order: whichever of the two comes first waits for the other, for a limited time.
//
// One thread at a time (the drain's pass).

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::tracer::cupti {

struct EventRecording {
  uint32_t correlation = 0;
  uint32_t device = 0, context = 0, stream = 0;
  uint32_t event = 0;
  uint64_t record = 0;  // CUPTI's cudaEventSyncId; 0: not told
  uint64_t time = 0;    // on CUPTI's clock, when the call began
};

class EventTimes {
 public:
  // Of each that may wait at most.
  static constexpr size_t kMost = 1u << 16;

  // Without its time.
  void Take(const EventRecording& recording);
  // A call that records an event.
  void TakeCall(uint32_t correlation, uint64_t start);

  // After each pass over what was delivered: appends those whose call has come. Returns how many
  // are given up, as theirs has not: for longer than `limit`, for want of room or, with `all`, yet.
  // `now` and `limit` in ticks.
  uint64_t Release(uint64_t now, uint64_t limit, bool all, std::vector<EventRecording>* out);

  uint64_t held() const { return recordings_.size() + calls_.size(); }
  uint64_t memory_bytes() const;

 private:
  struct Held {
    EventRecording recording;
    uint64_t since = 0;  // ticks; 0: of this pass
  };
  struct Call {
    uint64_t start = 0;
    uint64_t since = 0;
    uint32_t correlation = 0;
    bool is_matched = false;
  };

  void Join(std::vector<EventRecording>* out);

  // In no order; by correlation after Join.
  std::vector<Held> recordings_;
  std::vector<Call> calls_;
  bool has_news_ = false;
  bool has_new_ = false;  // whose `since` is not set
  uint64_t oldest_ = 0;   // the least `since`
};

}  // namespace gpuprof::tracer::cupti
