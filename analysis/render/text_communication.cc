// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the communication of ranks. See text.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/communication.pb.h"

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
std::string GapText(results::TransferGap gap) {
  switch (gap) {
    case results::TRANSFER_GAP_ONE_RANK:
      return "one rank";
    case results::TRANSFER_GAP_MISSING_RANKS:
      return "ranks missing";
    case results::TRANSFER_GAP_NOT_MATCHED:
      return "not matched";
    case results::TRANSFER_GAP_NO_ENDS:
      return "no ends";
    case results::TRANSFER_GAP_NO_BYTES:
      return "no sizes";
    case results::TRANSFER_GAP_NO_DATA:
      return "no data";
    default:
      return "";
  }
}

template <typename Row>
std::string BusCell(const Row& row) {
  if (!row.has_bus_bytes_per_second()) return GapText(row.gap());
  return FormatBytes(static_cast<uint64_t>(row.bus_bytes_per_second())) + "/s";
}

std::string ReachText(results::GroupReach reach) {
  if (reach == results::REACH_ONE_NODE) return "in a node";
  return reach == results::REACH_SEVERAL_NODES ? "between nodes" : "";
}
template <typename Row>
std::string ReachCell(const Row& row) {
  return ReachText(row.reach());
}

bool HasFamily(const results::CollectiveOp& row) { return !row.family().empty(); }
bool HasKind(const results::GroupFamily& row) { return row.kind() != results::PARALLEL_UNKNOWN; }

// Columns of several tables.
template <typename Row>
constexpr TableColumn kBus = {
    .field = "bus_bytes_per_second",
    .title = "bus",
    .cell = CellOf<Row, BusCell<Row>>,
    .align = ColumnAlign::kRight,
    .tip = "What links carry: bytes times the factor of the operation, over the transfer"};
template <typename Row>
constexpr TableColumn kReach = {.field = "reach",
                                .title = "where",
                                .cell = CellOf<Row, ReachCell<Row>>,
                                .shown = ShownIf::kAny};
constexpr TableColumn kKernelTime = {.field = "time_ns",
                                     .title = "kernels",
                                     .shown = ShownIf::kAny,
                                     .tip = "The kernels of all ranks"};
constexpr TableColumn kExposed = {.field = "exposed_ns",
                                  .title = "exposed",
                                  .shown = ShownIf::kAny,
                                  .tip = "The GPU of the rank computed nothing"};
constexpr TableColumn kLateName = {
    .field = "late_name", .title = "most behind", .flexible = true, .shown = ShownIf::kAny};
constexpr TableColumn kLateLead = {
    .field = "late_lead_ns", .title = "behind", .shown = ShownIf::kAny};

constexpr TableColumn kOpColumns[] = {
    {.field = "name", .title = "operation", .flexible = true},
    {.field = "family",
     .title = "groups",
     .flexible = true,
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::CollectiveOp, HasFamily>},
    {.field = "size_count", .title = "ranks", .tip = "The ranks of each group"},
    {.field = "count", .title = "count"},
    {.field = "spread_ns", .title = "spread", .tip = "From the first arrival to the last one"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "widest"},
    {.field = "max_start_ns", .title = "widest at", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "size_bytes",
     .title = "bytes",
     .shown = ShownIf::kAny,
     .tip = "By which NCCL's tests compute the bandwidth"},
    {.field = "transfer_ns",
     .title = "transfers",
     .shown = ShownIf::kAny,
     .tip = "From the last arrival to the end",
     .in_text = false},
    {.field = "mean_transfer_ns",
     .title = "transfer",
     .shown = ShownIf::kAny,
     .tip = "From the last arrival to the end, of one"},
    {.field = "algorithm_bytes_per_second",
     .title = "algorithm",
     .shown = ShownIf::kAny,
     .tip = "Bytes over the transfer",
     .in_text = false},
    kBus<results::CollectiveOp>,
    kReach<results::CollectiveOp>,
    {.field = "group_count", .title = "of groups", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableColumn kFamilyColumns[] = {
    {.field = "name", .title = "groups", .flexible = true},
    {.field = "kind",
     .title = "kind",
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::GroupFamily, HasKind>},
    {.field = "kind_source", .title = "known by", .tip = "What tells the kind"},
    {.field = "group_count", .title = "count"},
    {.field = "size_count", .title = "ranks each"},
    {.field = "rank_count",
     .title = "recorded",
     .tip = "Ranks of all these groups",
     .in_text = false},
    kReach<results::GroupFamily>,
    {.field = "count", .title = "matched", .tip = "Matched collectives and messages"},
    kKernelTime,
    kExposed,
    {.field = "hidden_ratio", .title = "hidden", .shown = ShownIf::kAny},
    {.field = "early_ns",
     .title = "early",
     .tip = "Until the last rank of the group came",
     .in_text = false},
    kLateName,
    kLateLead,
};
constexpr TableColumn kGroupColumns[] = {
    {.field = "name", .title = "group"},
    {.field = "family", .title = "groups", .flexible = true},
    {.field = "kind", .title = "kind"},
    {.field = "size_count", .title = "ranks"},
    {.field = "rank_count", .title = "recorded"},
    {.field = "ranks", .title = "which", .flexible = true},
    {.field = "match", .title = "match"},
    {.field = "count", .title = "matched"},
    {.field = "unmatched_count", .title = "not matched", .shown = ShownIf::kAny},
    kKernelTime,
    kExposed,
    {.field = "early_ns", .title = "early"},
    kLateName,
    kLateLead,
};
constexpr TableColumn kGroupOpColumns[] = {
    {.field = "group", .title = "group"},
    {.field = "family", .title = "groups", .flexible = true},
    {.field = "name", .title = "operation", .flexible = true},
    {.field = "count", .title = "count"},
    {.field = "spread_ns", .title = "spread"},
    {.field = "size_bytes", .title = "bytes", .shown = ShownIf::kAny},
    {.field = "transfer_ns", .title = "transfer", .shown = ShownIf::kAny},
    {.field = "algorithm_bytes_per_second", .title = "algorithm", .shown = ShownIf::kAny},
    kBus<results::GroupOperation>,
};
constexpr TableColumn kExpertColumns[] = {
    {.field = "name", .title = "rank", .flexible = true},
    kWhosePid,
    {.field = "group", .title = "group"},
    {.field = "count", .title = "all-to-all"},
    {.field = "received_bytes", .title = "received"},
    {.field = "load_ratio", .title = "of the mean", .tip = "Over the mean of its group"},
};
constexpr TableColumn kStageColumns[] = {
    {.field = "name", .title = "rank", .flexible = true},
    kWhosePid,
    {.field = "message_count", .title = "messages"},
    {.field = "count", .title = "steps"},
    {.field = "window_ns", .title = "time", .tip = "From the first message of a step to the last"},
    {.field = "bubble_ns",
     .title = "bubbles",
     .tip = "The GPU neither computed nor was in another collective"},
    {.field = "bubble_ratio", .title = "of the time"},
};
constexpr TableLayout kFamilyLayout = {.rows = "families",
                                       .row = results::GroupFamily::descriptor,
                                       .columns = kFamilyColumns,
                                       .noun = "kind of groups",
                                       .title = "Groups of ranks"};
constexpr TableLayout kRankLayout = {.rows = "ranks",
                                     .row = results::CollectiveRank::descriptor,
                                     .columns = kRankColumns,
                                     .noun = "rank",
                                     .title = "Ranks"};
constexpr TableLayout kWaitLayout = {.rows = "waits",
                                     .row = results::CollectiveWait::descriptor,
                                     .columns = kWaitColumns,
                                     .noun = "pair of ranks",
                                     .title = "Who waited for whom"};
constexpr TableLayout kOpLayout = {.rows = "operations",
                                   .row = results::CollectiveOp::descriptor,
                                   .columns = kOpColumns,
                                   .sorted_by = "spread_ns",
                                   .noun = "operation",
                                   .title = "Operations"};
constexpr TableLayout kExpertLayout = {.rows = "experts",
                                       .row = results::ExpertLoad::descriptor,
                                       .columns = kExpertColumns,
                                       .sorted_by = "load_ratio",
                                       .noun = "rank",
                                       .title = "Load of experts"};
constexpr TableLayout kStageLayout = {.rows = "stages",
                                      .row = results::PipelineStage::descriptor,
                                      .columns = kStageColumns,
                                      .sorted_by = "bubble_ratio",
                                      .noun = "rank",
                                      .title = "Stages of pipelines"};
constexpr TableLayout kLayouts[] = {kFamilyLayout,
                                    kOpLayout,
                                    kRankLayout,
                                    kWaitLayout,
                                    kExpertLayout,
                                    kStageLayout,
                                    {.rows = "groups",
                                     .row = results::CommunicationGroup::descriptor,
                                     .columns = kGroupColumns,
                                     .noun = "group",
                                     .title = "Each group",
                                     .in_text = false},
                                    {.rows = "group_operations",
                                     .row = results::GroupOperation::descriptor,
                                     .columns = kGroupOpColumns,
                                     .noun = "operation",
                                     .title = "Operations of each group",
                                     .in_text = false}};

// More ranks than these are told by their ranges, and by those that differ.
constexpr int kFewRanks = 16;

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
             "belong together. They may form several groups that the recording does not name.";
    case results::COLLECTIVE_MATCH_SEVERAL_GROUPS:
      return "Ranks communicate in several groups, and the recording does not say which ranks a "
             "group has. So it is not known which collectives belong together.";
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

std::string Heading(const results::Communication& result) {
  std::string text = Counted(result.rank_count(), "rank", "ranks") + ", " +
                     Counted(result.matched_count(), "collective", "collectives") +
                     " that all ranks of their group entered, in " +
                     FormatDuration(result.window_ns());
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

std::string Verdict(const results::Communication& result) {
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

// "12 to 30 ms"
std::string RangeOf(std::vector<int64_t> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*least == *most) return FormatDuration(*least);
  return FormatDuration(*least) + " to " + FormatDuration(*most);
}

int64_t WaitOf(const results::CollectiveRank& rank) {
  return rank.has_waited_ns() ? rank.waited_ns() : rank.early_ns();
}

// Returns whether the rank's delays are much longer than those of most, and a part of the time.
bool IsFarBehind(const results::CollectiveRank& rank, int64_t median, int64_t window) {
  constexpr int64_t kTimes = 3, kPart = 100;
  return rank.lead_ns() > kTimes * median && rank.lead_ns() > window / kPart;
}

// Tells many ranks by ranges, and lists those that differ.
std::string ManyRanksText(const results::Communication& result, const TextOptions& options) {
  std::vector<int64_t> leads;
  for (const results::CollectiveRank& rank : result.ranks()) leads.push_back(rank.lead_ns());
  std::vector<int64_t> sorted = leads;
  std::nth_element(sorted.begin(), sorted.begin() + result.ranks_size() / 2, sorted.end());
  const int64_t median = sorted[sorted.size() / 2];
  std::vector<const results::CollectiveRank*> far;
  std::vector<int64_t> behind, waits;
  for (const results::CollectiveRank& rank : result.ranks()) {
    if (IsFarBehind(rank, median, result.window_ns())) {
      far.push_back(&rank);
      continue;
    }
    behind.push_back(rank.lead_ns());
    waits.push_back(WaitOf(rank));
  }
  std::stable_sort(far.begin(), far.end(),
                   [](const auto* a, const auto* b) { return a->lead_ns() > b->lead_ns(); });
  std::string text;
  if (!far.empty())
    text += TableText("Ranks that differ", kRankLayout, {far.begin(), far.end()}, result, options);
  if (behind.empty()) return text;
  const std::string who = far.empty() ? "The ranks are alike" : "The others are alike";
  return text +
         WrapText(who + ": " + FormatNumber(behind.size()) + " ranks come " + RangeOf(behind) +
                      " behind the rank before them, and wait " + RangeOf(waits) +
                      " for others. The JSON has each.",
                  "", "", options.width) +
         "\n";
}

std::string RanksText(const results::Communication& result, const TextOptions& options) {
  const bool is_short = result.ranks_size() <= kFewRanks || options.limit == 0;
  return is_short ? TableText(kRankLayout, result, options) : ManyRanksText(result, options);
}

std::string WaitsText(const results::Communication& result, const TextOptions& options) {
  // Who waited for a rank is told by the rank itself, if there are many.
  if (result.ranks_size() > kFewRanks && options.limit != 0) return "";
  return TableText(kWaitLayout, result, options);
}

// Says what could not be told about groups.
std::string GroupNotes(const results::Communication& result) {
  std::string text;
  if (result.unnamed_count() != 0 && result.families_size() != 0)
    text += FormatNumber(result.unnamed_count()) +
            " collectives of ranks name no group. They are matched by their order. ";
  if (result.clock_set_count() > 1)
    text += "Ranks of " + FormatNumber(result.clock_set_count()) +
            " sets cannot be compared with each other: no collective joins their clocks. ";
  return text;
}

}  // namespace

void SayVerdicts(results::Communication* result) {
  result->set_words(result->match() == results::COLLECTIVE_MATCH_MATCHED
                        ? Verdict(*result)
                        : WithoutMatch(result->match()));
}

std::span<const TableLayout> CommunicationLayouts() { return kLayouts; }

std::string CommunicationText(const results::Communication& result, const TextOptions& options) {
  const auto wrapped = [&](const std::string& words) {
    return WrapText(words, "", "", options.width);
  };
  const auto table = [&](const TableLayout& layout, int rows) {
    return rows == 0 ? std::string() : TableText(layout, result, options);
  };
  std::string text;
  const bool is_matched = result.match() == results::COLLECTIVE_MATCH_MATCHED;
  text += is_matched ? wrapped(Heading(result)) + wrapped(Verdict(result))
                     : wrapped(WithoutMatch(result.match()));
  if (const std::string notes = GroupNotes(result); !notes.empty()) text += wrapped(notes);
  if (is_matched || result.families_size() != 0) text += "\n";
  text += table(kFamilyLayout, result.families_size());
  text += table(kOpLayout, result.operations_size());
  if (is_matched) text += RanksText(result, options) + WaitsText(result, options);
  text += table(kExpertLayout, result.experts_size());
  text += table(kStageLayout, result.stages_size());
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
