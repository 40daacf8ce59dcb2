// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Percentiles and spread of integer samples, exact: nearest rank, nothing interpolated. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

class Samples {
 public:
  explicit Samples(std::vector<int64_t> values);
  size_t size() const { return count_; }
  // The smallest value that at least `part` (0 to 1) of the samples do not exceed; 0 without
  // samples.
  int64_t Percentile(double part) const;
  int64_t median() const { return Percentile(0.5); }
  int64_t min() const { return sorted_.empty() ? 0 : sorted_.front(); }
  int64_t max() const { return sorted_.empty() ? 0 : sorted_.back(); }
  int64_t total() const { return total_; }
  int64_t mean() const;
  // Sample standard deviation.
  double stddev() const;
  // Median distance from the median.
  int64_t MedianDistance() const;

 private:
  friend class SampleList;
  Samples(std::vector<int64_t> sorted, std::vector<uint64_t> behind, uint64_t count, int64_t total);

  // Where the samples of sorted_[i] end among all.
  uint64_t Behind(size_t i) const { return behind_.empty() ? i + 1 : behind_[i]; }
  uint64_t Weight(size_t i) const { return Behind(i) - (i == 0 ? 0 : Behind(i - 1)); }

  std::vector<int64_t> sorted_;
  std::vector<uint64_t> behind_;  // empty: each value is there once
  uint64_t count_ = 0;
  int64_t total_ = 0;
};

// Values as they come, each with how many it stands for.
class SampleList {
 public:
  void Add(int64_t value, uint32_t weight = 1);
  uint64_t count() const { return count_; }
  int64_t total() const { return total_; }
  const std::vector<int64_t>& values() const { return values_; }
  // Of values()[i].
  uint32_t Weight(size_t i) const { return weights_.empty() ? 1 : weights_[i]; }
  // As if each value were there as often as its weight says. Takes them along.
  Samples Take();

 private:
  std::vector<int64_t> values_;
  std::vector<uint32_t> weights_;  // empty: all are 1
  uint64_t count_ = 0;
  int64_t total_ = 0;
};

inline double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0.0; }
inline double Ratio(int64_t part, int64_t whole) {
  return Ratio(static_cast<double>(part), static_cast<double>(whole));
}
inline double Ratio(uint64_t part, uint64_t whole) {
  return Ratio(static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace gpuprof::analysis
