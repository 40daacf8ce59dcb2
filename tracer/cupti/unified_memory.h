// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The kind UNIFIED_MEMORY_COUNTER (`--trace um`): which counters, when, and why not. CUPTI wants
// them configured before the kind is enabled, and after the driver was initialised: in a capture
// that begins inside the program's cuInit it is tried there, and where that fails once more later.
// The first generation of the interface alone can configure them.
//
// The thread that calls CUPTI, one at a time.

#pragma once

#include <cstdint>

#include "tracer/cupti/library.h"
#include "tracer/cupti/subscriber.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

class UnifiedMemory {
 public:
  // A capture begins; with `is_asked` they are wanted in it.
  void Begin(bool is_asked) { state_ = is_asked ? kWaiting : kOff; }
  // They are wanted, and it has not been settled whether they are to be had.
  bool is_waiting() const { return state_ == kWaiting; }
  // With `is_final` the answer settles it, and what is refused is said. True: enabled now, which
  // has undone choices of single calls.
  bool Enable(const Host& host, const Functions& functions, Subscriber* subscriber, bool is_final);
  // The capture ends.
  void Disable(const Host& host, Subscriber* subscriber);

 private:
  enum State : uint32_t { kOff, kWaiting, kOn };

  State state_ = kOff;
};

}  // namespace gpuprof::tracer::cupti
