// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which rank came last to each collective of a job, and how long the others waited for it. Ranks
// are matched by the order of their collectives. Pure, any thread.
//
// A recording may begin or end at another collective than those of other ranks. All ranks have the
// result of a collective at nearly the same time. So the right match is the one whose ends are
// nearest to each other. The ends also tell how far the clocks of two machines, or of two devices,
// are apart.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derived/collective_entries.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

enum class ArrivalMatch {
  kNoCollectives,
  kOneRank,
  kDifferentOrder,  // ranks entered different collectives, or in another order
  kUnplaced,        // recordings begin at different collectives, and no ends tell at which
  kClocks,          // clocks of machines differ, and no ends tell how far
  kMatched,
};

// Sums of one rank over all matched collectives.
struct RankArrivals {
  size_t process = 0;  // index in the given list
  std::optional<uint32_t> device;
  uint64_t recorded_count = 0;  // also collectives without a match
  uint64_t last_count = 0;      // it came last
  int64_t lead_ns = 0;          // where it came last: the time since the rank before it
  int64_t early_ns = 0;         // from its arrival to that of the last rank
  // The part of early_ns in which it stood still: its thread waited for a condition, or its kernel
  // ran. None: waits were not recorded.
  std::optional<int64_t> waited_ns;
  std::optional<int64_t> exchange_ns;  // it stood still after the last rank had come
  int64_t caused_ns = 0;               // what others waited for it; without waits: were early
  int64_t clock_offset_ns = 0;         // what was added to its times
};

// The waits of a rank for another that came last.
struct RankWait {
  size_t waiter = 0, late = 0;  // indices of ranks
  uint64_t count = 0;
  int64_t early_ns = 0;
  std::optional<int64_t> waited_ns;
  int64_t max_ns = 0, max_start_ns = 0;  // the longest time that the waiter was early, and when
};

// Matched collectives of one name.
struct ArrivalsOfOp {
  std::string name;
  uint64_t count = 0;
  int64_t spread_ns = 0, max_spread_ns = 0;  // from the first arrival to the last
  int64_t max_start_ns = 0;                  // the first arrival of the widest
};

// The last arrival at one collective.
struct Lead {
  size_t late;       // the rank that came last
  int64_t ns;        // from the arrival of the rank before it to its own
  int64_t start_ns;  // the arrival of the rank before it
};

// What the leads say of the rank that has the most of them.
enum class Lateness {
  kNone,     // no rank came last, or all leads together are short
  kOnce,     // one lead is long, and the others are short
  kTooFew,   // it comes last most often, but in so few collectives that chance could be the cause
  kInTurns,  // other ranks come last, too
  kLate,     // it comes last again and again
};

// The rank with the most leads.
struct Straggler {
  size_t rank = 0;
  // Some collectives make up most of all leads. `count`: the rank was last in so many of them.
  uint64_t count = 0, of = 0;
  int64_t lead_ns = 0;     // of all collectives
  double lead_ratio = 0;   // of the time from the first arrival to the last one
  int64_t longest_ns = 0;  // the longest lead
  int64_t longest_start_ns = 0;
};

struct Arrivals {
  ArrivalMatch match = ArrivalMatch::kNoCollectives;
  bool is_of_kernels = false;
  std::vector<RankArrivals> ranks;
  uint64_t matched_count = 0;
  uint64_t undecided_count = 0;      // the clocks cannot tell who came last
  int64_t start_ns = 0, end_ns = 0;  // the first arrival, the last one
  int64_t clock_error_ns = 0;
  std::vector<RankWait> waits;    // the longest first
  std::vector<ArrivalsOfOp> ops;  // the widest in all first
  std::vector<Lead> leads;        // of the decided collectives, in their order
};

// A rank is late if it was last in a part of the collectives that make up most of all leads. Chance
// must hardly give that, and its leads, without the longest, must be a part of the time.
struct LatenessLimits {
  double min_last = 0.6;
  double min_share = 0.05;
  uint64_t min_count = 5;
};

// Steps of the host and steps of a device begin and end at different moments.
struct ArrivalWindows {
  std::optional<Interval> of_calls, of_kernels;
};

// Finds the arrivals of the ranks among the processes. With a window, only collectives that began
// in it count: by the clock of the rank with the fewest collectives.
Arrivals FindArrivals(const std::vector<const Process*>& processes,
                      const ArrivalWindows& windows = {});

struct Judgement {
  Lateness lateness = Lateness::kNone;
  // The rank with the most leads. None: kNone.
  std::optional<Straggler> most_late;

  // Returns the rank that is late, or null.
  const Straggler* late() const { return lateness == Lateness::kLate ? &*most_late : nullptr; }
};

// Decides whether a rank comes last again and again: the one definition of a late rank.
Judgement JudgeLateness(const Arrivals& arrivals, const LatenessLimits& limits);

}  // namespace gpuprof::analysis
