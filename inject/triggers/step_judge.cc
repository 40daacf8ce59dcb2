// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/triggers/step_judge.h"

namespace gpuprof::inject {

uint64_t StepJudge::Median() const noexcept {
  const uint64_t known = count_ < kMost ? count_ : kMost;
  const uint64_t low = sorted_[(known - 1) / 2], high = sorted_[known / 2];
  return low + (high - low) / 2;
}

uint64_t StepJudge::Add(uint64_t ns, uint64_t percent) noexcept {
  // Beyond any step, so that no product overflows.
  constexpr uint64_t kLongest = 10'000'000'000'000;
  if (ns > kLongest) ns = kLongest;
  uint64_t median = count_ < kFewest ? 0 : Median();
  if (ns * 100 < median * percent) median = 0;
  uint64_t at = count_;
  uint64_t& oldest = by_age_[count_ % kMost];
  if (count_ >= kMost) {
    for (at = 0; sorted_[at] != oldest;) ++at;
    for (; at + 1 < kMost; ++at) sorted_[at] = sorted_[at + 1];
  }
  for (; at != 0 && sorted_[at - 1] > ns; --at) sorted_[at] = sorted_[at - 1];
  sorted_[at] = ns;
  oldest = ns;
  ++count_;
  return median;
}

}  // namespace gpuprof::inject
