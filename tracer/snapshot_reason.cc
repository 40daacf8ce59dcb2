// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/snapshot_reason.h"

#include <cstdio>
#include <cstring>

namespace gpuprof::tracer {
namespace {

using proto::SnapshotCause;
using Number = unsigned long long;

SnapshotCause CauseOf(const proto::SnapshotNumbers& numbers) {
  return static_cast<SnapshotCause>(numbers[proto::kSnapshotCause]);
}

uint64_t ReadNumber(const char** text) {
  uint64_t value = 0;
  while (**text == ' ') ++*text;
  for (; **text >= '0' && **text <= '9'; ++*text)
    value = value * 10 + static_cast<uint64_t>(**text - '0');
  return value;
}

// "1.90 s", "463 ms". The program's locale may write another point.
void Duration(uint64_t ns, char (&words)[32]) {
  uint64_t unit = 1'000'000'000;
  const char* name = "s";
  if (ns < 1'000'000) {
    unit = 1'000;
    name = "us";
  } else if (ns < 1'000'000'000) {
    unit = 1'000'000;
    name = "ms";
  }
  const auto whole = static_cast<Number>(ns / unit);
  const auto hundredths = static_cast<unsigned>(ns % unit * 100 / unit);
  if (whole >= 100) {
    std::snprintf(words, sizeof(words), "%llu %s", whole, name);
  } else if (whole >= 10) {
    std::snprintf(words, sizeof(words), "%llu.%u %s", whole, hundredths / 10, name);
  } else {
    std::snprintf(words, sizeof(words), "%llu.%02u %s", whole, hundredths, name);
  }
}

}  // namespace

NamedRequest ReadSnapshotRequest(const char* text, int pid) {
  NamedRequest read = {};
  const size_t length = std::strcspn(text, "\n");
  std::memcpy(read.name, text, length < sizeof(read.name) ? length : sizeof(read.name) - 1);
  text += length;
  if (*text == 0) return read;
  ++text;
  for (uint64_t& number : read.numbers) number = ReadNumber(&text);
  const SnapshotCause cause = CauseOf(read.numbers);
  if (cause == SnapshotCause::kAsked || read.name[0] != 0) return read;
  std::snprintf(read.name, sizeof(read.name), "%s%llu-p%d",
                cause == SnapshotCause::kStall ? proto::kStallName : proto::kSlowStepName,
                static_cast<Number>(read.numbers[proto::kSnapshotStep]), pid);
  return read;
}

void ReasonWords(const proto::SnapshotNumbers& numbers, char* words, uint32_t bytes) {
  words[0] = 0;
  const uint64_t ns = numbers[proto::kSnapshotNs];
  const uint64_t median_ns = numbers[proto::kSnapshotMedianNs];
  const auto step = static_cast<Number>(numbers[proto::kSnapshotStep]);
  const auto missed = static_cast<Number>(numbers[proto::kMissedTriggers]);
  char taken[32], median[32];
  Duration(ns, taken);
  Duration(median_ns, median);
  int length = 0;
  if (CauseOf(numbers) == SnapshotCause::kSlowStep && median_ns != 0) {
    const auto tenths = static_cast<Number>(ns * 10 / median_ns);
    length = std::snprintf(words, bytes, "step %llu took %s, %llu.%llu times the median of %s",
                           step, taken, tenths / 10, tenths % 10, median);
  } else if (CauseOf(numbers) == SnapshotCause::kStall) {
    length = std::snprintf(words, bytes, "no step ended for %s after step %llu", taken, step);
  }
  if (length <= 0 || static_cast<uint32_t>(length) >= bytes || missed == 0) return;
  std::snprintf(words + length, bytes - static_cast<uint32_t>(length),
                " (%llu slow steps before it took no snapshot)", missed);
}

}  // namespace gpuprof::tracer
