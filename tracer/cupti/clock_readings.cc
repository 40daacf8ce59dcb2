// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/clock_readings.h"

#include <atomic>

namespace gpuprof::tracer::cupti {
namespace {

// Written by the thread that calls CUPTI, read by the drain.
constexpr uint32_t kMostReadings = 16;
ClockReading g_readings[kMostReadings];
std::atomic<uint32_t> g_readings_made{0};
std::atomic<uint32_t> g_readings_taken{0};

// CUPTI's clock sits in the middle of two readings of CLOCK_MONOTONIC, those in the middle of the
// bracket: what delays any of them makes the bracket long, and another try is taken.
ClockReading ReadClocksOnce(proto::ClockKind kind, ReadCuptiClock read) {
  ClockReading reading = {};
  reading.realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  const uint64_t before = proto::ReadTicks(kind);
  const uint64_t monotonic_before = proto::ReadClockNs(CLOCK_MONOTONIC);
  reading.cupti_ns = read();
  const uint64_t monotonic_after = proto::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t after = proto::ReadTicks(kind);
  reading.raw_ns = proto::ReadClockNs(CLOCK_MONOTONIC_RAW);
  reading.monotonic_ns = monotonic_before + (monotonic_after - monotonic_before) / 2;
  reading.ticks = before + (after - before) / 2;
  reading.bracket_ticks = after - before;
  return reading;
}

}  // namespace

void ReadClocks(proto::ClockKind kind, ReadCuptiClock read) {
  constexpr int kTries = 5;
  ClockReading best = ReadClocksOnce(kind, read);
  for (int i = 1; i < kTries; ++i) {
    const ClockReading next = ReadClocksOnce(kind, read);
    if (next.bracket_ticks < best.bracket_ticks) best = next;
  }
  const uint32_t made = g_readings_made.load(std::memory_order_relaxed);
  if (best.cupti_ns == 0 || made - g_readings_taken.load() >= kMostReadings) return;
  g_readings[made % kMostReadings] = best;
  g_readings_made.store(made + 1, std::memory_order_release);
}

bool TakeClockReading(ClockReading* reading) {
  const uint32_t taken = g_readings_taken.load(std::memory_order_relaxed);
  if (taken == g_readings_made.load(std::memory_order_acquire)) return false;
  *reading = g_readings[taken % kMostReadings];
  g_readings_taken.store(taken + 1, std::memory_order_release);
  return true;
}

}  // namespace gpuprof::tracer::cupti
