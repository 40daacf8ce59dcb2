// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of counters in a Chrome trace. The model keeps whole numbers and one divisor for each
// counter. The values are read as decimals: nothing is rounded that fits.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/import/chrome_event.h"

namespace gpuprof::analysis::import {

// The number is value / 10^decimals.
struct Fixed {
  int64_t value = 0;
  uint32_t decimals = 0;
};

// The divisor of a counter has 32 bits.
inline constexpr uint32_t kMostDecimals = 9;

struct CounterValue {
  int64_t time = 0;
  Fixed number;
};

// Returns a number, also one that the file writes as a string. Decimals that do not fit are cut.
// None: the value is not a number, or is too large for 64 bits.
std::optional<Fixed> FixedNumber(const JsonValue& value);

// Returns how many decimals all values can have: as many as one of them needs, or fewer if the
// largest value would not fit.
uint32_t CommonDecimals(const std::vector<CounterValue>& values);

// Returns the number times ten to the power of `decimals`. Further decimals are cut.
int64_t Scaled(const Fixed& number, uint32_t decimals);

}  // namespace gpuprof::analysis::import
