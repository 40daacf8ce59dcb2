// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The extended payloads of an event: their bytes go into the trace as they are, while the call that
// brings them lasts. No value is looked at, but for handles of registered strings, which mean
// nothing outside of the process. Pointers are not followed.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "proto/record.h"

namespace gpuprof::inject::ranges {

struct Payload {
  Text* definition;  // null: the type is a predefined one
  uint32_t type;
  uint32_t bytes;
  const char* data;
  bool has_handles;
};

struct Payloads {
  static constexpr uint32_t kMost = 16;
  uint32_t count = 0;
  uint32_t lost = 0;  // payloads that are not among these
  Payload payload[kMost];
};

// The range or mark that a payload is of.
struct PayloadPlace {
  proto::RangeKind kind;
  bool is_end;  // it came with the range's end
  uint32_t depth;
  uint32_t domain;  // string id
  uint32_t capture = 0;
};

// Writes all in one group. `time`: the moment they are of; 0: now, once all is written but the
// time. Returns the moment. With the guard held.
uint64_t WritePayloads(proto::RingHeader* ring, const Payloads& payloads, const PayloadPlace& place,
                       uint64_t time) noexcept;

}  // namespace gpuprof::inject::ranges
