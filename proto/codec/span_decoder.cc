// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_decoder.h.

#include "proto/codec/span_decoder.h"

#include "proto/codec/span_history.h"

namespace gpuprof::codec {

bool DecodeSpans(const SpanFrame& frame, const uint64_t* key, const uint64_t* rounding_error,
                 uint64_t* end, uint64_t* duration, uint32_t count) {
  SpanClock clock(frame.base_time, frame.tick);
  SpanHistory history;
  const uint64_t range = frame.last_time - frame.first_time;
  bool bad = false;
  for (uint32_t i = 0; i < count; ++i) {
    history.Enter(key[i]);
    const uint64_t gap = end[i] + (frame.are_gaps_predicted ? history.gap() : 0);
    const uint64_t ticks = duration[i] + history.duration();
    history.Note(gap, ticks);
    uint64_t start_error = 0, end_error = 0;
    if (rounding_error != nullptr && rounding_error[i] != 0)
      clock.Split(rounding_error[i], &start_error, &end_error);
    const uint64_t started = clock.Advance(gap, start_error);
    const uint64_t ended = clock.Advance(ticks, end_error);
    bad |=
        started - frame.first_time > range || ended - frame.first_time > range || ended < started;
    end[i] = ended << frame.time_shift;
    duration[i] = (ended - started) << frame.time_shift;
  }
  return !bad;
}

}  // namespace gpuprof::codec
