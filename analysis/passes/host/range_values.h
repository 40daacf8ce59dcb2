// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values of NVTX's extended payloads, found by their ranges and summed by their names. For the pass
// `ranges`; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "analysis/model/trace.h"
#include "proto/results/ranges.pb.h"

namespace gpuprof::analysis {

// What a row of the result stands for.
struct RangeValueKey {
  std::string domain;
  std::string range;  // "" by domain
  proto::RangeKind kind;
  std::string name;
  bool operator<(const RangeValueKey& other) const {
    return std::tie(domain, range, kind, name) <
           std::tie(other.domain, other.range, other.kind, other.name);
  }
};

class RangeValues {
 public:
  // Adds row `row` of `table`. `key` names its range; only the value's own name is not set yet.
  void Add(const Process& process, const RangeValueTable& table, size_t row, RangeValueKey key);
  void Fill(bool by_domain, results::Ranges* out) const;

 private:
  struct Sums {
    uint64_t count = 0;
    uint64_t numbers = 0;
    double sum = 0;
    double min = 0;
    double max = 0;
    std::map<std::string, uint64_t> texts;  // addresses too
  };
  static void FillRow(const RangeValueKey& key, const Sums& sums, bool by_domain,
                      results::RangeValue* row);

  std::map<RangeValueKey, Sums> groups_;
};

}  // namespace gpuprof::analysis
