// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See statistics.h.

#include "analysis/steps/statistics.h"

#include <algorithm>
#include <cmath>

namespace gpuprof::analysis {

Samples::Samples(std::vector<int64_t> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
  for (const int64_t value : sorted_) total_ += value;
}

int64_t Samples::Percentile(double part) const {
  if (sorted_.empty()) return 0;
  const double rank = std::ceil(part * static_cast<double>(sorted_.size()) - 1e-9);
  const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return sorted_[std::min(index, sorted_.size() - 1)];
}

int64_t Samples::mean() const {
  return sorted_.empty() ? 0 : total_ / static_cast<int64_t>(sorted_.size());
}

double Samples::stddev() const {
  if (sorted_.size() < 2) return 0;
  const double middle = static_cast<double>(total_) / static_cast<double>(sorted_.size());
  double sum = 0;
  for (const int64_t value : sorted_) {
    const double distance = static_cast<double>(value) - middle;
    sum += distance * distance;
  }
  return std::sqrt(sum / static_cast<double>(sorted_.size() - 1));
}

int64_t Samples::MedianDistance() const {
  std::vector<int64_t> distances;
  distances.reserve(sorted_.size());
  for (const int64_t value : sorted_) distances.push_back(std::abs(value - median()));
  return Samples(std::move(distances)).median();
}

}  // namespace gpuprof::analysis
