// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See arrivals.h.

#include "analysis/derived/arrivals.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/model/process_name.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

struct PlacedRank {
  const Process* process = nullptr;
  size_t index = 0;  // of the process
  RankEntries found;
  std::vector<std::string_view> names;  // of the entries
  int64_t shift = 0;                    // entry i + shift belongs to entry i of the reference

  const std::vector<CollectiveEntry>& entries() const { return found.entries; }
  const CollectiveEntry& at(int64_t reference) const {
    return found.entries[static_cast<size_t>(reference + shift)];
  }
  int64_t count() const { return static_cast<int64_t>(found.entries.size()); }
};

// Entries of the reference that two ranks share: [first, last).
std::pair<int64_t, int64_t> SharedEntries(const PlacedRank& reference, const PlacedRank& rank,
                                          int64_t shift) {
  return {std::max<int64_t>(0, -shift), std::min(reference.count(), rank.count() - shift)};
}

bool HaveSameNames(const PlacedRank& reference, const PlacedRank& rank, int64_t shift) {
  const auto [first, last] = SharedEntries(reference, rank, shift);
  for (int64_t i = first; i < last; ++i) {
    if (reference.names[static_cast<size_t>(i)] != rank.names[static_cast<size_t>(i + shift)])
      return false;
  }
  return first < last;
}

// Distances of the ends of the rank from those of the reference.
std::vector<int64_t> Distances(const PlacedRank& reference, const PlacedRank& rank, int64_t shift) {
  std::vector<int64_t> distances;
  const auto [first, last] = SharedEntries(reference, rank, shift);
  for (int64_t i = first; i < last; ++i) {
    const auto& ours = rank.entries()[static_cast<size_t>(i + shift)].done_ns;
    const auto& theirs = reference.entries()[static_cast<size_t>(i)].done_ns;
    if (ours && theirs) distances.push_back(*ours - *theirs);
  }
  return distances;
}

// Shifts at which the rank may belong to the reference: equal begins, equal ends, and equal times.
std::vector<int64_t> Candidates(const PlacedRank& reference, const PlacedRank& rank) {
  constexpr int64_t kAround = 3;
  std::vector<int64_t> shifts = {0, rank.count() - reference.count()};
  const int64_t middle = reference.count() / 2;
  const int64_t time = reference.entries()[static_cast<size_t>(middle)].start_ns;
  const auto after =
      std::partition_point(rank.entries().begin(), rank.entries().end(),
                           [time](const CollectiveEntry& entry) { return entry.start_ns < time; });
  for (int64_t i = -kAround; i <= kAround; ++i)
    shifts.push_back((after - rank.entries().begin()) - middle + i);
  return shifts;
}

// Finds where the rank belongs to the reference.
ArrivalMatch Place(const PlacedRank& reference, PlacedRank* rank) {
  std::optional<int64_t> best;
  bool has_names = false;
  for (const int64_t shift : Candidates(reference, *rank)) {
    const auto [first, last] = SharedEntries(reference, *rank, shift);
    // A shift that leaves little in common says little.
    if ((last - first) * 2 < reference.count() || !HaveSameNames(reference, *rank, shift)) continue;
    has_names = true;
    std::vector<int64_t> distances = Distances(reference, *rank, shift);
    if (distances.empty()) continue;
    for (int64_t& each : distances) each = std::abs(each);
    const int64_t median = Samples(std::move(distances)).median();
    // Equal begins were tried first. Others must be clearly nearer.
    if (best && median >= *best / 2) continue;
    best = median;
    rank->shift = shift;
  }
  if (best) return ArrivalMatch::kMatched;
  if (!has_names) return ArrivalMatch::kDifferentOrder;
  // Without ends, only recordings of the same length belong together.
  if (rank->count() != reference.count() || !HaveSameNames(reference, *rank, 0))
    return ArrivalMatch::kUnplaced;
  rank->shift = 0;
  return ArrivalMatch::kMatched;
}

// Ranks of the list, without earlier lives of a rank that was started anew.
std::vector<PlacedRank> RanksOf(const std::vector<const Process*>& processes) {
  std::vector<PlacedRank> ranks;
  std::map<uint32_t, std::vector<size_t>> by_number;
  for (size_t i = 0; i < processes.size(); ++i) {
    if (const auto rank = RankOf(*processes[i])) by_number[rank->number].push_back(i);
  }
  const auto is_earlier_life = [&](size_t index) {
    const auto number = RankOf(*processes[index]);
    if (!number) return false;
    const int64_t end = processes[index]->LifeEnd();
    const std::vector<size_t>& same = by_number[number->number];
    return std::any_of(same.begin(), same.end(), [&](size_t other) {
      return other != index && processes[other]->LifeStart() >= end;
    });
  };
  for (size_t i = 0; i < processes.size(); ++i) {
    std::vector<RankEntries> found = FindCollectiveEntries(*processes[i]);
    if (found.empty() || is_earlier_life(i)) continue;
    for (RankEntries& each : found) {
      PlacedRank& rank = ranks.emplace_back();
      rank.process = processes[i];
      rank.index = i;
      rank.found = std::move(each);
    }
  }
  // The host's arrival at a collective of GPUs is another moment than that of its kernel.
  const bool has_kernels = std::any_of(ranks.begin(), ranks.end(),
                                       [](const PlacedRank& rank) { return rank.found.device; });
  if (has_kernels) std::erase_if(ranks, [](const PlacedRank& rank) { return !rank.found.device; });
  return ranks;
}

void NameEntries(std::vector<PlacedRank>* ranks) {
  for (PlacedRank& rank : *ranks) {
    for (const CollectiveEntry& entry : rank.entries()) {
      const auto name = rank.process->strings.find(entry.name);
      rank.names.push_back(name == rank.process->strings.end() ? std::string_view()
                                                               : std::string_view(name->second));
    }
  }
}

// Adds what is missing to the times of each rank whose clock is not that of the reference.
ArrivalMatch AlignClocks(size_t reference, std::vector<PlacedRank>* ranks, Arrivals* out) {
  for (size_t i = 0; i < ranks->size(); ++i) {
    PlacedRank& rank = (*ranks)[i];
    const PlacedRank& first = (*ranks)[reference];
    const bool has_own_clock = rank.found.device || rank.process->host != first.process->host;
    if (i == reference || !has_own_clock) continue;
    std::vector<int64_t> distances = Distances(first, rank, rank.shift);
    if (distances.empty()) return ArrivalMatch::kClocks;
    const Samples samples(std::move(distances));
    const int64_t offset = -samples.median();
    out->clock_error_ns = std::max(out->clock_error_ns, samples.MedianDistance());
    out->ranks[i].clock_offset_ns = offset;
    for (CollectiveEntry& entry : rank.found.entries) {
      entry.start_ns += offset;
      if (entry.done_ns) *entry.done_ns += offset;
    }
    for (std::vector<Interval>& waits : rank.found.waits) {
      for (Interval& wait : waits) wait = {wait.start + offset, wait.end + offset};
    }
  }
  return ArrivalMatch::kMatched;
}

class ArrivalCounter {
 public:
  ArrivalCounter(const std::vector<PlacedRank>* ranks, Arrivals* out) : ranks_(*ranks), out_(*out) {
    cursors_.resize(ranks_.size());
    for (size_t i = 0; i < ranks_.size(); ++i) {
      cursors_[i].assign(ranks_[i].process->tracks.size(), INT64_MIN);
      if (!ranks_[i].found.has_waits) continue;
      out_.ranks[i].waited_ns = 0;
      out_.ranks[i].exchange_ns = 0;
    }
  }

  void Add(int64_t reference, std::string_view name) {
    std::vector<std::pair<int64_t, size_t>> arrivals;
    for (size_t i = 0; i < ranks_.size(); ++i)
      arrivals.emplace_back(ranks_[i].at(reference).start_ns, i);
    std::sort(arrivals.begin(), arrivals.end());
    const auto [last, late] = arrivals.back();
    const int64_t first = arrivals.front().first, before = arrivals[arrivals.size() - 2].first;
    if (out_.matched_count == 0) out_.start_ns = first;
    out_.start_ns = std::min(out_.start_ns, first);
    out_.end_ns = std::max(out_.end_ns, last);
    ++out_.matched_count;
    AddOp(name, last - first, first);
    const bool is_decided = last - before > out_.clock_error_ns;
    if (is_decided) {
      ++out_.ranks[late].last_count;
      out_.ranks[late].lead_ns += last - before;
      out_.leads.push_back({late, last - before, before});
    } else {
      ++out_.undecided_count;
    }
    for (size_t i = 0; i < ranks_.size(); ++i) AddRank(i, reference, last, is_decided, late);
  }

  void Finish() {
    for (auto& [key, wait] : waits_) {
      out_.ranks[wait.late].caused_ns += wait.waited_ns.value_or(wait.early_ns);
      out_.waits.push_back(wait);
    }
    std::stable_sort(out_.waits.begin(), out_.waits.end(), [](const auto& a, const auto& b) {
      return a.waited_ns.value_or(a.early_ns) > b.waited_ns.value_or(b.early_ns);
    });
    for (auto& [name, op] : ops_) out_.ops.push_back(std::move(op));
    std::stable_sort(out_.ops.begin(), out_.ops.end(),
                     [](const auto& a, const auto& b) { return a.spread_ns > b.spread_ns; });
  }

 private:
  void AddOp(std::string_view name, int64_t spread, int64_t first) {
    ArrivalsOfOp& op = ops_[name];
    op.name = name;
    ++op.count;
    op.spread_ns += spread;
    if (spread < op.max_spread_ns) return;
    op.max_spread_ns = spread;
    op.max_start_ns = first;
  }

  void AddRank(size_t index, int64_t reference, int64_t last, bool is_decided, size_t late) {
    const PlacedRank& rank = ranks_[index];
    const CollectiveEntry& entry = rank.at(reference);
    RankArrivals& sums = out_.ranks[index];
    const int64_t early = last - entry.start_ns;
    sums.early_ns += early;
    int64_t waited = early;
    if (rank.found.has_waits) {
      // Several collectives may be under way at once: time counts for the first one alone.
      int64_t& cursor = cursors_[index][entry.track];
      const int64_t from = std::max(entry.start_ns, cursor);
      waited = Still(rank, entry.track, {from, last});
      cursor = std::max(cursor, last);
      *sums.waited_ns += waited;
      if (entry.done_ns && *entry.done_ns > cursor) {
        *sums.exchange_ns += Still(rank, entry.track, {cursor, *entry.done_ns});
        cursor = *entry.done_ns;
      }
    }
    if (!is_decided || index == late || early == 0) return;
    RankWait& wait = waits_[{index, late}];
    wait.waiter = index;
    wait.late = late;
    ++wait.count;
    wait.early_ns += early;
    if (rank.found.has_waits) wait.waited_ns = wait.waited_ns.value_or(0) + waited;
    if (early <= wait.max_ns) return;
    wait.max_ns = early;
    wait.max_start_ns = entry.start_ns;
  }

  // How long the rank stood still in a window.
  static int64_t Still(const PlacedRank& rank, uint32_t track, Interval window) {
    if (window.end <= window.start) return 0;
    // A kernel of a collective occupies its stream until it ends.
    if (rank.found.device) return window.length();
    return CoveredLength(rank.found.waits[track], window);
  }

  const std::vector<PlacedRank>& ranks_;
  Arrivals& out_;
  std::vector<std::vector<int64_t>> cursors_;  // by rank and track: the time up to which counted
  std::map<std::pair<size_t, size_t>, RankWait> waits_;
  std::map<std::string_view, ArrivalsOfOp> ops_;
};

// Places all ranks beside the one with the fewest collectives. Its index, if they match.
std::optional<size_t> PlaceAll(std::vector<PlacedRank>* ranks, ArrivalMatch* match) {
  const auto reference =
      std::min_element(ranks->begin(), ranks->end(), [](const PlacedRank& a, const PlacedRank& b) {
        return a.entries().size() < b.entries().size();
      });
  for (PlacedRank& rank : *ranks) {
    if (&rank == &*reference) continue;
    *match = Place(*reference, &rank);
    if (*match != ArrivalMatch::kMatched) return std::nullopt;
  }
  return static_cast<size_t>(reference - ranks->begin());
}

// Finds the rank with the most leads. Some collectives make up most of all leads: only these count.
Straggler FindMostLate(const Arrivals& arrivals, uint64_t min_count) {
  constexpr double kMost = 0.9;  // of all leads
  std::vector<Lead> leads = arrivals.leads;
  Straggler late;
  for (size_t i = 0; i < arrivals.ranks.size(); ++i)
    if (arrivals.ranks[i].lead_ns > arrivals.ranks[late.rank].lead_ns) late.rank = i;
  late.lead_ns = arrivals.ranks[late.rank].lead_ns;
  late.lead_ratio = static_cast<double>(late.lead_ns) /
                    static_cast<double>(std::max<int64_t>(1, arrivals.end_ns - arrivals.start_ns));
  std::stable_sort(leads.begin(), leads.end(),
                   [](const Lead& a, const Lead& b) { return a.ns > b.ns; });
  int64_t all = 0, seen = 0;
  for (const Lead& lead : leads) all += lead.ns;
  for (const Lead& lead : leads) {
    if (static_cast<double>(seen) >= kMost * static_cast<double>(all) && late.of >= min_count)
      break;
    seen += lead.ns;
    ++late.of;
    if (lead.late != late.rank) continue;
    ++late.count;
    if (late.longest_ns != 0) continue;
    late.longest_ns = lead.ns;
    late.longest_start_ns = lead.start_ns;
  }
  return late;
}

// Returns the probability that chance gives at least `count` of so many: the binomial distribution.
double ProbabilityOfAtLeast(uint64_t count, uint64_t of, double each) {
  const auto n = static_cast<double>(of);
  auto k = static_cast<double>(count);
  double term = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                         k * std::log(each) + (n - k) * std::log1p(-each));
  double sum = term;
  for (; k < n && term > sum * 1e-12; ++k) {
    term *= (n - k) / (k + 1) * each / (1 - each);
    sum += term;
  }
  return sum;
}

// A single long lead is no habit, and short leads do not matter. Few collectives do not tell a
// habit from chance.
Lateness LatenessOf(const Straggler& late, const Arrivals& arrivals, const LatenessLimits& limits) {
  // Chance makes one of the ranks look late in so many of all jobs at most.
  constexpr double kMostByChance = 0.01;
  const double least = limits.min_share * static_cast<double>(arrivals.end_ns - arrivals.start_ns);
  if (static_cast<double>(late.lead_ns) < least) return Lateness::kNone;
  if (static_cast<double>(late.lead_ns - late.longest_ns) < least) return Lateness::kOnce;
  if (static_cast<double>(late.count) < limits.min_last * static_cast<double>(late.of))
    return Lateness::kInTurns;
  const auto ranks = static_cast<double>(arrivals.ranks.size());
  const double by_chance = ranks * ProbabilityOfAtLeast(late.count, late.of, 1 / ranks);
  if (late.of < limits.min_count || by_chance > kMostByChance) return Lateness::kTooFew;
  return Lateness::kLate;
}

}  // namespace

Arrivals FindArrivals(const std::vector<const Process*>& processes, const ArrivalWindows& windows) {
  Arrivals out;
  std::vector<PlacedRank> ranks = RanksOf(processes);
  if (ranks.empty()) return out;
  NameEntries(&ranks);
  out.is_of_kernels = ranks.front().found.device.has_value();
  for (const PlacedRank& rank : ranks) {
    RankArrivals& row = out.ranks.emplace_back();
    row.process = rank.index;
    row.device = rank.found.device;
    row.recorded_count = rank.entries().size();
  }
  out.match = ArrivalMatch::kOneRank;
  if (ranks.size() < 2) return out;
  const std::optional<size_t> reference = PlaceAll(&ranks, &out.match);
  if (!reference) return out;
  out.match = AlignClocks(*reference, &ranks, &out);
  if (out.match != ArrivalMatch::kMatched) return out;
  int64_t first = 0, last = ranks[*reference].count();
  for (const PlacedRank& rank : ranks) {
    const auto [from, to] = SharedEntries(ranks[*reference], rank, rank.shift);
    first = std::max(first, from);
    last = std::min(last, to);
  }
  const auto& window = out.is_of_kernels ? windows.of_kernels : windows.of_calls;
  ArrivalCounter counter(&ranks, &out);
  for (int64_t i = first; i < last; ++i) {
    const int64_t start = ranks[*reference].at(i).start_ns;
    if (window && (start < window->start || start >= window->end)) continue;
    counter.Add(i, ranks[*reference].names[static_cast<size_t>(i)]);
  }
  counter.Finish();
  return out;
}

Judgement JudgeLateness(const Arrivals& arrivals, const LatenessLimits& limits) {
  Judgement judgement;
  if (arrivals.leads.empty()) return judgement;
  const Straggler most_late = FindMostLate(arrivals, limits.min_count);
  judgement.lateness = LatenessOf(most_late, arrivals, limits);
  if (judgement.lateness != Lateness::kNone) judgement.most_late = most_late;
  return judgement;
}

}  // namespace gpuprof::analysis
