// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/rate_budget.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// A clock that was set back by more than this begins a new window.
constexpr uint64_t kMostLate = 10 * kSecond;

// Ids count up, and programs repeat themselves: a mix that knows neither.
uint32_t Mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// The least N, as a power of two, at which `seen` in `elapsed` stay within the limit.
uint32_t Log2For(uint64_t seen, uint64_t elapsed, uint64_t limit) {
  const double rate = static_cast<double>(seen) * kSecond / static_cast<double>(elapsed);
  uint32_t log2 = 0;
  for (double most = static_cast<double>(limit); most < rate && log2 < RateBudget::kMostLog2;
       most *= 2)
    ++log2;
  return log2;
}

}  // namespace

bool RateBudget::Chooses(Class of, uint32_t correlation, uint64_t time) {
  State& state = classes_[of];
  ++state.records;
  ++state.seen;
  if (correlation == 0) correlation = ++state.without_call;
  const uint32_t mask = (uint32_t{1} << Log2(of)) - 1;
  const bool is_kept = (Mix(correlation) & mask) == 0;
  is_kept ? ++state.kept : ++state.left_out;
  if (state.limit != 0) Watch(&state, time);
  return is_kept;
}

void RateBudget::Watch(State* state, uint64_t time) {
  if (state->window_start == 0 || time + kMostLate < state->window_start) {
    state->window_start = time;
    state->seen = state->kept = 0;
  } else if (time >= state->window_start + kWindow) {
    EndWindow(state, time);
  } else if (state->kept > state->limit * kWindow / kSecond) {
    // Not to wait for the window's end, at which it may be too late for the disk.
    state->kept = 0;
    state->wanted_log2 = std::min(state->log2 + 1, kMostLog2);
  }
}

void RateBudget::EndWindow(State* state, uint64_t time) {
  const uint64_t elapsed = time - state->window_start;
  const uint32_t needed = Log2For(state->seen, elapsed, state->limit);
  // Down only where there is room to spare, so that N does not change with every window.
  const uint32_t with_room = Log2For(state->seen, elapsed, state->limit - state->limit / 4);
  if (needed > state->log2) state->wanted_log2 = needed;
  if (needed <= state->log2) state->wanted_log2 = std::min(with_room, state->log2);
  state->window_start = time;
  state->seen = state->kept = 0;
}

bool RateBudget::WantsChange() const {
  for (const State& state : classes_) {
    if (state.wanted_log2 != state.log2) return true;
  }
  return false;
}

void RateBudget::Adapt() {
  for (State& state : classes_) {
    state.log2 = state.wanted_log2;
  }
  for (const Class of : {kCalls, kNodes})
    classes_[of].most_log2 = std::max(classes_[of].most_log2, Log2(of));
}

}  // namespace gpuprof::tracer::cupti
