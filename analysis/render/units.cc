// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See units.h.

#include "analysis/render/units.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <iterator>

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

std::string FormatDuration(int64_t ns) {
  if (ns == 0) return "0";
  const auto value = static_cast<double>(ns);
  const double size = std::fabs(value);
  if (size < 999.5) return std::to_string(ns) + " ns";
  if (size < 999.5e3) return ThreeDigits(value / 1e3) + " us";
  if (size < 999.5e6) return ThreeDigits(value / 1e6) + " ms";
  return ThreeDigits(value / 1e9) + " s";
}

std::string FormatBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 0 ? "" : " B");
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return ThreeDigits(value) + " " + kUnits[unit];
}

std::string FormatCount(uint64_t count) {
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

std::string FormatAddress(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, address);
  return text;
}

}  // namespace gpuprof::analysis
