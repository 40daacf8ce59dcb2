// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See span_decoder.h.

#include "proto/codec/span_decoder.h"

#include "proto/codec/span_history.h"

namespace gpuprof::codec {
namespace {

// Where ticks have no fraction and no time was rounded, a clock only adds.
class WholeTicks {
 public:
  explicit WholeTicks(const SpanFrame& frame) : at_(frame.base_time), tick_(frame.tick.tick) {}
  uint64_t Advance(uint64_t ticks, uint64_t /*error*/) { return at_ += ticks * tick_; }
  void Split(uint64_t, uint64_t*, uint64_t*) const {}

 private:
  uint64_t at_;
  uint64_t tick_;
};

template <typename Clock>
bool DecodeTimes(const SpanFrame& frame, Clock clock, const uint64_t* rounding_error, uint64_t* end,
                 uint64_t* duration, uint32_t count) {
  const uint64_t range = frame.last_time - frame.first_time;
  bool bad = false;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t start_error = 0, end_error = 0;
    if (rounding_error != nullptr && rounding_error[i] != 0)
      clock.Split(rounding_error[i], &start_error, &end_error);
    const uint64_t started = clock.Advance(end[i], start_error);
    const uint64_t ended = clock.Advance(duration[i], end_error);
    bad |=
        started - frame.first_time > range || ended - frame.first_time > range || ended < started;
    end[i] = ended << frame.time_shift;
    duration[i] = (ended - started) << frame.time_shift;
  }
  return !bad;
}

}  // namespace

bool DecodeSpans(const SpanFrame& frame, const uint64_t* key, const uint64_t* rounding_error,
                 uint64_t* end, uint64_t* duration, uint32_t count) {
  SpanHistory history;
  history.Restore(count, key, frame.are_gaps_predicted, end, duration);
  if (frame.tick.fraction == 0 && rounding_error == nullptr)
    return DecodeTimes(frame, WholeTicks(frame), nullptr, end, duration, count);
  return DecodeTimes(frame, SpanClock(frame.base_time, frame.tick), rounding_error, end, duration,
                     count);
}

}  // namespace gpuprof::codec
