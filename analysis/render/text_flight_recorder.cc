// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of flight_recorder, and its verdict in sentences. See text.h.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/base/figures.h"
#include "analysis/base/units.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/flight_recorder.pb.h"

namespace gpuprof::analysis {
namespace {

using Problem = results::FlightProblem;

// "0 to 5, 7 and 9": runs of ranks are short, also of thousands.
template <typename Ranks>
std::string RanksText(const Ranks& ranks) {
  constexpr size_t kMostRuns = 12;
  std::vector<int32_t> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> runs;
  for (size_t i = 0; i < sorted.size();) {
    size_t end = i + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    if (end - i > 2) {
      runs.push_back(std::to_string(sorted[i]) + " to " + std::to_string(sorted[end - 1]));
    } else {
      for (size_t each = i; each < end; ++each) runs.push_back(std::to_string(sorted[each]));
    }
    i = end;
  }
  std::string text;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i == kMostRuns) return text + " and others";
    text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  }
  return text;
}

template <typename Ranks>
std::string RanksWord(const Ranks& ranks) {
  return std::string(ranks.size() == 1 ? "rank " : "ranks ") + RanksText(ranks);
}

std::string Capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// "all_reduce 13 of the group default_pg"
std::string WhatOf(const Problem& problem) {
  std::string text = (problem.operation().empty() ? "collective" : problem.operation()) + " " +
                     std::to_string(problem.sequence());
  const std::string& name =
      problem.group_description().empty() ? problem.group() : problem.group_description();
  return text + " of the group " + (name.empty() ? "without a name" : name);
}

std::string SizesOf(const results::FlightSide& side) {
  if (side.input_sizes() == side.output_sizes() || side.output_sizes().empty())
    return side.input_sizes();
  if (side.input_sizes().empty()) return side.output_sizes();
  return side.input_sizes() + " to " + side.output_sizes();
}

// Says where the ranks that wait are.
std::string WaitingText(const Problem& problem) {
  if (problem.waiting_ranks().empty()) return "";
  std::string text = " " + Capital(RanksWord(problem.waiting_ranks())) +
                     (problem.waiting_ranks_size() == 1 ? " waits" : " wait");
  for (const results::FlightSide& side : problem.sides()) {
    const bool waits = std::any_of(side.ranks().begin(), side.ranks().end(), [&](int32_t rank) {
      const auto& all = problem.waiting_ranks();
      return std::find(all.begin(), all.end(), rank) != all.end();
    });
    if (!waits || side.place().empty()) continue;
    return text + " in " + (side.function().empty() ? "" : side.function() + " at ") +
           side.place() + ".";
  }
  return text + ".";
}

// Says what the ranks that did not come did last.
std::string LastOfMissing(const Problem& problem) {
  std::string text;
  for (const results::FlightSide& side : problem.sides()) {
    const bool is_missing =
        std::any_of(side.ranks().begin(), side.ranks().end(), [&](int32_t rank) {
          return std::find(problem.ranks().begin(), problem.ranks().end(), rank) !=
                 problem.ranks().end();
        });
    if (!is_missing) continue;
    text += " " + Capital(RanksWord(side.ranks()));
    if (side.operation().empty()) {
      text += " entered nothing at all.";
      continue;
    }
    text += " last entered " + side.operation() + " " + std::to_string(side.sequence()) +
            (side.state().empty() ? "" : ", which is " + side.state()) +
            (side.place().empty() ? "" : ", from " + side.place()) + ".";
  }
  return text;
}

std::string SidesText(const Problem& problem, bool with_operation) {
  std::string text;
  for (const results::FlightSide& side : problem.sides()) {
    text += " " + Capital(RanksWord(side.ranks())) + (side.ranks_size() == 1 ? " has " : " have ");
    if (side.operation().empty()) {
      text += "nothing";
    } else {
      text += (with_operation ? side.operation() + " of " : "") + SizesOf(side) +
              (side.types().empty() ? "" : " " + side.types()) +
              (side.place().empty() ? "" : ", from " + side.place());
    }
    text += ".";
  }
  return text;
}

std::string OddText(const Problem& problem, const std::string& odd, const std::string& differ) {
  if (problem.has_no_majority())
    return Capital(RanksWord(problem.ranks())) + " " + differ + " in " + WhatOf(problem) + ".";
  return Capital(RanksWord(problem.ranks())) + " " +
         (problem.ranks_size() == 1 ? "has " : "have ") + odd + " than the others in " +
         WhatOf(problem) + ".";
}

std::string MissingPartner(const Problem& problem) {
  const bool sends = problem.operation() == "send";
  std::string text = Capital(RanksWord(problem.waiting_ranks())) +
                     (sends ? " sends to " : " waits for a message of ") +
                     RanksWord(problem.ranks()) + ", which has not begun to " +
                     (sends ? "receive" : "send") + ".";
  if (problem.is_uncertain()) text += " Older messages have left the ring, so this is not sure.";
  return text + WaitingText(problem) + LastOfMissing(problem);
}

std::string ProblemText(const Problem& problem) {
  std::string text;
  switch (problem.kind()) {
    case results::FLIGHT_PROBLEM_MISSING_ENTER:
      text = Capital(RanksWord(problem.ranks())) + " did not enter " + WhatOf(problem) + "." +
             WaitingText(problem) + LastOfMissing(problem);
      break;
    case results::FLIGHT_PROBLEM_OTHER_OPERATION:
      text = OddText(problem, "another operation", "run different operations") +
             SidesText(problem, true);
      break;
    case results::FLIGHT_PROBLEM_OTHER_ORDER:
      text = OddText(problem, "another order of operations",
                     "run their operations in different orders") +
             SidesText(problem, true) + " Each of them comes to the operation of the others later.";
      break;
    case results::FLIGHT_PROBLEM_OTHER_SIZES:
      text = OddText(problem, "another size", "have different sizes") + SidesText(problem, false);
      break;
    case results::FLIGHT_PROBLEM_OTHER_TYPES:
      text = OddText(problem, "another data type", "have different data types") +
             SidesText(problem, false);
      break;
    case results::FLIGHT_PROBLEM_MISSING_LEAVE: {
      size_t all = 0;
      for (const results::FlightSide& side : problem.sides())
        all += static_cast<size_t>(side.ranks_size());
      const bool is_all = all == static_cast<size_t>(problem.ranks_size());
      text = is_all ? "All ranks with a dump entered " + WhatOf(problem) +
                          " alike, and none has left it."
                    : Capital(RanksWord(problem.ranks())) + " did not leave " + WhatOf(problem) +
                          ", which the others have left.";
      text += WaitingText(problem);
      break;
    }
    case results::FLIGHT_PROBLEM_MISSING_PARTNER:
      text = MissingPartner(problem);
      break;
    case results::FLIGHT_PROBLEM_OTHER_MESSAGE:
      text = "Message " + std::to_string(problem.sequence()) + " from " + "rank " +
             std::to_string(problem.ranks(0)) + " to rank " + std::to_string(problem.ranks(1)) +
             " has other sizes at its two ends." + SidesText(problem, true);
      break;
    default:
      break;
  }
  if (problem.has_last_common_sequence())
    text += " The last collective that all entered alike is " +
            std::to_string(problem.last_common_sequence()) + ".";
  if (!problem.unknown_ranks().empty())
    text += " " + Capital(RanksWord(problem.unknown_ranks())) +
            (problem.unknown_ranks_size() == 1 ? " has" : " have") +
            " no dump: what happened there is not known.";
  return text;
}

// Says of what the first problem may be a sign, and what to do.
std::string AdviceText(const Problem& problem) {
  switch (problem.kind()) {
    case results::FLIGHT_PROBLEM_MISSING_ENTER:
      return "Look at the program of the missing ranks: an exception, a branch, a loop or a wait "
             "kept them away.";
    case results::FLIGHT_PROBLEM_OTHER_OPERATION:
    case results::FLIGHT_PROBLEM_OTHER_ORDER:
      return "Make all ranks run the same operations in the same order: look at branches by rank, "
             "and at sets whose order differs.";
    case results::FLIGHT_PROBLEM_OTHER_SIZES:
    case results::FLIGHT_PROBLEM_OTHER_TYPES:
      return "Give all ranks tensors of one size and type: look at uneven batches, unused "
             "parameters and other models.";
    case results::FLIGHT_PROBLEM_MISSING_LEAVE:
      return "If the operations are alike, look at what runs before them on the GPU, at a failed "
             "rank, and at the connection.";
    case results::FLIGHT_PROBLEM_MISSING_PARTNER:
    case results::FLIGHT_PROBLEM_OTHER_MESSAGE:
      return "Make each send have a receive of the same size, in the same order.";
    default:
      return "";
  }
}

// Says what a problem is that dumps of different moments may explain. No rank is called missing.
std::string UndecidedText(const Problem& problem) {
  const std::string waiting = problem.waiting_ranks().empty()
                                  ? ""
                                  : ", in which " + RanksWord(problem.waiting_ranks()) +
                                        (problem.waiting_ranks_size() == 1 ? " waits" : " wait");
  const std::string dumps =
      (problem.ranks_size() == 1 ? "the dump of " : "the dumps of ") + RanksWord(problem.ranks());
  const std::string what = Capital(WhatOf(problem));
  if (problem.kind() == results::FLIGHT_PROBLEM_MISSING_LEAVE)
    return what + " had not ended when " + dumps + (problem.ranks_size() == 1 ? " was" : " were") +
           " written.";
  if (problem.kind() == results::FLIGHT_PROBLEM_MISSING_PARTNER)
    return "A message between " + RanksWord(problem.ranks()) + " and " +
           RanksWord(problem.waiting_ranks()) +
           " had not ended when the dumps were written: " + what + ".";
  return what + waiting + ", is not in " + dumps + ".";
}

// Says that dumps are of different moments, if they are.
std::string MomentsText(const results::FlightRecorder& result) {
  std::vector<int32_t> earlier;
  int64_t most = 0;
  for (const results::FlightRank& rank : result.ranks()) {
    if (!rank.has_earlier_ns()) continue;
    earlier.push_back(rank.rank());
    most = std::max(most, rank.earlier_ns());
  }
  if (earlier.empty()) return "";
  return "The job still ran while the dumps were written: " +
         std::string(earlier.size() == 1 ? "that of " : "those of ") + RanksWord(earlier) +
         (earlier.size() == 1 ? " is" : " are") + " earlier than others" +
         (most > 0 ? ", by " + FormatDuration(most) + " or more" : "") +
         ". What an earlier dump lacks says nothing.";
}

std::string HealthyText(const results::FlightGroupState& group) {
  const std::string& name = group.description().empty() ? group.name() : group.description();
  std::string text = "All " + std::to_string(group.dump_count()) + " ranks";
  if (group.dump_count() == 1) text = "One rank";
  if (group.has_last_common_sequence()) {
    text +=
        group.is_incomplete()
            ? " entered collectives up to " + std::to_string(group.last_common_sequence())
            : " entered the same " + std::to_string(group.last_common_sequence()) + " collectives";
  } else {
    text += " entered no collective";
  }
  text += " of the group " + (name.empty() ? std::string("without a name") : name);
  if (group.message_count() != 0)
    text += " and " + FormatNumber(group.message_count()) + " messages";
  if (group.has_last_completed_sequence()) {
    return text + "; the last one that all have left is " +
           std::to_string(group.last_completed_sequence()) + ".";
  }
  return text + "; whether they left the last ones is not known.";
}

std::string LateText(const results::FlightLateRank& late) {
  std::string text = "Rank " + std::to_string(late.rank()) + " came last to " +
                     FormatNumber(late.count()) + " of " + FormatNumber(late.collective_count()) +
                     " collectives before, by " + FormatDuration(late.late_ns()) + " in the median";
  if (late.period() != 0)
    text += ", always at number " + std::to_string(late.place_in_period()) + " of " +
            std::to_string(late.period()) + " that repeat";
  if (!late.operation().empty())
    text += ": " + late.operation() + " of " + late.input_sizes() +
            (late.place().empty() ? "" : " at " + late.place());
  return text + ".";
}

constexpr TableColumn kSideColumns[] = {
    {.field = "name", .title = "ranks"},
    {.field = "operation", .title = "operation"},
    {.field = "sequence", .title = "sequence", .unit = Unit::kIdentifier},
    {.field = "input_sizes", .title = "sizes"},
    {.field = "types", .title = "types"},
    {.field = "state", .title = "state", .shown = ShownIf::kAny},
    {.field = "place", .title = "from", .flexible = true},
};
constexpr TableColumn kRankColumns[] = {
    {.field = "rank", .title = "rank", .unit = Unit::kIdentifier},
    {.field = "name", .title = "file", .flexible = true},
    {.field = "count", .title = "entries"},
    {.field = "lost_count",
     .title = "left the ring",
     .shown = ShownIf::kAny,
     .tip = "Older operations whose entries were written over"},
    {.field = "open_count",
     .title = "open",
     .blank = "-",
     .tip = "Operations that the rank entered and did not leave"},
    {.field = "earlier_ns",
     .title = "earlier by",
     .blank = "-",
     .shown = ShownIf::kAny,
     .tip = "The dump was written so much before the newest one, or more"},
    {.field = "operation", .title = "newest"},
    {.field = "group", .title = "group"},
    {.field = "sequence", .title = "sequence", .unit = Unit::kIdentifier},
    {.field = "state", .title = "state", .shown = ShownIf::kAny},
    {.field = "place", .title = "from", .flexible = true},
};
constexpr TableColumn kGroupColumns[] = {
    {.field = "name", .title = "group"},
    {.field = "description", .title = "description"},
    {.field = "dump_count", .title = "dumps"},
    {.field = "first_sequence",
     .title = "oldest",
     .unit = Unit::kIdentifier,
     .blank = "-",
     .tip = "The oldest collective that all dumps have"},
    {.field = "last_common_sequence",
     .title = "entered by all",
     .unit = Unit::kIdentifier,
     .blank = "-"},
    {.field = "last_completed_sequence",
     .title = "left by all",
     .unit = Unit::kIdentifier,
     .blank = "-"},
    {.field = "newest_sequence", .title = "newest", .unit = Unit::kIdentifier, .blank = "-"},
    {.field = "message_count", .title = "messages"},
};
constexpr TableColumn kLateColumns[] = {
    {.field = "rank", .title = "rank", .unit = Unit::kIdentifier},
    {.field = "group", .title = "group"},
    {.field = "count", .title = "came last"},
    {.field = "collective_count", .title = "collectives"},
    {.field = "late_ns", .title = "late by", .tip = "Behind the last of the others, in the median"},
    {.field = "total_ns", .title = "together"},
    {.field = "operation", .title = "operation"},
    {.field = "input_sizes", .title = "sizes"},
    {.field = "place", .title = "from", .flexible = true},
};
constexpr TableLayout kFlightLayouts[] = {
    {.rows = "problems.sides",
     .row = results::FlightSide::descriptor,
     .columns = kSideColumns,
     .noun = "set of ranks",
     .title = "What the ranks do at each problem",
     .in_text = false},
    {.rows = "groups",
     .row = results::FlightGroupState::descriptor,
     .columns = kGroupColumns,
     .noun = "group",
     .title = "Groups"},
    {.rows = "ranks",
     .row = results::FlightRank::descriptor,
     .columns = kRankColumns,
     .noun = "rank",
     .title = "Ranks"},
    {.rows = "late_ranks",
     .row = results::FlightLateRank::descriptor,
     .columns = kLateColumns,
     .noun = "late rank",
     .title = "Ranks that came late before"},
};

}  // namespace

void SayVerdicts(results::FlightRecorder* result) {
  constexpr int kMostProblems = 20, kMostGroups = 10;
  const auto say = [result](const std::string& sentence) {
    if (!sentence.empty()) result->add_verdict(sentence);
  };
  if (result->ranks().empty()) return;
  const auto& problems = result->problems();
  for (int i = 0; i < problems.size() && i < kMostProblems; ++i) {
    std::string text = ProblemText(problems[i]);
    if (problems[i].is_circle()) {
      text +=
          " Ranks wait for each other in several groups, so the order of the operations "
          "differs between ranks.";
    } else if (problems[i].has_caused_by()) {
      text = "It follows from the first problem: " + text;
      if (problems[i].caused_by() != 0)
        text = "It follows from another problem: " + ProblemText(problems[i]);
    }
    say(text);
  }
  if (problems.size() > kMostProblems)
    say(FormatNumber(static_cast<uint64_t>(problems.size() - kMostProblems)) +
        " problems more are in the JSON.");
  if (!problems.empty()) say(AdviceText(problems[0]));
  const bool is_uncertain = std::any_of(problems.begin(), problems.end(), [](const Problem& each) {
    return each.is_moment_uncertain();
  });
  if (is_uncertain) {
    say("The dumps do not tell when they were written. If the job still ran, they were perhaps "
        "written at different moments, and no rank is at fault. Write them again in that case.");
  }
  say(MomentsText(*result));
  const auto& undecided = result->undecided();
  for (int i = 0; i < undecided.size() && i < kMostProblems; ++i) say(UndecidedText(undecided[i]));
  if (!undecided.empty()) {
    say("The dumps were perhaps written at different moments, so no rank is known to be at fault. "
        "If the job hangs, write the dumps again.");
  }
  int healthy = 0;
  for (const results::FlightGroupState& group : result->groups())
    if (group.is_healthy() && ++healthy <= kMostGroups) say(HealthyText(group));
  if (healthy > kMostGroups)
    say(FormatNumber(static_cast<uint64_t>(healthy - kMostGroups)) + " groups more are healthy.");
  if (result->groups().empty()) say("The dumps have no collective and no message.");
  if (problems.empty() && undecided.empty() && !result->missing_dumps().empty())
    say(Capital(RanksWord(result->missing_dumps())) +
        (result->missing_dumps_size() == 1 ? " has" : " have") +
        " no dump. What happened there is not known. The ranks with a dump agree.");
  for (const results::FlightLateRank& late : result->late_ranks()) say(LateText(late));
}

std::span<const TableLayout> FlightRecorderLayouts() { return kFlightLayouts; }

std::string FlightRecorderText(const results::FlightRecorder& result, const TextOptions& options) {
  if (result.ranks().empty())
    return "The recording has no dump of PyTorch's flight recorder. Name the folder of the dumps: "
           "gpuprof stats flight_recorder FOLDER\n" +
           MetaText(result.meta(), options);
  std::string text;
  for (const std::string& sentence : result.verdict()) text += sentence + "\n";
  for (const TableLayout& layout : kFlightLayouts)
    if (layout.in_text) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
