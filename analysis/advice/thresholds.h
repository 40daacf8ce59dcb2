// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The values of all thresholds: those of the table, or what the user set instead. Rules ask by
// name. A name that is not in the table does not compile. Pure, any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "analysis/advice/rule_rows.h"

namespace gpuprof::analysis {

// The place of a threshold in the table, by its full name: "LA-001.min_share".
class ThresholdName {
 public:
  consteval ThresholdName(const char* full_name)  // NOLINT(google-explicit-constructor)
      : place_(PlaceOf(full_name)) {}

  size_t place() const { return place_; }

 private:
  static constexpr size_t kSlots = std::size(RuleInfo().thresholds);
  friend class Thresholds;

  // Is not constexpr: the compiler refuses a name that leads here.
  static size_t NoSuchThreshold() { return 0; }
  static constexpr size_t PlaceOf(std::string_view full_name) {
    const size_t dot = full_name.find('.');
    for (size_t rule = 0; rule < std::size(kRuleRows); ++rule) {
      if (kRuleRows[rule].id != full_name.substr(0, dot)) continue;
      for (size_t slot = 0; slot < kSlots; ++slot) {
        if (kRuleRows[rule].thresholds[slot].name == full_name.substr(dot + 1))
          return rule * kSlots + slot;
      }
    }
    return NoSuchThreshold();
  }

  size_t place_;
};

class Thresholds {
 public:
  // Takes values that users set, by full name. Other names are ignored: the launcher refuses them.
  explicit Thresholds(const std::map<std::string, double>& changed = {});

  double operator()(ThresholdName name) const { return values_[name.place()]; }
  // Returns a time in ns, a number of bytes or a count.
  int64_t Whole(ThresholdName name) const { return static_cast<int64_t>((*this)(name)); }
  // Returns the value of a threshold by its rule's place in the table and its own in the rule.
  double At(size_t rule, size_t slot) const { return values_[rule * ThresholdName::kSlots + slot]; }

 private:
  double values_[std::size(kRuleRows) * ThresholdName::kSlots] = {};
};

}  // namespace gpuprof::analysis
