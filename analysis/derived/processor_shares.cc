// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See processor_shares.h.

#include "analysis/derived/processor_shares.h"

#include <algorithm>
#include <limits>

namespace gpuprof::analysis {

ProcessorShares::ProcessorShares(const Process& process) {
  std::map<int32_t, std::map<int64_t, uint64_t>> readings;
  for (const Track& track : process.tracks) {
    for (const ThreadSample& sample : track.samples)
      readings[track.tid][sample.time_ns] = sample.cpu_ns;
    // A thread begins with nothing. Its end says what it had in all.
    const ThreadEventTable& events = track.thread_event;
    for (size_t row = 0; row < events.rows(); ++row) {
      const auto event = static_cast<proto::ThreadEvent>(events.event[row]);
      if (event == proto::ThreadEvent::kStart) readings[track.tid][events.time_ns[row]] = 0;
      if (event == proto::ThreadEvent::kExit && events.a[row] != 0)
        readings[track.tid][events.time_ns[row]] = events.a[row];
    }
  }
  if (process.started_ns != std::numeric_limits<int64_t>::max())
    readings[process.pid].try_emplace(process.started_ns, 0);
  for (const auto& [tid, all] : readings) {
    if (all.size() < 2) continue;
    std::vector<Part>& parts = parts_[tid];
    begins_[tid] = all.begin()->first;
    Part whole;
    whole.end_ns = std::numeric_limits<int64_t>::max();
    for (auto next = std::next(all.begin()), last = all.begin(); next != all.end(); last = next++) {
      Part part;
      part.end_ns = next->first;
      // Another thread of the same number begins anew.
      part.cpu_ns =
          next->second > last->second ? static_cast<double>(next->second - last->second) : 0;
      part.length_ns = static_cast<double>(next->first - last->first);
      whole.cpu_ns += part.cpu_ns;
      whole.length_ns += part.length_ns;
      parts.push_back(part);
    }
    parts.push_back(whole);
  }
}

size_t ProcessorShares::PlaceOf(const std::vector<Part>& parts, Interval span) {
  const int64_t middle = span.start + span.length() / 2;
  const auto at =
      std::upper_bound(parts.begin(), parts.end() - 1, middle,
                       [](int64_t time, const Part& part) { return time < part.end_ns; });
  return static_cast<size_t>(at - parts.begin());
}

void ProcessorShares::Note(int32_t tid, Interval span, Piece piece) {
  const auto found = parts_.find(tid);
  if (found == parts_.end() || span.start + span.length() / 2 < begins_.at(tid)) return;
  std::vector<Part>& parts = found->second;
  const size_t place = PlaceOf(parts, span);
  // What lies behind the last reading is not in the account.
  if (place + 1 == parts.size()) return;
  for (Part* part : {&parts[place], &parts.back()}) {
    double& sum = piece == Piece::kRunsNative ? part->native_ns
                  : piece == Piece::kRuns     ? part->other_ns
                                              : part->resting_ns;
    sum += static_cast<double>(span.length());
  }
}

double ProcessorShares::Share(const Part& part, Piece piece) {
  const double covered = part.native_ns + part.other_ns + part.resting_ns;
  const double cpu = part.cpu_ns * std::min(1.0, covered / part.length_ns);
  const bool is_native = piece == Piece::kRunsNative;
  const double noted = is_native ? part.native_ns : part.other_ns;
  const double room = is_native ? cpu : cpu - part.native_ns;
  if (noted <= 0 || part.length_ns <= 0) return 1;
  return std::clamp(room / noted, 0.0, 1.0);
}

double ProcessorShares::ShareOf(int32_t tid, Interval span, Piece piece) const {
  const auto found = parts_.find(tid);
  if (found == parts_.end()) return 1;
  const std::vector<Part>& parts = found->second;
  const bool is_before = span.start + span.length() / 2 < begins_.at(tid);
  return Share(is_before ? parts.back() : parts[PlaceOf(parts, span)], piece);
}

}  // namespace gpuprof::analysis
