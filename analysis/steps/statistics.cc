// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See statistics.h.

#include "analysis/steps/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace gpuprof::analysis {
namespace {

// Sorts many values much faster than std::sort if they lie near each other, as durations do: digit
// by digit, from the lowest.
void SortValues(std::vector<int64_t>* values) {
  constexpr size_t kFew = 2048;
  constexpr int kDigitBits = 11, kMostDigits = 3;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  // Times of a category that steps lack are all 0.
  if (std::is_sorted(values->begin(), values->end())) return;
  if (values->size() < kFew) return std::sort(values->begin(), values->end());
  const auto [least, most] = std::minmax_element(values->begin(), values->end());
  const auto base = static_cast<uint64_t>(*least);
  const int bits = std::bit_width(static_cast<uint64_t>(*most) - base);
  if (bits > kDigitBits * kMostDigits) return std::sort(values->begin(), values->end());
  std::vector<int64_t> sorted(values->size());
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    const auto digit_of = [&](int64_t value) {
      return (static_cast<uint64_t>(value) - base) >> shift & (kDigits - 1);
    };
    size_t places[kDigits] = {};  // where the values of a digit begin
    for (const int64_t value : *values) ++places[digit_of(value)];
    size_t place = 0;
    for (size_t& each : places) each = std::exchange(place, place + each);
    for (const int64_t value : *values) sorted[places[digit_of(value)]++] = value;
    values->swap(sorted);
  }
}

}  // namespace

void SampleList::Add(int64_t value, uint32_t weight) {
  if (weight != 1 && weights_.empty()) weights_.assign(values_.size(), 1);
  if (weight != 1 || !weights_.empty()) weights_.push_back(weight);
  values_.push_back(value);
  count_ += weight;
  total_ += value * weight;
}

Samples::Samples(std::vector<int64_t> values) : sorted_(std::move(values)), count_(sorted_.size()) {
  SortValues(&sorted_);
  for (const int64_t value : sorted_) total_ += value;
}

Samples::Samples(std::vector<int64_t> sorted, std::vector<uint64_t> behind, uint64_t count,
                 int64_t total)
    : sorted_(std::move(sorted)), behind_(std::move(behind)), count_(count), total_(total) {}

Samples SampleList::Take() {
  if (weights_.empty()) return Samples(std::move(values_));
  std::vector<std::pair<int64_t, uint32_t>> pairs;
  pairs.reserve(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) pairs.emplace_back(values_[i], weights_[i]);
  std::sort(pairs.begin(), pairs.end());
  std::vector<int64_t> sorted;
  std::vector<uint64_t> behind;
  uint64_t end = 0;
  for (const auto& [value, weight] : pairs) {
    sorted.push_back(value);
    behind.push_back(end += weight);
  }
  return Samples(std::move(sorted), std::move(behind), count_, total_);
}

int64_t Samples::Percentile(double part) const {
  if (sorted_.empty()) return 0;
  const double rank = std::ceil(part * static_cast<double>(count_) - 1e-9);
  const auto index = std::min(static_cast<uint64_t>(std::max(rank, 1.0)), count_) - 1;
  if (behind_.empty()) return sorted_[index];
  const auto found = std::upper_bound(behind_.begin(), behind_.end(), index);
  return sorted_[static_cast<size_t>(found - behind_.begin())];
}

int64_t Samples::mean() const {
  return sorted_.empty() ? 0 : total_ / static_cast<int64_t>(count_);
}

double Samples::stddev() const {
  if (count_ < 2) return 0;
  const double middle = static_cast<double>(total_) / static_cast<double>(count_);
  double sum = 0;
  for (size_t i = 0; i < sorted_.size(); ++i) {
    const double distance = static_cast<double>(sorted_[i]) - middle;
    sum += distance * distance * static_cast<double>(Weight(i));
  }
  return std::sqrt(sum / static_cast<double>(count_ - 1));
}

int64_t Samples::MedianDistance() const {
  const int64_t middle = median();
  if (behind_.empty()) {
    // From the median, distances rise to both sides.
    std::vector<int64_t> below, above, distances(sorted_.size());
    for (const int64_t value : sorted_)
      (value < middle ? below : above).push_back(std::abs(value - middle));
    std::merge(below.rbegin(), below.rend(), above.begin(), above.end(), distances.begin());
    return Samples(std::move(distances)).median();
  }
  SampleList distances;
  for (size_t i = 0; i < sorted_.size(); ++i)
    distances.Add(std::abs(sorted_[i] - middle), static_cast<uint32_t>(Weight(i)));
  return distances.Take().median();
}

}  // namespace gpuprof::analysis
