// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See units.h.

#include "analysis/base/units.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace gpuprof::analysis {
namespace {

// `value` in the largest unit that leaves it at least 1, with three digits.
std::string Scaled(double value, double step, const char* const* units, int last) {
  int unit = 0;
  // 999.5 would print as 1000.
  while (unit < last && std::abs(value) >= (step > 1000 ? 1023.5 : 999.5)) {
    value /= step;
    ++unit;
  }
  const double size = std::abs(value);
  const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f%s", decimals, value, units[unit]);
  return text;
}

}  // namespace

std::string FormatLastTime(uint64_t ns) {
  constexpr uint64_t kMillisecond = 1'000'000;
  return ns < kMillisecond ? "the last moments"
                           : "the last " + FormatDuration(static_cast<int64_t>(ns));
}

std::string FormatDuration(int64_t ns) {
  static constexpr const char* kUnits[] = {" ns", " us", " ms", " s"};
  return Scaled(static_cast<double>(ns), 1000, kUnits, 3);
}

std::string FormatBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  return Scaled(static_cast<double>(bytes), 1024, kUnits, 6);
}

std::string FormatCount(uint64_t count) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P", " E"};
  return Scaled(static_cast<double>(count), 1000, kUnits, 6);
}

std::string LastRecordsOf(uint64_t threads) {
  return "the last records of " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

std::string FormatExitStatus(int32_t status) {
  constexpr int32_t kBySignal = 128;
  constexpr int32_t kLastStandardSignal = 31;
  std::string text = "exit status " + std::to_string(status);
  if (status > kBySignal && status <= kBySignal + kLastStandardSignal) {
    text += " (signal " + std::to_string(status - kBySignal) + ", " +
            strsignal(status - kBySignal) + ")";
  }
  return text;
}

std::string FormatSizeClass(uint32_t width) {
  if (width == 0) return "0 B";
  const auto text = [](uint64_t bytes) {
    constexpr const char* kUnits[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(kUnits); bytes /= 1024) ++unit;
    return std::to_string(bytes) + kUnits[unit];
  };
  const uint64_t low = uint64_t{1} << (width - 1);
  return width >= 64 ? text(low) + " and more" : text(low) + " to " + text(low * 2);
}

}  // namespace gpuprof::analysis
