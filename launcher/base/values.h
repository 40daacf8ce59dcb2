// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the values that recording settings take: sizes, durations, signals, captures, source lists.
// Each Parse function returns an empty string and fills its result, or returns what is wrong and
// what to write instead. Pure; never prints.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/contract.h"

namespace gpuprof::launcher {

std::vector<std::string> Split(std::string_view text, char separator);

// Reads 65536, 512KiB, 32MiB, 1G: binary units, as in the injected object.
std::string ParseSize(std::string_view text, uint64_t* bytes);

// Reads 500ms, 5s, 1.5m, 2h; a unit is required.
std::string ParseDuration(std::string_view text, uint64_t* nanoseconds);

// Reads a duration of 10ms to 1m, or off (0).
std::string ParseGpuPeriod(std::string_view text, uint64_t* nanoseconds);

// Reads a duration of 20us to 1s, or off (0).
std::string ParseGpuPm(std::string_view text, uint64_t* nanoseconds);

// Reads USR1, SIGUSR1, 10, none (0). Refuses signals that cannot be caught or that report a crash.
std::string ParseSignal(std::string_view text, int* number);

struct Capture {
  enum class When { kNow, kOff, kDelay, kRange, kSteps, kProfilerCalls } when = When::kNow;
  uint64_t start_ns = 0;
  uint64_t length_ns = 0;  // 0: to the end
  std::string range;       // kRange; kSteps: empty: whatever steps there are
  uint64_t first_step = 0;
  uint64_t last_step = 0;
};
std::string ParseCapture(std::string_view text, Capture* capture);

struct Sources {
  uint32_t bits = 0;  // proto::kSource*
  proto::HeapMode heap = proto::HeapMode::kOff;
  uint64_t heap_period = proto::kDefaultHeapPeriod;
};
std::string ParseSources(std::string_view text, Sources* sources);

std::string ParseCount(std::string_view text, uint64_t most, uint64_t* count);

// Checks that the text is one of `choices`.
std::string ParseChoice(std::string_view text, const std::vector<std::string>& choices);

// Reads names of programs, comma separated: base names, no slashes.
std::string ParsePrograms(std::string_view text, std::vector<std::string>* names);

}  // namespace gpuprof::launcher
