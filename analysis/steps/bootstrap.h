// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How sure a change of a median or of a mean is. The samples of both sides are drawn again and
// again (percentile bootstrap). The same samples give the same interval. Pure, any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpuprof::analysis {

struct ChangeInterval {
  double low = 0;
  double high = 0;
};

// Keeps at most 2,000 of many samples, evenly spaced: more make no interval better to read.
std::vector<int64_t> ThinSamples(const std::vector<int64_t>& samples);

// Returns the interval that holds the relative change of the median with a probability of 95 %.
// Both lists have values above 0. Uses the samples that ThinSamples keeps.
ChangeInterval MedianChange(const std::vector<int64_t>& before, const std::vector<int64_t>& after);

// Returns the part by which the median of one and the same program's steps differs from run to run,
// with a probability of 95 %. 0: there are fewer than ten steps.
double MedianNoise(const std::vector<int64_t>& steps);

// Returns the interval that holds the absolute change of the mean with a probability of 95 %, in
// the unit of the values. The interval has one value in the middle if no sample differs.
ChangeInterval MeanChange(std::span<const int64_t> before, std::span<const int64_t> after);

}  // namespace gpuprof::analysis
