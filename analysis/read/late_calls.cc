// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See late_calls.h.

#include "analysis/read/late_calls.h"

#include <algorithm>
#include <string>

namespace gpuprof::analysis {
namespace {

constexpr int64_t kLateNs = 1'000'000'000;

// The names of their functions go on behind this: versions, _ptsz.
constexpr const char* kStreamCaptures[] = {"cudaStreamBeginCapture", "cuStreamBeginCapture",
                                           "cudaStreamEndCapture", "cuStreamEndCapture"};

bool CapturesStreams(const Process& process) {
  return std::any_of(process.functions.begin(), process.functions.end(), [&](const auto& function) {
    const std::string name = process.String(function.second);
    return std::any_of(std::begin(kStreamCaptures), std::end(kStreamCaptures),
                       [&](const char* begin) { return name.rfind(begin, 0) == 0; });
  });
}

// The first capture that ends at this time or later: calls that end then belong to it.
size_t CaptureOf(const std::vector<CaptureWindow>& captures, int64_t ns) {
  const auto found =
      std::lower_bound(captures.begin(), captures.end(), ns,
                       [](const CaptureWindow& window, int64_t at) { return window.end_ns < at; });
  return static_cast<size_t>(found - captures.begin());
}

}  // namespace

LateCalls::LateCalls(const Process& process)
    : captures_(process.captures), needs_all_(CapturesStreams(process)) {
  for (const CaptureWindow& window : captures_) surely_called_.push_back(window.start_ns);
}

// A block has a call that begins at its first time. So the capture's last call ends then or later,
// if all of the block belongs to the capture.
void LateCalls::Note(const PlannedBlock& block) {
  const size_t capture = CaptureOf(captures_, block.last_ns);
  if (capture == captures_.size()) return;
  if (capture != 0 && block.first_ns <= captures_[capture - 1].end_ns) return;
  surely_called_[capture] = std::max(surely_called_[capture], block.first_ns);
}

bool LateCalls::MayHold(const PlannedBlock& block) const {
  for (size_t i = CaptureOf(captures_, block.first_ns);
       i < captures_.size() && captures_[i].start_ns - kLateNs <= block.last_ns; ++i) {
    if (block.last_ns >= surely_called_[i] - kLateNs) return true;
  }
  return false;
}

}  // namespace gpuprof::analysis
