// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers that stats of an XSpace give, whatever type they have in the file.

#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/import/xplane_tables.h"

namespace gpuprof::analysis::import {

// Returns the whole number of a stat. `text`: what a stat of a text or reference says.
inline std::optional<int64_t> WholeNumberOf(const XStat& stat, std::string_view text) {
  switch (stat.kind) {
    case XStat::Kind::kSigned:
    case XStat::Kind::kUnsigned:
      return static_cast<int64_t>(stat.bits);
    case XStat::Kind::kDouble: {
      constexpr double kLimit = 9e18;
      const double value = std::bit_cast<double>(stat.bits);
      if (!(value > -kLimit && value < kLimit)) return std::nullopt;
      return static_cast<int64_t>(value);
    }
    case XStat::Kind::kText:
    case XStat::Kind::kReference: {
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace gpuprof::analysis::import
