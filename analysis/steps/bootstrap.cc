// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See bootstrap.h.

#include "analysis/steps/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace gpuprof::analysis {
namespace {

constexpr int kDraws = 2000;
constexpr int kDrawsOfMeans = 1000;    // means are asked for many rows
constexpr size_t kMostSamples = 2000;  // of a side
constexpr double kTail = 0.025;

class Resampler {
 public:
  explicit Resampler(const std::vector<int64_t>& samples) : samples_(ThinSamples(samples)) {}

  // Returns the median of as many samples as there are, drawn with replacement.
  int64_t Draw(std::mt19937_64* random) {
    drawn_.resize(samples_.size());
    for (int64_t& value : drawn_) value = samples_[(*random)() % samples_.size()];
    const auto middle = drawn_.begin() + static_cast<std::ptrdiff_t>((drawn_.size() - 1) / 2);
    std::nth_element(drawn_.begin(), middle, drawn_.end());
    return *middle;
  }

 private:
  std::vector<int64_t> samples_, drawn_;
};

// Returns the interval in which all but both tails of the changes lie.
ChangeInterval MiddleOf(std::vector<double> changes) {
  std::sort(changes.begin(), changes.end());
  const auto at = [&](double part) {
    return changes[static_cast<size_t>(part * static_cast<double>(changes.size() - 1))];
  };
  return {at(kTail), at(1 - kTail)};
}

double DrawMean(std::span<const int64_t> samples, std::mt19937_64* random) {
  int64_t sum = 0;
  for (size_t i = 0; i < samples.size(); ++i) sum += samples[(*random)() % samples.size()];
  return static_cast<double>(sum) / static_cast<double>(samples.size());
}

}  // namespace

std::vector<int64_t> ThinSamples(const std::vector<int64_t>& samples) {
  if (samples.size() <= kMostSamples) return samples;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < kMostSamples; ++i)
    kept.push_back(samples[i * samples.size() / kMostSamples]);
  return kept;
}

ChangeInterval MedianChange(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  std::mt19937_64 random(1);
  Resampler first(before), second(after);
  std::vector<double> changes;
  for (int i = 0; i < kDraws; ++i) {
    const auto base = static_cast<double>(first.Draw(&random));
    changes.push_back(static_cast<double>(second.Draw(&random)) / base - 1);
  }
  return MiddleOf(std::move(changes));
}

ChangeInterval MeanChange(std::span<const int64_t> before, std::span<const int64_t> after) {
  std::mt19937_64 random(1);
  std::vector<double> changes;
  for (int i = 0; i < kDrawsOfMeans; ++i) {
    const double base = DrawMean(before, &random);
    changes.push_back(DrawMean(after, &random) - base);
  }
  return MiddleOf(std::move(changes));
}

double MedianNoise(const std::vector<int64_t>& steps) {
  constexpr size_t kFewSteps = 10, kManySteps = 500;
  if (steps.size() < kFewSteps) return 0;
  // Of very many steps some do: their median differs more, by the root of how many were left out.
  const size_t stride = (steps.size() + kManySteps - 1) / kManySteps;
  std::vector<int64_t> some;
  for (size_t i = 0; i < steps.size(); i += stride)
    if (steps[i] > 0) some.push_back(steps[i]);
  if (some.size() < kFewSteps) return 0;
  const ChangeInterval change = MedianChange(some, some);
  const double left_out = static_cast<double>(some.size()) / static_cast<double>(steps.size());
  return std::max(-change.low, change.high) * std::sqrt(left_out);
}

}  // namespace gpuprof::analysis
