// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/queued_work.h"

#include <algorithm>

namespace gpuprof::analysis {

bool QueuedWork::IsHeldUp(Interval call) const {
  constexpr int64_t kLongLaunchNs = 20'000;
  constexpr std::ptrdiff_t kMuchWork = 500;  // a queue holds 1,024
  if (call.length() < kLongLaunchNs) return false;
  const auto launched =
      std::lower_bound(launches_.begin(), launches_.end(), call.start) - launches_.begin();
  const auto ended = std::upper_bound(ends_.begin(), ends_.end(), call.start) - ends_.begin();
  return launched - ended >= kMuchWork;
}

std::optional<int64_t> QueuedWork::LastEnd(int64_t until_ns) const {
  const auto at = std::upper_bound(ends_.begin(), ends_.end(), until_ns);
  return at == ends_.begin() ? std::nullopt : std::optional(*(at - 1));
}

}  // namespace gpuprof::analysis
