// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Quantities as people read them, three significant digits: "1.50 s", "12.3 MiB", "4.83 M". Any
// thread.

#pragma once

#include <cstdint>
#include <string>

namespace gpuprof::analysis {

// The whole part of a computed quantity; what a hostile file makes of it stays within the type.
inline uint64_t WholeNumber(double value) {
  if (!(value > 0)) return 0;
  return value < 0x1p64 ? static_cast<uint64_t>(value) : UINT64_MAX;
}

// "the last 730 ms"; where so little was measured that it says nothing, "the last moments".
std::string FormatLastTime(uint64_t ns);

std::string FormatDuration(int64_t ns);
// A command's exit status as shells tell it: 128 and more by a signal, which is named.
std::string FormatExitStatus(int32_t status);
std::string FormatBytes(uint64_t bytes);
std::string FormatCount(uint64_t count);
// "the last records of 3 threads": a loss of which nobody knows the number.
std::string LastRecordsOf(uint64_t threads);
// How a process ended whose trace does not tell, and what is then to be said of its losses.
inline constexpr char kNoEndRecorded[] = "no end recorded";
inline constexpr char kLossNotKnown[] = "not known, because the trace has no end";
// "4 KiB to 8 KiB": the sizes of which std::bit_width is `width`.
std::string FormatSizeClass(uint32_t width);

}  // namespace gpuprof::analysis
