// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XProf's arithmetic. The order of the operations matters: the last digit of a figure depends on
// it. Pure functions, any thread.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace gpuprof::analysis::xprof {

inline double PicoToNano(uint64_t ps) { return static_cast<double>(ps) / 1E3; }
inline double PicoToMicro(uint64_t ps) { return static_cast<double>(ps) / 1E6; }
inline double PicoToMilli(uint64_t ps) { return static_cast<double>(ps) / 1E9; }
inline double NanoToMicro(uint64_t ns) { return static_cast<double>(ns) / 1E3; }
inline double GigaToGibi(double giga) { return giga / ((1 << 30) / 1.0e9); }

// Returns 0 for a divisor that is 0, or nearly.
inline double Divide(double dividend, double divisor) {
  constexpr double kNearly = 1.0E-10;
  return divisor > -kNearly && divisor < kNearly ? 0.0 : dividend / divisor;
}

inline std::string Digits(double value, int digits) {
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

inline std::string Percent(double value) { return value >= 0 ? Digits(value, 1) + "%" : "unknown"; }

// Average and spread of a series, in its order.
struct Summary {
  double average = 0, deviation = 0, minimum = 0, maximum = 0;
};
Summary Summarize(const std::vector<double>& values);

}  // namespace gpuprof::analysis::xprof
