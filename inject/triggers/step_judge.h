// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Judges how long steps take: a step is slow if it takes so many times the median of the steps
// before it. Pure, without heap. One thread at a time.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

class StepJudge {
 public:
  // As many of the latest steps make the median.
  static constexpr uint32_t kMost = 64;
  // No step is slow before there are so many.
  static constexpr uint32_t kFewest = 8;

  // Judges a step against those before it, and adds it to them. Returns the median if the step took
  // `percent` of it or more, else 0.
  uint64_t Add(uint64_t ns, uint64_t percent) noexcept;
  void Forget() noexcept { count_ = 0; }

 private:
  uint64_t Median() const noexcept;

  uint64_t by_age_[kMost];
  uint64_t sorted_[kMost];
  uint64_t count_ = 0;  // ever
};

}  // namespace gpuprof::inject
