// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which of the driver's calls are the program's own. The runtime makes its calls of the driver
// inside its own functions, under the same correlation id, and CUPTI tells of both: the inner one
// is not recorded, so that work on the device has one call that began it. As records come in any
// order, a driver's call is held until the call around it would have come: until its thread has
// made another one, and what CUPTI had delivered by then has been read. Found by correlation id, in
// constant time: nearly every launch of a program of the runtime's passes here.
//
// One thread at a time (the drain's pass).

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracer/cupti/place_index.h"

namespace gpuprof::tracer::cupti {

struct ApiCall {
  uint64_t start = 0, end = 0;  // on CUPTI's clock
  uint32_t tid = 0;
  uint32_t correlation = 0;
  uint32_t function = 0;
  uint32_t result = 0;
};

class DriverCalls {
 public:
  static constexpr uint32_t kMost = 1u << 16;
  // Threads whose newest call is known; of more only those are that have one held.
  static constexpr size_t kManyThreads = 1024;

  // A buffer's calls. What is inside of a call of the runtime's is forgotten.
  void Take(const std::vector<ApiCall>& runtime, const std::vector<ApiCall>& driver);

  // After each pass over what was delivered. Appends those that are the program's own; with `all`
  // every one that is left. `now` and `limit` in ticks: none is held for longer.
  void Release(uint64_t now, uint64_t limit, bool all, std::vector<ApiCall>* out);

  uint64_t held() const { return held_.size(); }
  size_t threads() const { return newest_.size(); }
  uint64_t memory_bytes() const;

 private:
  struct Held {
    ApiCall call;
    uint64_t since = 0;  // ticks; 0: of this pass
    uint32_t next = 0;   // in its bucket, as in first_
    bool is_inner = false;
  };
  // The call of a thread that began last.
  struct Newest {
    uint32_t tid, correlation;
    uint64_t start;
    bool is_wanted = false;  // by a call that is held
  };
  // The newest calls of the runtime. What is inside of one that is here is not even held; a buffer
  // may have more of them than find room.
  struct Seen {
    uint32_t tid = 0, correlation = 0;
    uint64_t start = 0, end = 0;
  };
  static constexpr uint32_t kSeen = 8192;
  static constexpr uint32_t kBuckets = 16384;

  void Hold(const ApiCall& call);
  void Forget(const ApiCall& runtime);
  void Link(uint32_t index);
  void NoteNewest(const ApiCall& call);
  bool IsFollowed(const ApiCall& call);
  // Null: its calls are not known, or not any longer, and no `first` of them is given.
  Newest* NewestOf(uint32_t tid, const ApiCall* first);
  void ForgetThreads();
  void ReleaseHeld(uint64_t now, uint64_t limit, bool all, std::vector<ApiCall>* out);

  std::vector<Held> held_;
  std::vector<uint32_t> first_;  // index in held_ + 1 by correlation, modulo its size; 0: none
  std::vector<Newest> newest_;
  PlaceIndex newest_index_;  // by tid
  std::vector<Seen> seen_;   // by correlation, modulo its size
  uint32_t last_newest_ = PlaceIndex::kNone;
};

}  // namespace gpuprof::tracer::cupti
