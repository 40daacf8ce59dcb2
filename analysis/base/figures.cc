// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See figures.h.

#include "analysis/base/figures.h"

#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>

namespace gpuprof::analysis {
namespace {

// Three significant digits for a value in [0, 1000) or so.
std::string ThreeDigits(double value) {
  char text[32];
  const double size = std::fabs(value);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

}  // namespace

std::string FormatNumber(uint64_t count) {
  std::string text = std::to_string(count);
  for (auto at = static_cast<ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), 1, ',');
  }
  return text;
}

std::string FormatReal(double value) { return ThreeDigits(value); }

std::string FormatPercent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", ratio * 100);
  return text;
}

std::string FormatFinePercent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", ratio * 100);
  return text;
}

std::string FormatAddress(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, address);
  return text;
}

std::string FormatMoment(int64_t realtime_ns) {
  const auto seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm parts = {};
  char text[32];
  if (realtime_ns == 0 || gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts) == 0)
    return "-";
  return text;
}

}  // namespace gpuprof::analysis
