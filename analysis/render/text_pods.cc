// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of steps by rank. See text.h.

#include <array>
#include <cstdlib>
#include <span>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/pods.pb.h"

namespace gpuprof::analysis {
namespace {

template <size_t... kCounts>
constexpr auto Joined(const TableColumn (&... parts)[kCounts]) {
  std::array<TableColumn, (kCounts + ...)> all{};
  size_t at = 0;
  const auto add = [&](std::span<const TableColumn> part) {
    for (const TableColumn& column : part) all[at++] = column;
  };
  (add(parts), ...);
  return all;
}

// The parts of a step.
constexpr TableColumn kTimes[] = {
    {.field = "step_ns", .title = "step"},
    {.field = "input_ns", .title = "input"},
    {.field = "forward_ns", .title = "forward", .shown = ShownIf::kAny},
    {.field = "backward_ns", .title = "backward", .shown = ShownIf::kAny},
    {.field = "optimizer_ns", .title = "optimizer", .shown = ShownIf::kAny},
    {.field = "compute_ns",
     .title = "compute",
     .shown = ShownIf::kAny,
     .tip = "Kernels whose phase is not known"},
    {.field = "copy_ns", .title = "copies", .shown = ShownIf::kAny},
    {.field = "wait_ns",
     .title = "waits",
     .tip = "In a collective, before the last rank came, while nothing computed"},
    {.field = "transfer_ns",
     .title = "transfer",
     .tip = "In a collective after the last rank came, while nothing computed"},
    {.field = "host_ns",
     .title = "host",
     .shown = ShownIf::kAny,
     .tip = "The device waited for the host, or the thread did something else"},
    {.field = "other_ns", .title = "other", .shown = ShownIf::kAny, .tip = "All other time"},
};

constexpr TableColumn kGroupNames[] = {
    {.field = "name", .title = "equal ranks", .flexible = true},
    {.field = "rank_count", .title = "ranks"},
    {.field = "host_count", .title = "hosts"},
};
constexpr TableColumn kGroupNotes[] = {
    {.field = "outlier_time",
     .title = "differs in",
     .shown = ShownIf::kAny,
     .tip = "The time in which it differs most from the first group"},
    {.field = "outlier", .title = "outlier", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr auto kGroupColumns = Joined(kGroupNames, kTimes, kGroupNotes);
constexpr TableColumn kRankNames[] = {
    {.field = "name", .title = "rank", .flexible = true},
    kPidColumn,
    {.field = "device", .title = "device", .shown = ShownIf::kAny},
    {.field = "host", .title = "host name", .shown = ShownIf::kAny},
    {.field = "step_count", .title = "steps"},
};
constexpr TableColumn kRankNotes[] = {
    {.field = "outlier_ns",
     .title = "differs by",
     .shown = ShownIf::kAny,
     .tip = "Beyond the mean of most ranks"},
    {.field = "clock_offset_ns",
     .title = "clock",
     .shown = ShownIf::kAny,
     .tip = "What was added to its times, because its clock differs"},
    {.field = "rank",
     .title = "number",
     .unit = Unit::kIdentifier,
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "group_row",
     .title = "group",
     .unit = Unit::kIdentifier,
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "outlier", .title = "outlier", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "outlier_time", .title = "differs in", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr auto kRankColumns = Joined(kRankNames, kTimes, kRankNotes);
constexpr TableColumn kStepNames[] = {
    {.field = "number", .title = "number", .unit = Unit::kIdentifier},
};
constexpr TableColumn kStepNotes[] = {
    {.field = "slowest_name",
     .title = "slowest rank",
     .flexible = true,
     .tip = "The rank that did most itself"},
    {.field = "slowest_ns", .title = "more", .tip = "Its own work beyond the median of the ranks"},
    {.field = "max_ns", .title = "longest", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "min_ns", .title = "shortest", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "start_ns", .title = "starts at", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr auto kStepColumns = Joined(kStepNames, kTimes, kStepNotes);

constexpr TableLayout kLayouts[] = {{.rows = "groups",
                                     .row = results::PodGroup::descriptor,
                                     .columns = kGroupColumns,
                                     .noun = "group",
                                     .title = "Groups of equal ranks"},
                                    {.rows = "ranks",
                                     .row = results::PodRank::descriptor,
                                     .columns = kRankColumns,
                                     .noun = "rank",
                                     .title = "Ranks, mean step"},
                                    {.rows = "steps",
                                     .row = results::PodStep::descriptor,
                                     .columns = kStepColumns,
                                     .noun = "step",
                                     .title = "Steps, mean of the ranks"}};

std::string RanksText(uint64_t count) {
  return FormatNumber(count) + (count == 1 ? " rank" : " ranks");
}

std::string StepText(const results::Pods& result) {
  return "A step takes " + FormatDuration(result.step_ns()) + " on average.";
}

// Finds the group that differs most from most ranks. Null: no group has most ranks.
const results::PodGroup* MostDifferent(const results::Pods& result, int64_t* difference) {
  const results::PodGroup* most = nullptr;
  for (const results::PodRank& rank : result.ranks()) {
    if (!rank.outlier() || std::abs(rank.outlier_ns()) <= std::abs(*difference)) continue;
    *difference = rank.outlier_ns();
    most = &result.groups(static_cast<int>(rank.group_row()) - 1);
  }
  return most;
}

// Names a time as a sentence needs it.
std::string TimeText(const std::string& time) {
  if (time == "host") return "the host";
  if (time == "copy") return "copies";
  return time == "other" ? "other time" : time;
}

std::string GroupVerdict(const results::Pods& result) {
  if (result.groups_size() == 1)
    return "All " + RanksText(result.rank_count()) + " do equally much. " + StepText(result);
  int64_t difference = 0;
  const results::PodGroup* const odd = MostDifferent(result, &difference);
  if (odd == nullptr) {
    return "There are " + FormatNumber(result.groups_size()) +
           " kinds of ranks, and none has most of them. " + StepText(result);
  }
  const std::string& name = odd->name();
  return RanksText(result.groups(0).rank_count()) + " of " + FormatNumber(result.rank_count()) +
         " do equally much. " + std::string(name.starts_with("rank") ? "R" : "") +
         (name.starts_with("rank") ? name.substr(1) : name) +
         (odd->rank_count() == 1 ? " needs " : " need ") + FormatDuration(std::abs(difference)) +
         (difference > 0 ? " more for " : " less for ") + TimeText(odd->outlier_time()) + ". " +
         StepText(result);
}

}  // namespace

void SayVerdicts(results::Pods* result) {
  if (result->rank_count() == 0) return;
  if (result->rank_count() == 1) {
    result->set_verdict("One rank alone has steps here, so nothing can be compared. " +
                        StepText(*result));
    return;
  }
  std::string text = GroupVerdict(*result);
  if (result->arrivals() == results::POD_ARRIVALS_MATCHED) {
    text += " For " + FormatDuration(result->wait_ns()) + " of a step (" +
            FormatPercent(result->wait_ratio()) + ") a rank waits for others.";
  } else {
    text += " Nothing tells when the last rank came to a collective, so waits count as transfer.";
  }
  if (result->step_count() == 0) text += " No step is in the recordings of all ranks.";
  result->set_verdict(text);
}

std::span<const TableLayout> PodsLayouts() { return kLayouts; }

std::string PodsText(const results::Pods& result, const TextOptions& options) {
  const auto wrapped = [&](const std::string& words) {
    return WrapText(words, "", "", options.width);
  };
  if (result.rank_count() == 0)
    return wrapped("No steps were found.") + MetaText(result.meta(), options);
  std::string text = wrapped(result.verdict());
  if (result.has_clock_spread_ns())
    text += wrapped("The clocks of ranks were up to " + FormatDuration(result.clock_spread_ns()) +
                    " apart. They were aligned, with an error of " +
                    FormatDuration(result.clock_error_ns()) + ".");
  text += "\n";
  for (const TableLayout& layout : kLayouts) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
