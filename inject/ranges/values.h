// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of a range's payload: as they were read at its begin, and as they are kept until its end.

#pragma once

#include <cstdint>

#include "inject/ranges/messages.h"
#include "proto/record.h"

namespace gpuprof::inject::ranges {

// Of one range. More are counted and left out.
inline constexpr uint32_t kMostValues = 16;

struct Value {
  Text* name;
  Text* text;  // of kText; null: an empty one
  uint64_t bits;
  proto::RangeValue type;
};

struct Values {
  uint32_t count;
  Value value[kMostValues];
};

// With ids of strings, which are defined in the file.
struct KeptValue {
  uint64_t bits;
  uint32_t name;
  proto::RangeValue type;
};

struct KeptValues {
  uint32_t count;
  KeptValue value[kMostValues];
};

}  // namespace gpuprof::inject::ranges
