// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which rank came last to each collective of a job, how long the others waited for it, and how long
// the transfer took. Collectives are matched group by group (communicators.h). Pure, any thread.
//
// A rank may come late because it waited in another group before. Then its delay is that rank's for
// which it waited, as far as the wait set it back behind the rank before it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/derived/collective_entries.h"
#include "analysis/derived/communicators.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

enum class ArrivalMatch {
  kNoCollectives,
  kOneRank,
  kDifferentOrder,  // ranks entered different collectives, or in another order
  kUnplaced,        // recordings begin at different collectives, and no ends tell at which
  kClocks,          // clocks of machines differ, and no ends tell how far
  kSeveralGroups,   // groups of the same name, or without one, cannot be told apart
  kMatched,         // those of a group at least
};

// A matched collective, by the clock of one of its ranks.
struct MatchedEntry {
  int64_t start_ns = 0;  // the rank arrived
  int64_t last_ns = 0;   // the last rank arrived
  int64_t done_ns = 0;   // the rank had the result; last_ns: nothing tells when
};

// Sums of one rank over all matched collectives.
struct RankArrivals {
  size_t process = 0;  // index in the given list
  std::optional<uint32_t> device;
  uint64_t recorded_count = 0;  // also collectives without a match
  uint64_t last_count = 0;      // it came last
  // The time since the rank before it, if it came last. The inherited time is left out.
  int64_t lead_ns = 0;
  int64_t inherited_ns = 0;  // it came last because it had waited in another group
  int64_t early_ns = 0;      // from its arrival to that of the last rank
  // The part of early_ns in which it stood still: its thread waited for a condition, or its kernel
  // ran. None: waits were not recorded.
  std::optional<int64_t> waited_ns;
  std::optional<int64_t> exchange_ns;  // it stood still after the last rank had come
  int64_t caused_ns = 0;               // what others waited for it; without waits: were early
  int64_t clock_offset_ns = 0;         // what was added to its times
  // Ranks of one set can be compared: the ends of collectives, or messages, join their clocks.
  uint32_t clock_set = 0;
  std::vector<MatchedEntry> entries;  // that others took part in, in no order
};

// The waits of a rank for another that came last.
struct RankWait {
  size_t waiter = 0, late = 0;  // indices of ranks
  uint64_t count = 0;
  int64_t early_ns = 0;
  std::optional<int64_t> waited_ns;
  int64_t max_ns = 0, max_start_ns = 0;  // the longest time that the waiter was early, and when
};

// Matched collectives of one group and one name. A send and its receive are one, too.
struct ArrivalsOfOp {
  std::string name;
  CollectiveKind kind = CollectiveKind::kUnknown;
  size_t group = 0;  // index in Arrivals::groups
  uint64_t count = 0;
  int64_t spread_ns = 0, max_spread_ns = 0;  // from the first arrival to the last
  int64_t max_start_ns = 0;                  // the first arrival of the widest
  // From the last arrival to the common end, of those whose last arrival and end are known. The
  // bytes are those of collectives whose bytes are known, too.
  uint64_t transfer_count = 0, sized_count = 0;
  int64_t transfer_ns = 0, sized_transfer_ns = 0;
  uint64_t bytes = 0;        // of sized_count
  uint64_t all_bytes = 0;    // of all whose bytes are known
  uint64_t bytes_count = 0;  // whose bytes are known
};

// What the members of a group did in its matched collectives.
struct ArrivalsOfGroup {
  Communicator group;
  bool is_compared = false;  // arrivals of its members are known
  uint64_t count = 0;
  int64_t spread_ns = 0;
  int64_t early_ns = 0;              // of all members, until the last one came
  std::vector<int64_t> lead_ns;      // by member, as RankArrivals has it
  std::vector<uint64_t> last_count;  // by member
};

// The last arrival at one collective.
struct Lead {
  size_t late;       // the rank that came last
  size_t group;      // index in Arrivals::groups
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
  double mean_ranks = 1;   // of the groups in which it was last, or could have been
  int64_t longest_ns = 0;  // the longest lead
  int64_t longest_start_ns = 0;
};

inline constexpr size_t kMostWaits = 10'000;

struct Arrivals {
  ArrivalMatch match = ArrivalMatch::kNoCollectives;
  bool is_of_kernels = false;
  std::vector<RankArrivals> ranks;
  uint64_t matched_count = 0;
  uint64_t undecided_count = 0;      // the clocks cannot tell who came last
  int64_t start_ns = 0, end_ns = 0;  // the first arrival, the last one
  int64_t clock_error_ns = 0;
  // The longest first, not more than kMostWaits, or as many as there are ranks. Those for the ranks
  // with the most leads are kept.
  std::vector<RankWait> waits;
  std::vector<ArrivalsOfGroup> groups;                 // those with the most members first
  std::vector<std::vector<uint32_t>> groups_of_ranks;  // JobGroups::of_ranks
  std::vector<ArrivalsOfOp> ops;                       // the widest in all first
  std::vector<Lead> leads;                             // of the decided collectives, in their order
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
// in it count: by their first arrival.
Arrivals FindArrivals(const std::vector<const Process*>& processes,
                      const ArrivalWindows& windows = {});
// Finds the arrivals of ranks that FindJobRanks found.
Arrivals FindArrivals(const std::vector<JobRank>& ranks, const ArrivalWindows& windows = {});

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
