// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/rate_budget.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
// So many records in a row that are older than what is kept: the clock was set back.
constexpr uint64_t kManyLate = 1000;
// Ids further apart are of a counter that began anew, when there are so many in a row; one alone is
// a damaged record.
constexpr int32_t kFar = 1 << 24;
constexpr uint32_t kManyFar = 64;

// Ids count up, and programs repeat themselves: a mix that knows neither.
uint32_t Mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// The least N, as a power of two, at which so many in a window stay within the limit.
uint32_t Log2For(uint64_t seen, uint64_t limit) {
  uint32_t log2 = 0;
  while (log2 < RateBudget::kMostLog2 && (seen >> log2) > limit * RateBudget::kWindow / kSecond)
    ++log2;
  return log2;
}

}  // namespace

void RateBudget::SetSeed(uint32_t seed) { seed_ = Mix(seed); }

uint32_t RateBudget::FindStep(const State& state, uint32_t correlation) {
  const uint32_t remembered = std::min(state.steps_made, kSteps);
  for (uint32_t back = 1; back <= remembered; ++back) {
    const Step& step = state.steps[(state.steps_made - back) % kSteps];
    if (static_cast<int32_t>(correlation - step.from) >= 0) return step.log2;
  }
  return state.first_log2;
}

void RateBudget::NoteId(uint32_t correlation) {
  if (correlation == 0) return;
  const auto ahead = static_cast<int32_t>(correlation - newest_id_);
  if (newest_id_ == 0 || (ahead > 0 && ahead < kFar)) newest_id_ = correlation;
  if (ahead > -kFar && ahead < kFar) {
    far_ids_ = 0;
  } else if (++far_ids_ == kManyFar) {
    far_ids_ = 0;
    newest_id_ = correlation;
    for (State& state : classes_) {
      state.first_log2 = state.log2;
      state.steps_made = 0;
    }
  }
}

bool RateBudget::Chooses(Class of, uint32_t correlation, uint64_t time) {
  State& state = classes_[of];
  ++state.records;
  const uint32_t mask = (uint32_t{1} << Log2At(of, correlation)) - 1;
  NoteId(correlation);
  const bool is_kept =
      (Mix((correlation != 0 ? correlation : ++state.without_call) ^ seed_) & mask) == 0;
  if (!is_kept) ++state.left_out;
  if (state.limit != 0) Watch(&state, time / kWindow);
  return is_kept;
}

void RateBudget::Watch(State* state, uint64_t number) {
  if (number + kKept <= state->newest) {
    if (++state->too_late < kManyLate) return;
    for (Window& window : state->windows) window = {};
    state->newest = 0;
  }
  state->too_late = 0;
  Window& window = state->windows[number % kKept];
  if (window.number != number) window = {number, 0};
  ++window.seen;
  const bool is_newer = number > state->newest;
  if (is_newer) state->newest = number;
  // What a window has so far is the least that it will have.
  const uint32_t needed = Log2For(window.seen, state->limit);
  if (needed > state->wanted_log2) state->wanted_log2 = needed;
  if (!is_newer || state->wanted_log2 == 0) return;
  // Down only where there is room to spare, so that N does not change with every window.
  const uint32_t with_room = Needed(*state, state->limit - state->limit / 4);
  state->wanted_log2 = std::min(state->wanted_log2, with_room);
}

// By the fullest of the recent windows.
uint32_t RateBudget::Needed(const State& state, uint64_t limit) {
  uint64_t most = 0;
  for (const Window& window : state.windows) {
    if (window.number + kRecent > state.newest && window.seen > most) most = window.seen;
  }
  return Log2For(most, limit);
}

bool RateBudget::WantsChange() const {
  for (const State& state : classes_) {
    if (state.wanted_log2 != state.log2) return true;
  }
  return false;
}

void RateBudget::Adapt() {
  for (State& state : classes_) {
    if (state.log2 == state.wanted_log2) continue;
    Step& step = state.steps[state.steps_made++ % kSteps];
    if (state.steps_made > kSteps) state.first_log2 = step.log2;
    step = {newest_id_ + 1, state.wanted_log2};
    state.log2 = state.wanted_log2;
  }
  for (const Class of : {kCalls, kNodes})
    classes_[of].most_log2 = std::max(classes_[of].most_log2, Log2(of));
}

}  // namespace gpuprof::tracer::cupti
