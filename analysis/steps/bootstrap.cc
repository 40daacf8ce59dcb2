// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See bootstrap.h.

#include "analysis/steps/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace gpuprof::analysis {
namespace {

constexpr int kDraws = 2000;
constexpr size_t kMostSamples = 2000;  // of a side: more make the interval no better to read
constexpr double kTail = 0.025;

// Keeps some of many samples, evenly spaced.
std::vector<int64_t> Thin(const std::vector<int64_t>& samples) {
  if (samples.size() <= kMostSamples) return samples;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < kMostSamples; ++i)
    kept.push_back(samples[i * samples.size() / kMostSamples]);
  return kept;
}

class Resampler {
 public:
  explicit Resampler(const std::vector<int64_t>& samples) : samples_(Thin(samples)) {}

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

}  // namespace

ChangeInterval MedianChange(const std::vector<int64_t>& before, const std::vector<int64_t>& after) {
  std::mt19937_64 random(1);
  Resampler first(before), second(after);
  std::vector<double> changes;
  for (int i = 0; i < kDraws; ++i) {
    const auto base = static_cast<double>(first.Draw(&random));
    changes.push_back(static_cast<double>(second.Draw(&random)) / base - 1);
  }
  std::sort(changes.begin(), changes.end());
  const auto at = [&](double part) {
    return changes[static_cast<size_t>(part * static_cast<double>(changes.size() - 1))];
  };
  return {at(kTail), at(1 - kTail)};
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
