// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Percentiles and spread of integer samples, exact: nearest rank, nothing interpolated. Any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::analysis {

class Samples {
 public:
  explicit Samples(std::vector<int64_t> values);
  size_t size() const { return sorted_.size(); }
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
  std::vector<int64_t> sorted_;
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
