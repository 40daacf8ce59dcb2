// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See flight_lateness.h.

#include "analysis/passes/host/flight_lateness.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gpuprof::analysis {
namespace {

// Fewer collectives, and less time, tell nothing.
constexpr size_t kLeastTimes = 3;
constexpr int64_t kLeastLateNs = 1'000'000;
// A rank that is late without a reason is late by chance: others are, too.
constexpr double kLeastShare = 0.5;
constexpr uint32_t kMostPeriod = 1'000;

// One collective that all ranks with a dump have in their rings.
struct Arrivals {
  int64_t sequence = 0;
  std::map<int32_t, int64_t> created_ns;
  FlightSignature signature;
  std::string place;
};

std::vector<Arrivals> ArrivalsOf(const JoinedGroup& group) {
  std::vector<Arrivals> all;
  if (group.members.size() < 2) return all;
  const FlightMember& first = group.members.begin()->second;
  for (const auto& [sequence, step] : first.collectives) {
    Arrivals arrivals;
    arrivals.sequence = sequence;
    arrivals.signature = SignatureOf(first, step);
    arrivals.place = first.dump->text(step.last().place);
    for (const auto& [rank, member] : group.members) {
      const auto found = member.collectives.find(sequence);
      if (found == member.collectives.end()) break;
      const int64_t created = found->second.parts.front()->created_ns;
      if (created <= 0) break;
      arrivals.created_ns[rank] = created;
    }
    if (arrivals.created_ns.size() == group.members.size()) all.push_back(std::move(arrivals));
  }
  return all;
}

// Takes away what the clock of a host is ahead: the least that its rank is behind the first one.
void LevelClocks(std::vector<Arrivals>* all) {
  std::map<int32_t, int64_t> least;
  for (const Arrivals& arrivals : *all) {
    int64_t first = INT64_MAX;
    for (const auto& [rank, time] : arrivals.created_ns) first = std::min(first, time);
    for (const auto& [rank, time] : arrivals.created_ns) {
      const auto known = least.emplace(rank, time - first).first;
      known->second = std::min(known->second, time - first);
    }
  }
  for (Arrivals& arrivals : *all)
    for (auto& [rank, time] : arrivals.created_ns) time -= least[rank];
}

// Finds after how many collectives they repeat. 0: they do not.
uint32_t PeriodOf(const std::vector<Arrivals>& all) {
  const auto most = static_cast<uint32_t>(std::min<size_t>(all.size() / 2, kMostPeriod));
  for (uint32_t period = 1; period <= most; ++period) {
    bool repeats = true;
    for (size_t i = period; i < all.size() && repeats; ++i) {
      repeats = all[i].signature == all[i - period].signature &&
                all[i].place == all[i - period].place &&
                all[i].sequence == all[i - period].sequence + period;
    }
    if (repeats) return period;
  }
  return 0;
}

struct Late {
  std::vector<size_t> at;  // of the arrivals
  std::vector<int64_t> late_ns;
};

// Returns the rank that came last, and how much behind the last of the others.
std::pair<int32_t, int64_t> LastOf(const Arrivals& arrivals) {
  int32_t last = 0;
  int64_t latest = INT64_MIN, before = INT64_MIN;
  for (const auto& [rank, time] : arrivals.created_ns) {
    if (time > latest) {
      before = latest;
      latest = time;
      last = rank;
    } else {
      before = std::max(before, time);
    }
  }
  return {last, latest - before};
}

// Says what the collectives have in common at which a rank was late.
void FillCommon(const std::vector<Arrivals>& all, const Late& late, uint32_t period,
                results::FlightLateRank* row) {
  const Arrivals& first = all[late.at.front()];
  bool same_signature = true, same_place = true, same_turn = period > 1;
  for (const size_t i : late.at) {
    same_signature = same_signature && all[i].signature == first.signature;
    same_place = same_place && all[i].place == first.place;
    same_turn = same_turn && (all[i].sequence - first.sequence) % period == 0;
  }
  if (same_signature) {
    row->set_operation(first.signature.operation);
    row->set_input_sizes(first.signature.input_sizes);
  }
  if (same_place) row->set_place(first.place);
  if (!same_turn) return;
  row->set_period(period);
  row->set_place_in_period(static_cast<uint32_t>(late.at.front() % period) + 1);
}

}  // namespace

std::vector<results::FlightLateRank> FindLateRanks(const JoinedGroup& group) {
  std::vector<Arrivals> all = ArrivalsOf(group);
  std::vector<results::FlightLateRank> rows;
  if (all.size() < kLeastTimes) return rows;
  LevelClocks(&all);
  const uint32_t period = PeriodOf(all);
  std::map<int32_t, Late> late;
  int64_t total = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const auto [rank, behind] = LastOf(all[i]);
    if (behind < kLeastLateNs) continue;
    late[rank].at.push_back(i);
    late[rank].late_ns.push_back(behind);
    total += behind;
  }
  for (auto& [rank, each] : late) {
    int64_t sum = 0;
    for (const int64_t behind : each.late_ns) sum += behind;
    // One long delay, as at the start, says nothing of the others.
    std::vector<int64_t> sorted = each.late_ns;
    std::sort(sorted.begin(), sorted.end());
    const bool is_one = sum - sorted.back() < sum / 4;
    if (sorted.size() < kLeastTimes || is_one ||
        static_cast<double>(sum) < kLeastShare * static_cast<double>(total))
      continue;
    results::FlightLateRank row;
    row.set_group(group.name);
    row.set_rank(rank);
    row.set_count(sorted.size());
    row.set_collective_count(all.size());
    row.set_late_ns(sorted[sorted.size() / 2]);
    row.set_total_ns(sum);
    FillCommon(all, each, period, &row);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& x, const auto& y) { return x.total_ns() > y.total_ns(); });
  return rows;
}

}  // namespace gpuprof::analysis
