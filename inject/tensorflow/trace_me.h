// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A mark of TensorFlow for its own profiler, as the library hands it over: a name and two times.
// Read only. The caller owns it.
//
// A name is a head, and values between two '#' if it has some:
// "EagerExecute#eager_op=Mul,is_func=0#". Any thread, hooks; no allocation.

#pragma once

#include <string.h>

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::tensorflow {

// tsl::profiler::TraceMeRecorder::Event, as far as it is read. The name is a std::string of
// libstdc++ with the new ABI: pointer and length come first.
struct TraceMe {
  const char* name;
  size_t name_bytes;
  char name_rest[16];
  int64_t start_ns;  // CLOCK_REALTIME; negative: an end, of the activity with this number negated
  int64_t end_ns;    // negative: a start, of the activity with this number negated
};
static_assert(sizeof(TraceMe) == 48);

struct NameParts {
  uint32_t head_bytes;
  const char* values;  // null: there are none
  uint32_t value_bytes;
};

// Splits a name. `most`: bytes of values that are kept.
inline NameParts SplitName(const char* name, size_t bytes, uint32_t most) noexcept {
  const auto* mark = static_cast<const char*>(memchr(name, '#', bytes));
  const auto rest = mark == nullptr ? 0 : static_cast<size_t>(name + bytes - mark - 1);
  // A name may contain '#' without values.
  if (rest < 2 || name[bytes - 1] != '#') return {static_cast<uint32_t>(bytes), nullptr, 0};
  size_t kept = rest - 1;
  if (kept > most) {
    // A value that does not fit is left out, as a rule whole.
    for (kept = most; kept != 0 && mark[1 + kept] != ',';) --kept;
  }
  return {static_cast<uint32_t>(mark - name), kept == 0 ? nullptr : mark + 1,
          static_cast<uint32_t>(kept)};
}

}  // namespace gpuprof::inject::tensorflow
