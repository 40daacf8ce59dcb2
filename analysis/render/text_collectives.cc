// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of collectives. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/collectives.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr TableColumn kRankColumns[] = {
    {.field = "name", .title = "rank", .flexible = true},
    kPidColumn,
    {.field = "device", .title = "device", .shown = ShownIf::kAny},
    {.field = "count",
     .title = "collectives",
     .tip = "All that it entered while it was recorded, also those without a match"},
    {.field = "last_count", .title = "last", .tip = "Collectives in which it came last"},
    {.field = "last_ratio", .title = "of all"},
    {.field = "lead_ns",
     .title = "behind",
     .tip = "It came last: from the arrival of the rank before it to its own"},
    {.field = "waited_ns",
     .title = "waited",
     .shown = ShownIf::kAny,
     .tip = "It stood still until the last rank came"},
    {.field = "early_ns", .title = "early", .tip = "From its arrival to that of the last rank"},
    {.field = "exchange_ns",
     .title = "exchange",
     .shown = ShownIf::kAny,
     .tip = "It stood still after the last rank had come"},
    {.field = "caused_ns", .title = "others waited", .tip = "What other ranks waited for it"},
    {.field = "clock_offset_ns",
     .title = "clock",
     .shown = ShownIf::kAny,
     .tip = "What was added to its times, because its clock differs"},
};
constexpr TableColumn kWaitColumns[] = {
    {.field = "name", .title = "rank", .flexible = true},
    {.field = "late_name", .title = "waited for", .flexible = true},
    {.field = "pid", .title = "pid"},
    {.field = "late_pid", .title = "its pid", .unit = Unit::kIdentifier},
    {.field = "count", .title = "collectives"},
    {.field = "waited_ns",
     .title = "waited",
     .shown = ShownIf::kAny,
     .tip = "The rank stood still until the other came"},
    {.field = "early_ns", .title = "early", .tip = "From the one's arrival to the other's"},
    {.field = "max_ns", .title = "longest"},
    {.field = "max_start_ns", .title = "longest at", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableColumn kOpColumns[] = {
    {.field = "name", .title = "collective", .flexible = true},
    {.field = "count", .title = "count"},
    {.field = "spread_ns", .title = "spread", .tip = "From the first arrival to the last one"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "widest"},
    {.field = "max_start_ns", .title = "widest at", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableLayout kLayouts[] = {{.rows = "ranks",
                                     .row = results::CollectiveRank::descriptor,
                                     .columns = kRankColumns,
                                     .noun = "rank",
                                     .title = "Ranks"},
                                    {.rows = "waits",
                                     .row = results::CollectiveWait::descriptor,
                                     .columns = kWaitColumns,
                                     .noun = "pair of ranks",
                                     .title = "Who waited for whom"},
                                    {.rows = "operations",
                                     .row = results::CollectiveOp::descriptor,
                                     .columns = kOpColumns,
                                     .sorted_by = "spread_ns",
                                     .noun = "collective",
                                     .title = "Collectives"}};

std::string Counted(uint64_t count, const std::string& one, const std::string& several) {
  return FormatNumber(count) + " " + (count == 1 ? one : several);
}

// Says why no rank can be compared with another.
std::string WithoutMatch(results::CollectiveMatch match) {
  switch (match) {
    case results::COLLECTIVE_MATCH_NONE:
      return "No collective was recorded: neither kernels of collectives, nor calls of PyTorch's "
             "process groups.";
    case results::COLLECTIVE_MATCH_ONE_RANK:
      return "One rank alone entered collectives here. Whom it waited for, the recording of all "
             "ranks tells: read the directory of the job.";
    case results::COLLECTIVE_MATCH_DIFFERENT_ORDER:
      return "Ranks entered different collectives, or in another order, so it is not known which "
             "belong together. They may form several groups, and groups are not recorded.";
    case results::COLLECTIVE_MATCH_UNPLACED:
      return "The recordings of ranks begin at different collectives, and no waits tell which "
             "belong together. Record whole runs, or waits (--trace locks).";
    case results::COLLECTIVE_MATCH_CLOCKS:
      return "Ranks are on several machines, and no waits tell how far the clocks differ. Record "
             "waits (--trace locks).";
    default:
      return "";
  }
}

std::string Heading(const results::Collectives& result) {
  std::string text = Counted(result.rank_count(), "rank", "ranks") + ", " +
                     Counted(result.matched_count(), "collective", "collectives") +
                     " that all of them entered, in " + FormatDuration(result.window_ns());
  if (result.undecided_count() != 0)
    text +=
        "; in " + FormatNumber(result.undecided_count()) + " the clocks cannot tell who came last";
  return text + ".";
}

std::string NameOf(const results::Straggler& rank) {
  return rank.name() + " (pid " + std::to_string(rank.pid()) + ")";
}

// "the last in 5 of the 7 collectives that make up most of the delays"
std::string LastIn(const results::Straggler& rank) {
  return "the last in " + FormatNumber(rank.count()) + " of the " +
         Counted(rank.of_count(), "collective that makes", "collectives that make") +
         " up most of the delays";
}

std::string WaitedFor(const results::Straggler& rank) {
  return " The others waited " + FormatDuration(rank.caused_ns()) + " for it.";
}

std::string Verdict(const results::Collectives& result) {
  const results::Straggler& most = result.has_late() ? result.late() : result.most_late();
  switch (result.lateness()) {
    case results::LATENESS_LATE:
      return NameOf(most) + " is late: " + LastIn(most) + ". It comes " +
             FormatDuration(most.lead_ns()) + " after the rank before it (" +
             FormatPercent(most.lead_ratio()) + " of the time)." + WaitedFor(most);
    case results::LATENESS_TOO_FEW:
      return NameOf(most) + " may be late: " + LastIn(most) + "." + WaitedFor(most) +
             " So few collectives do not tell a habit from chance: record more of them.";
    case results::LATENESS_IN_TURNS:
      return "No rank is late alone: they come last in turns. " + NameOf(most) +
             " caused most: it is " + LastIn(most) + "." + WaitedFor(most);
    case results::LATENESS_ONCE:
      return "No rank is late again and again. " + NameOf(most) + " came last " +
             FormatDuration(most.max_ns()) +
             " after the others once, and its other delays are short.";
    default:
      return "No rank is late: where one comes last, it comes soon after the others.";
  }
}

}  // namespace

std::span<const TableLayout> CollectivesLayouts() { return kLayouts; }

std::string CollectivesText(const results::Collectives& result, const TextOptions& options) {
  const auto wrapped = [&](const std::string& words) {
    return WrapText(words, "", "", options.width);
  };
  if (result.match() != results::COLLECTIVE_MATCH_MATCHED)
    return wrapped(WithoutMatch(result.match())) + MetaText(result.meta(), options);
  std::string text = wrapped(Heading(result)) + wrapped(Verdict(result)) + "\n";
  for (const TableLayout& layout : kLayouts) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
