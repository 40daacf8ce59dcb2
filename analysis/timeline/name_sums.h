// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums of spans by name, of whole nanoseconds. A span counts for as many events as it stands for:
// sometimes only a part of the events is recorded. One thread.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>

#include "analysis/timeline/span_rows.h"

namespace gpuprof::analysis::timeline {

struct NameSum {
  double count = 0;
  double total = 0;
  double cut = 0;  // what was cut off at the edges of a range
  double min = std::numeric_limits<double>::infinity();
  double max = 0;
};

class NameSums {
 public:
  using ByName = std::unordered_map<uint32_t, NameSum>;

  const ByName& by_name() const { return by_name_; }
  size_t size() const { return by_name_.size(); }
  bool Has(uint32_t name) const { return by_name_.count(name) != 0; }

  void AddWhole(const Span& span) {
    Add(span.name, span.end - span.start, span.end - span.start, span.weight);
  }
  // Adds a span, cut at the edges of [from, to).
  void AddCut(const Span& span, double from, double to) {
    if (span.start >= to || (span.end <= from && span.start < from)) return;
    const double time = std::min(span.end, to) - std::max(span.start, from);
    Add(span.name, time, span.end - span.start, span.weight);
  }
  // Takes back a part of a span that was added whole.
  void Take(uint32_t name, double time) {
    NameSum& sum = by_name_[name];
    sum.total -= time;
    sum.cut += time;
  }
  void AddSums(const NameSums& other) {
    for (const auto& [name, from] : other.by_name_) {
      NameSum& sum = by_name_[name];
      sum.count += from.count;
      sum.total += from.total;
      sum.cut += from.cut;
      sum.min = std::min(sum.min, from.min);
      sum.max = std::max(sum.max, from.max);
    }
  }
  void Clear() { ByName().swap(by_name_); }

 private:
  void Add(uint32_t name, double time, double whole, double weight) {
    NameSum& sum = by_name_[name];
    sum.count += weight;
    sum.total += time * weight;
    sum.cut += (whole - time) * weight;
    sum.min = std::min(sum.min, whole);
    sum.max = std::max(sum.max, whole);
  }

  ByName by_name_;
};

}  // namespace gpuprof::analysis::timeline
