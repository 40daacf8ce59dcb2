// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of stragglers. See text.h.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/figures.h"
#include "analysis/base/units.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/stragglers.pb.h"

namespace gpuprof::analysis {
namespace {

// Slow ranks that the verdict names one by one.
constexpr int kMostNamed = 5;

constexpr TableColumn kSlowColumns[] = {
    {.field = "name", .title = "rank", .flexible = true},
    {.field = "host", .title = "host", .shown = ShownIf::kAny},
    {.field = "device", .title = "device", .shown = ShownIf::kDifferent},
    {.field = "stage", .title = "stage", .shown = ShownIf::kDifferent},
    {.field = "type", .title = "slow in"},
    {.field = "first_step", .title = "from step", .unit = Unit::kIdentifier},
    {.field = "last_step", .title = "to step", .unit = Unit::kIdentifier},
    {.field = "step_count", .title = "steps"},
    {.field = "extra_ns", .title = "longer", .tip = "Than in other ranks, in a mean step of these"},
    {.field = "usual_ns", .title = "others take"},
    {.field = "step_ns", .title = "step", .tip = "The mean length of these steps"},
    {.field = "saved_ns",
     .title = "saved",
     .tip = "What the job would take less if this rank took the mean time"},
    {.field = "saved_ratio", .title = "of all"},
    {.field = "same_kernels_ratio",
     .title = "same kernels",
     .shown = ShownIf::kAny,
     .tip = "The part of the extra time in which kernels that others run, too, took longer"},
    {.field = "kernel", .title = "kernel", .flexible = true, .shown = ShownIf::kAny},
};
constexpr TableColumn kTypeColumns[] = {
    {.field = "name", .title = "operations", .flexible = true},
    {.field = "slowdown",
     .title = "S",
     .unit = Unit::kReal,
     .tip = "The slowdown if only these operations take their own time"},
    {.field = "saved_ns",
     .title = "saved",
     .tip = "What the job would take less if these operations took the mean time"},
    {.field = "total_ns",
     .title = "sum",
     .tip = "All ranks together; collectives count with their transfer alone, without waits for "
            "ranks"},
    {.field = "transfer", .title = "transfer", .unit = Unit::kFlag},
};
constexpr TableColumn kRankColumns[] = {
    {.field = "name", .title = "rank", .flexible = true},
    {.field = "pid", .title = "pid", .shown = ShownIf::kAny},
    {.field = "host", .title = "host", .shown = ShownIf::kAny},
    {.field = "device", .title = "device", .shown = ShownIf::kDifferent},
    {.field = "replica", .title = "replica", .shown = ShownIf::kAny, .shown_by = "stage"},
    {.field = "stage", .title = "stage", .shown = ShownIf::kAny},
    {.field = "slowdown",
     .title = "S",
     .unit = Unit::kReal,
     .shown = ShownIf::kAny,
     .tip = "The slowdown if only this rank takes its own time"},
    {.field = "saved_ns",
     .title = "saved",
     .shown = ShownIf::kAny,
     .tip = "What the job would take less if this rank took the mean time"},
    {.field = "work_ns", .title = "work a step", .tip = "Without waits for other ranks"},
    {.field = "waited_ns",
     .title = "waits a step",
     .shown = ShownIf::kAny,
     .tip = "For other ranks, until the last one comes to a collective"},
    {.field = "culprit_count", .title = "steps waited", .tip = "Steps that waited for it most"},
};
constexpr TableColumn kStageColumns[] = {
    {.field = "stage", .title = "stage", .unit = Unit::kIdentifier},
    {.field = "slowdown",
     .title = "S",
     .unit = Unit::kReal,
     .tip = "The slowdown if only this stage takes its own time"},
    {.field = "saved_ns",
     .title = "saved",
     .tip = "What the job would take less if this stage took the mean time"},
};
constexpr TableColumn kStepColumns[] = {
    {.field = "step", .title = "step", .unit = Unit::kIdentifier},
    {.field = "total_ns", .title = "time"},
    {.field = "ideal_ns", .title = "ideal", .tip = "If each operation took the mean of its like"},
    {.field = "slowdown", .title = "S", .unit = Unit::kReal},
    {.field = "name", .title = "waited for", .flexible = true},
    {.field = "type", .title = "in"},
    {.field = "path_ns", .title = "for", .tip = "Its time on the path of the step"},
    {.field = "extra_ns", .title = "above the mean"},
};
constexpr TableLayout kLayouts[] = {{.rows = "slow",
                                     .row = results::SlowRank::descriptor,
                                     .columns = kSlowColumns,
                                     .noun = "slow rank",
                                     .title = "Slow ranks"},
                                    {.rows = "types",
                                     .row = results::StragglerType::descriptor,
                                     .columns = kTypeColumns,
                                     .sorted_by = "slowdown",
                                     .noun = "type of operations",
                                     .title = "Operations"},
                                    {.rows = "ranks",
                                     .row = results::StragglerRank::descriptor,
                                     .columns = kRankColumns,
                                     .noun = "rank",
                                     .title = "Ranks"},
                                    {.rows = "stages",
                                     .row = results::StragglerStage::descriptor,
                                     .columns = kStageColumns,
                                     .noun = "stage",
                                     .title = "Stages"},
                                    {.rows = "steps",
                                     .row = results::StragglerStep::descriptor,
                                     .columns = kStepColumns,
                                     .noun = "step",
                                     .title = "Steps"}};

// Says why ranks cannot be compared.
std::string WhyNot(results::StragglerMatch match) {
  switch (match) {
    case results::STRAGGLER_MATCH_NONE:
      return "No step with a collective was recorded, so nothing tells how ranks depend on each "
             "other.";
    case results::STRAGGLER_MATCH_ONE_RANK:
      return "One rank alone entered collectives here. What the ranks of a job cost each other, "
             "the recording of all ranks tells: read the directory of the job.";
    case results::STRAGGLER_MATCH_DIFFERENT_ORDER:
      return "Ranks entered different collectives, or in another order, so their steps cannot be "
             "compared.";
    case results::STRAGGLER_MATCH_UNPLACED:
      return "The recordings of ranks begin at different collectives, and no waits tell which "
             "belong together. Record whole runs, or waits (--trace locks).";
    case results::STRAGGLER_MATCH_CLOCKS:
      return "Ranks are on several machines, and no waits tell how far the clocks differ. Record "
             "waits (--trace locks).";
    case results::STRAGGLER_MATCH_NO_STEPS:
      return "Ranks without steps cannot be compared. 'gpuprof stats steps' says why steps are "
             "missing; --step-marker names what begins a step.";
    case results::STRAGGLER_MATCH_NO_ENDS:
      return "It was not recorded when collectives ended, so waits and transfers cannot be told "
             "apart. Record waits (--trace locks).";
    case results::STRAGGLER_MATCH_TOO_LARGE:
      return "There are too many ranks, steps and collectives to play them at once. Choose steps: "
             "--steps FIRST-LAST.";
    default:
      return "";
  }
}

std::string CountOf(uint64_t count, const std::string& noun) {
  return FormatNumber(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Heading(const results::Stragglers& result) {
  std::string text = CountOf(result.rank_count(), "rank");
  if (result.stage_count() > 1)
    text += " (" + CountOf(result.replica_count(), "replica") + " of " +
            CountOf(result.stage_count(), "stage") + ")";
  text += ", " + CountOf(result.step_count(), "step");
  if (result.left_out_count() != 0)
    text += "; " + CountOf(result.left_out_count(), "step") +
            " of warm-up, or with other operations, left out";
  text += ". The steps take " + FormatDuration(result.total_ns()) + ". They would take " +
          FormatDuration(result.ideal_ns()) +
          " if each operation took the mean of its like: slowdown S " +
          FormatReal(result.slowdown()) + ".";
  // What rounds to 0.0 % needs no words.
  constexpr double kLeastError = 0.0005;
  if (result.simulation_error_ratio() >= kLeastError)
    text += " Played with the recorded times, the steps take " +
            FormatPercent(result.simulation_error_ratio()) + " more or less than recorded.";
  return text;
}

// "Rank 3", or its process: "train.py".
std::string NameOf(const results::SlowRank& rank) {
  std::string name = rank.has_rank() ? "Rank " + std::to_string(rank.rank()) : rank.name();
  if (rank.has_device() && !rank.has_rank()) name += " device " + std::to_string(rank.device());
  return name;
}

// Returns the words for a type of operations. Phases and collectives have their own names.
std::string TypeWords(const std::string& type) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"compute", "computing"},
      {"lock wait", "waits for locks"},
      {"blocked", "blocking calls"},
      {"host", "the host's work before launches"},
      {"other", "work outside of operations"}};
  for (const auto& [name, words] : kWords)
    if (type == name) return std::string(words);
  return type;
}

// "every third step"
std::string EveryStep(uint64_t every) {
  constexpr std::string_view kOrdinals[] = {"second",  "third",  "fourth", "fifth", "sixth",
                                            "seventh", "eighth", "ninth",  "tenth"};
  if (every >= 2 && every - 2 < std::size(kOrdinals))
    return "every " + std::string(kOrdinals[every - 2]) + " step";
  return "one of " + FormatNumber(every) + " steps";
}

std::string When(const results::SlowRank& rank, const results::Stragglers& result) {
  if (rank.single_steps()) {
    const std::string first = std::to_string(rank.first_step());
    if (rank.has_every_step()) {
      const bool is_from_begin =
          rank.first_step() < result.steps().begin()->step() + rank.every_step();
      return "in " + EveryStep(rank.every_step()) +
             (is_from_begin ? "" : " from step " + first + " on");
    }
    return "in " + FormatNumber(rank.step_count()) + " of " + FormatNumber(result.step_count()) +
           " steps";
  }
  if (rank.all_steps()) return "in all steps";
  const auto& steps = result.steps();
  if (rank.first_step() == steps.begin()->step())
    return "up to step " + std::to_string(rank.last_step());
  const std::string from = std::to_string(rank.first_step());
  if (rank.last_step() == steps.rbegin()->step()) return "from step " + from + " on";
  return "in steps " + from + " to " + std::to_string(rank.last_step());
}

std::string Saved(int64_t saved_ns, double ratio, const std::string& without) {
  return "the job would take " + FormatDuration(saved_ns) + " (" + FormatPercent(ratio) +
         ") less " + without;
}

std::string CauseOf(const results::SlowRank& rank) {
  switch (rank.cause()) {
    case results::STRAGGLER_CAUSE_SLOWER_DEVICE:
      return " The same kernels take longer there (" + rank.kernel() +
             "): look at the clock, the temperature and the power of its GPU.";
    case results::STRAGGLER_CAUSE_MORE_WORK:
      return " It has more work: further kernels, or kernels of other sizes (" + rank.kernel() +
             ").";
    case results::STRAGGLER_CAUSE_BOTH:
      return " It has more work, and the same kernels take longer there, too (" + rank.kernel() +
             ").";
    default:
      return "";
  }
}

std::string SlowRankWords(const results::SlowRank& rank, const results::Stragglers& result) {
  return NameOf(rank) + " is slow in " + TypeWords(rank.type()) + " " + When(rank, result) + ": " +
         FormatDuration(rank.extra_ns()) + " of " + FormatDuration(rank.step_ns()) +
         (rank.single_steps() ? " of each of these steps; " : " of each step; ") +
         Saved(rank.saved_ns(), rank.saved_ratio(), "with it as the others") + "." + CauseOf(rank);
}

std::string SlowRanksWords(const results::Stragglers& result) {
  std::string text;
  for (const std::string& host : result.slow_hosts())
    text += "The ranks of " + host + " are slow together: look at that machine. ";
  for (int i = 0; i < result.slow_size() && i < kMostNamed; ++i)
    text += (i == 0 ? "" : " ") + SlowRankWords(result.slow(i), result);
  if (result.slow_size() > kMostNamed)
    text += " " + FormatNumber(static_cast<uint64_t>(result.slow_size() - kMostNamed)) +
            " more ranks are slow.";
  if (result.slow_size() > 1)
    text += " With all slow ranks as the others, " +
            Saved(result.saved_ns(), result.saved_ratio(), "altogether") + ".";
  if (result.has_waited_per_step_ns())
    text += " The others wait " + FormatDuration(result.waited_per_step_ns()) +
            " in each of these steps.";
  return text;
}

std::string StageWords(const results::Stragglers& result) {
  const results::SlowStage& stage = result.slow_stage();
  const std::string number = std::to_string(stage.stage());
  return (stage.is_last() ? "The last stage (" + number + ")" : "Stage " + number) + " takes " +
         FormatReal(stage.factor()) + " times as long as the other stages in " + stage.type() +
         "; " +
         Saved(result.saved_ns(), result.saved_ratio(), "if its operations took the mean time") +
         ". Give it fewer layers, or split its longest ones.";
}

std::string Verdict(const results::Stragglers& result) {
  const double lost = result.slowdown() > 0 ? std::max(0.0, 1 - 1 / result.slowdown()) : 0;
  switch (result.verdict()) {
    case results::STRAGGLER_VERDICT_RANKS:
      return SlowRanksWords(result);
    case results::STRAGGLER_VERDICT_STAGE:
      return StageWords(result);
    case results::STRAGGLER_VERDICT_IN_TURNS: {
      std::string text =
          "No rank is slow again and again: ranks are slow in turns. The job would "
          "take " +
          FormatPercent(lost) + " less if each operation took the mean time.";
      if (result.types_size() != 0)
        text += " Most of that time lies in " + result.types(0).name() + ".";
      return text;
    }
    default:
      return "The job is balanced: all ranks take about the same time, step after step. With ranks "
             "and steps that are all alike it would take " +
             FormatPercent(lost) + " less.";
  }
}

std::string Metrics(const results::Stragglers& result) {
  std::string text;
  if (result.has_slowest_ratio())
    text += "The slowest 3 % of the ranks cause " + FormatPercent(result.slowest_ratio()) +
            " of the loss (M_W).";
  if (result.has_last_stage_ratio())
    text += std::string(text.empty() ? "" : " ") + "The last stage causes " +
            FormatPercent(result.last_stage_ratio()) + " (M_S).";
  return text;
}

}  // namespace

void SayVerdicts(results::Stragglers* result) {
  result->set_words(result->match() == results::STRAGGLER_MATCH_COMPARED ? Verdict(*result)
                                                                         : WhyNot(result->match()));
}

std::span<const TableLayout> StragglersLayouts() { return kLayouts; }

std::string StragglersText(const results::Stragglers& result, const TextOptions& options) {
  const auto wrapped = [&](const std::string& words) {
    return words.empty() ? "" : WrapText(words, "", "", options.width);
  };
  if (result.match() != results::STRAGGLER_MATCH_COMPARED)
    return wrapped(WhyNot(result.match())) + MetaText(result.meta(), options);
  std::string text =
      wrapped(Verdict(result)) + wrapped(Heading(result)) + wrapped(Metrics(result)) + "\n";
  for (const TableLayout& layout : kLayouts) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
