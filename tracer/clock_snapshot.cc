// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/clock_snapshot.h"

#include "proto/codec/tables.h"

namespace gpuprof::tracer {
namespace {

constexpr int kTries = 5;

struct Snapshot {
  uint64_t ticks;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t raw_ns;
  uint64_t bracket;
};

// Monotonic, which everything is measured by, sits in the middle of the bracket; the others are
// read beside it.
Snapshot TakeOne(proto::ClockKind kind) {
  Snapshot snapshot;
  snapshot.realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  const uint64_t before = proto::ReadTicks(kind);
  snapshot.monotonic_ns = proto::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t after = proto::ReadTicks(kind);
  snapshot.raw_ns = proto::ReadClockNs(CLOCK_MONOTONIC_RAW);
  snapshot.ticks = before + (after - before) / 2;
  snapshot.bracket = after - before;
  return snapshot;
}

}  // namespace

void AppendClockSnapshot(proto::ClockKind kind, std::vector<uint8_t>* out) {
  Snapshot best = TakeOne(kind);
  for (int i = 1; i < kTries; ++i) {
    const Snapshot next = TakeOne(kind);
    if (next.bracket < best.bracket) best = next;
  }
  codec::PbWriter writer(out);
  const uint64_t mark = writer.Begin(1);
  writer.Fixed64(1, best.ticks);
  writer.Fixed64(2, best.monotonic_ns);
  writer.Fixed64(3, best.realtime_ns);
  writer.Varint(4, best.bracket < UINT32_MAX ? best.bracket : UINT32_MAX);
  writer.Fixed64(5, best.raw_ns);
  writer.End(mark);
}

}  // namespace gpuprof::tracer
