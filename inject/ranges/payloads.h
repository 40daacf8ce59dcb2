// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The extended payloads of an event. Their bytes go into the trace as they are, before the
// program's call returns. Only handles of registered strings are looked at, because they mean
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
  uint32_t lost = 0;  // payloads that could not be found, or are too many
  Payload payload[kMost];
};

// The range or mark that has the payload.
struct PayloadPlace {
  proto::RangeKind kind;
  bool is_end;  // it came with the range's end
  uint32_t depth;
  uint32_t domain;  // string id
  uint32_t capture = 0;
};

// Writes all payloads in one group, and returns their moment. `time` is the moment. If it is 0, the
// moment is now, when everything except the time is written. With the guard held.
uint64_t WritePayloads(proto::RingHeader* ring, const Payloads& payloads, const PayloadPlace& place,
                       uint64_t time) noexcept;

}  // namespace gpuprof::inject::ranges
