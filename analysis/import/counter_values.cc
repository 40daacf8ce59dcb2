// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See counter_values.h.

#include "analysis/import/counter_values.h"

#include <algorithm>

namespace gpuprof::analysis::import {
namespace {

constexpr int64_t PowerOfTen(uint32_t exponent) {
  int64_t power = 1;
  for (uint32_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

bool Fits(const Fixed& number, uint32_t decimals) {
  int64_t product = 0;
  return decimals <= number.decimals ||
         !__builtin_mul_overflow(number.value, PowerOfTen(decimals - number.decimals), &product);
}

}  // namespace

std::optional<Fixed> FixedNumber(const JsonValue& value) {
  for (uint32_t decimals = kMostDecimals + 1; decimals-- > 0;) {
    const std::optional<int64_t> scaled = ScaledNumber(value, static_cast<int>(decimals));
    if (!scaled) continue;
    Fixed number{*scaled, decimals};
    while (number.decimals > 0 && number.value % 10 == 0) {
      number.value /= 10;
      --number.decimals;
    }
    return number;
  }
  return std::nullopt;
}

uint32_t CommonDecimals(const std::vector<CounterValue>& values) {
  uint32_t decimals = 0;
  for (const CounterValue& value : values) decimals = std::max(decimals, value.number.decimals);
  for (const CounterValue& value : values) {
    while (!Fits(value.number, decimals)) --decimals;
  }
  return decimals;
}

int64_t Scaled(const Fixed& number, uint32_t decimals) {
  return decimals >= number.decimals ? number.value * PowerOfTen(decimals - number.decimals)
                                     : number.value / PowerOfTen(number.decimals - decimals);
}

}  // namespace gpuprof::analysis::import
