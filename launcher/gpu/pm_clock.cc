// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pm_clock.h.

#include "launcher/gpu/pm_clock.h"

#include <cstdlib>

#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

// No clock drifts so far between two readings: it was set.
constexpr int64_t kMostDriftNs = 1'000'000;
constexpr int kTries = 5;

}  // namespace

void PmClock::Add(uint64_t cupti_ns, uint64_t monotonic_ns) {
  before_ = pairs_ == 0 ? Pair{cupti_ns, monotonic_ns} : now_;
  now_ = {cupti_ns, monotonic_ns};
  ++pairs_;
}

// The offset at that time, evenly between those of the two readings.
int64_t PmClock::Drifted(uint64_t cupti_ns) const {
  const int64_t drift = now_.offset() - before_.offset();
  if (now_.cupti_ns <= before_.cupti_ns) return now_.offset();
  const auto since = static_cast<double>(static_cast<int64_t>(cupti_ns - before_.cupti_ns));
  const auto whole = static_cast<double>(now_.cupti_ns - before_.cupti_ns);
  return before_.offset() + static_cast<int64_t>(static_cast<double>(drift) * (since / whole));
}

bool PmClock::ToMonotonic(uint64_t cupti_ns, uint64_t earliest, uint64_t latest,
                          uint64_t* monotonic_ns) const {
  const auto fits = [&](int64_t offset) {
    *monotonic_ns = cupti_ns + static_cast<uint64_t>(offset);
    return *monotonic_ns >= earliest && *monotonic_ns <= latest;
  };
  if (pairs_ == 0) return false;
  if (std::llabs(now_.offset() - before_.offset()) <= kMostDriftNs) return fits(Drifted(cupti_ns));
  return fits(before_.offset()) || fits(now_.offset());
}

bool ReadPmClock(ReadCuptiClock read, const void* context, PmClock* clock) {
  uint64_t best = UINT64_MAX, cupti_ns = 0, monotonic_ns = 0;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = proto::ReadClockNs(CLOCK_MONOTONIC);
    const uint64_t told = read(context);
    const uint64_t bracket = proto::ReadClockNs(CLOCK_MONOTONIC) - before;
    if (told == 0 || bracket >= best) continue;
    best = bracket;
    cupti_ns = told;
    monotonic_ns = before + bracket / 2;
  }
  if (best == UINT64_MAX) return false;
  clock->Add(cupti_ns, monotonic_ns);
  return true;
}

}  // namespace gpuprof::launcher
