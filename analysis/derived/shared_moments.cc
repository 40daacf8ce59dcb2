// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/shared_moments.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

using Moments = std::span<const CollectiveMoment>;

// Clocks drift, so their distance is one number for a few collectives alone.
constexpr size_t kCollectivesOfOneDistance = 32;
constexpr int64_t kMomentErrorNs = 50'000;
constexpr int64_t kMostDriftPart = 2000;  // a second drifts by a 2,000th, as while a clock is set
// A trace may have one collective whose times are wrong.
constexpr size_t kFewestForAnOutlier = 8;
// How many collectives one recording may have more than the other.
constexpr size_t kAlwaysMore = 2, kMorePart = 10;

// Returns whether all ranks of a collective have as many bytes.
bool HasOneSize(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduce ||
         kind == CollectiveKind::kBroadcast;
}

bool AreAlike(const CollectiveMoment& a, const CollectiveMoment& b) {
  if (a.kind != b.kind) return false;
  return !HasOneSize(a.kind) || !a.bytes || !b.bytes || *a.bytes == *b.bytes;
}

// The distances of the clocks at which both ranks are in a collective at one moment.
struct Distances {
  std::vector<int64_t> least, most;

  void Add(const CollectiveMoment& ours, const CollectiveMoment& theirs) {
    if (!WaitsForAll(ours.kind) || !ours.end_ns || !theirs.end_ns) return;
    least.push_back(ours.start_ns - *theirs.end_ns);
    most.push_back(*ours.end_ns - theirs.start_ns);
  }

  // Returns whether one distance is right for all collectives.
  bool Agree(int64_t slack) {
    if (least.empty()) return true;
    const size_t outliers = least.size() >= kFewestForAnOutlier ? 1 : 0;
    std::sort(least.begin(), least.end());
    std::sort(most.begin(), most.end());
    return least[least.size() - 1 - outliers] <= most[outliers] + slack;
  }
};

// Checks lists of one length, each collective of the one with that of the other.
bool CanBePairs(Moments ours, Moments theirs) {
  for (size_t i = 0; i < ours.size(); ++i)
    if (!AreAlike(ours[i], theirs[i])) return false;
  for (size_t first = 0; first < ours.size(); first += kCollectivesOfOneDistance) {
    const size_t last = std::min(ours.size(), first + kCollectivesOfOneDistance);
    Distances distances;
    for (size_t i = first; i < last; ++i) distances.Add(ours[i], theirs[i]);
    const int64_t span = ours[last - 1].start_ns - ours[first].start_ns;
    if (!distances.Agree(kMomentErrorNs + span / kMostDriftPart)) return false;
  }
  return true;
}

}  // namespace

bool CanBeShared(Moments ours, Moments theirs) {
  if (ours.size() > theirs.size()) return CanBeShared(theirs, ours);
  const size_t more = theirs.size() - ours.size();
  if (more > std::max(kAlwaysMore, theirs.size() / kMorePart)) return false;
  for (size_t shift = 0; shift <= more; ++shift)
    if (CanBePairs(ours, theirs.subspan(shift, ours.size()))) return true;
  return false;
}

}  // namespace gpuprof::analysis
