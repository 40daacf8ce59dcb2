// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the pass python, and of the functions in the overview. See text.h.

#include <string>
#include <utility>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/overview.pb.h"
#include "proto/results/python.pb.h"

namespace gpuprof::analysis {
namespace {

std::string Plural(uint64_t count, const std::string& one, const std::string& several) {
  return FormatNumber(count) + " " + (count == 1 ? one : several);
}

// "4.2 s on processors, 300 ms ready for one, 1.1 s in waits for the GIL, 20 s in other waits"
template <typename Result>
std::string TimesText(const Result& result) {
  return FormatDuration(result.cpu_ns()) + " on processors, " + FormatDuration(result.ready_ns()) +
         " ready for one, " + FormatDuration(result.gil_ns()) + " in waits for the GIL, " +
         FormatDuration(result.wait_ns()) + " in other waits";
}

std::string Heading(const results::Python& result) {
  return Plural(result.count(), "sample", "samples") + " of " +
         Plural(result.thread_count(), "thread", "threads") +
         (result.process_count() > 1
              ? " in " + Plural(result.process_count(), "process", "processes")
              : "") +
         ": " + TimesText(result);
}

std::string CallsHeading(const results::Python& result) {
  std::string text = Plural(result.call_count(), "traced call", "traced calls") + " of " +
                     Plural(static_cast<uint64_t>(result.calls_size()), "function", "functions");
  if (result.incomplete_count() != 0)
    text +=
        "; " + FormatNumber(result.incomplete_count()) + " had not ended when their capture did";
  return text;
}

std::string PausesHeading(const results::Python& result) {
  return Plural(result.pause_count(), "pause", "pauses") +
         " of the garbage collector: " + FormatDuration(result.pause_ns());
}

std::string Nothing(const results::Python& result) {
  if (result.has_traced() && !result.meta().skipped().empty())
    return "No call of a traced function and no pause of the garbage collector was recorded.\n";

  if (!result.meta().skipped().empty())
    return "Samples of stacks were not recorded. To record them: " +
           result.meta().skipped(0).fix() + "\n";
  if (!result.has_interpreter())
    return "There are no samples of stacks: none of these processes ran Python, and native stacks "
           "were not sampled. `gpuprof stats health` says why.\n";
  return "There are no samples of stacks, although Python ran: no capture lasted long enough, or "
         "the notes say what was in the way.\n";
}

std::string HolderWords(const results::GilHolder& holder) {
  return holder.name().empty() ? "(not known)" : holder.name();
}

constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "function", .flexible = true, .except_by = "module thread"},
    {.field = "name", .title = "module", .flexible = true, .only_by = "module"},
    {.field = "name", .title = "thread", .flexible = true, .only_by = "thread"},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent, .only_by = "thread"},
    {.field = "tid", .title = "tid", .shown = ShownIf::kAny, .only_by = "thread"},
    {.field = "place",
     .title = "where",
     .flexible = true,
     .except_by = "module thread",
     .tip = "The line in which most of the function's own time passed"},
    {.field = "place", .title = "busiest function", .flexible = true, .only_by = "thread"},
    {.field = "self_ns",
     .title = "self",
     .tip = "On a processor, or ready for one, in the function itself"},
    {.field = "self_ratio", .title = "share"},
    {.field = "total_ns",
     .title = "total",
     .except_by = "thread",
     .tip = "On a processor in the function and in all that it called"},
    {.field = "total_ratio", .title = "of all", .except_by = "thread"},
    {.field = "program_ns",
     .title = "with libraries",
     .except_by = "thread",
     .tip = "On a processor in the function and in the libraries that it called",
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "gil_ns", .title = "GIL", .tip = "In waits for Python's global interpreter lock"},
    {.field = "wait_ns", .title = "waiting", .tip = "In all other waits"},
    {.field = "count", .title = "samples"},
    {.field = "thread_count",
     .title = "threads",
     .except_by = "thread",
     .on_page = OnPage::kOffered,
     .in_text = false},
};
constexpr TableColumn kHolderColumns[] = {
    {.field = "name",
     .title = "function",
     .cell = CellOf<results::GilHolder, HolderWords>,
     .flexible = true},
    {.field = "place", .title = "where", .flexible = true},
    {.field = "total_ns", .title = "waited for", .tip = "Time of all threads that waited"},
    {.field = "total_ratio", .title = "share"},
    {.field = "thread_count", .title = "threads"},
    {.field = "waiter_count", .title = "waiters"},
};
constexpr TableColumn kCallColumns[] = {
    {.field = "name", .title = "function", .flexible = true},
    {.field = "place", .title = "where", .flexible = true, .tip = "The first line of the function"},
    {.field = "count", .title = "calls"},
    {.field = "total_ns",
     .title = "total",
     .tip = "From begin to end; a call within a call of the same function counts once"},
    {.field = "self_ns", .title = "self", .tip = "Without traced functions that it called"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "longest"},
    {.field = "max_start_ns", .title = "longest at", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "thread_count", .title = "threads"},
    {.field = "incomplete_count",
     .title = "not ended",
     .shown = ShownIf::kAny,
     .tip = "Calls that had not ended when their capture did"},
};
constexpr TableColumn kPauseColumns[] = {
    {.field = "generation", .title = "generation"},
    {.field = "count", .title = "pauses"},
    {.field = "total_ns", .title = "total"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "longest"},
    {.field = "max_start_ns", .title = "longest at", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "collected_count", .title = "collected", .tip = "Objects that were collected"},
    {.field = "uncollectable_count", .title = "uncollectable", .shown = ShownIf::kAny},
    {.field = "thread_count", .title = "threads"},
};
constexpr TableColumn kTopColumns[] = {
    {.field = "name", .title = "function", .flexible = true},
    {.field = "place", .title = "where", .flexible = true},
    {.field = "program_ns", .title = "processor time"},
    {.field = "program_ratio", .title = "share"},
    {.field = "self_ns", .title = "self"},
    {.field = "total_ns", .title = "total"},
    {.field = "gil_total_ns", .title = "GIL"},
    {.field = "wait_total_ns", .title = "waiting"},
};
constexpr TableLayout kLayouts[] = {{.rows = "functions",
                                     .row = results::FunctionTime::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "self_ns",
                                     .title = "Functions by processor time"},
                                    {.rows = "holders",
                                     .row = results::GilHolder::descriptor,
                                     .columns = kHolderColumns,
                                     .sorted_by = "total_ns",
                                     .noun = "holder",
                                     .title = "Who had the GIL while others waited for it"},
                                    {.rows = "calls",
                                     .row = results::FunctionCalls::descriptor,
                                     .columns = kCallColumns,
                                     .sorted_by = "total_ns",
                                     .title = "Functions whose calls were traced"},
                                    {.rows = "pauses",
                                     .row = results::GcPauses::descriptor,
                                     .columns = kPauseColumns,
                                     .sorted_by = "total_ns",
                                     .noun = "generation",
                                     .title = "Pauses of the garbage collector"}};
constexpr TableLayout kTop = {.rows = "functions",
                              .row = results::FunctionTime::descriptor,
                              .columns = kTopColumns,
                              .sorted_by = "program_ns"};

}  // namespace

std::span<const TableLayout> PythonLayouts() { return kLayouts; }

std::string PythonText(const results::Python& result, const TextOptions& options) {
  std::string text;
  if (!result.functions().empty()) {
    text = TableText(Heading(result), kLayouts[0], result, options) +
           TableText(kLayouts[1], result, options);
  } else if (result.calls().empty() && result.pauses().empty()) {
    text = Nothing(result);
  }
  if (!result.calls().empty())
    text += TableText(CallsHeading(result), kLayouts[2], result, options);
  if (!result.pauses().empty())
    text += TableText(PausesHeading(result), kLayouts[3], result, options);
  return text + MetaText(result.meta(), options);
}

std::string TopFunctionsText(const results::OverviewFunctions& functions,
                             const results::Overview& result, const TextOptions& options) {
  if (functions.functions().empty()) return "";
  return TableText(
      "Functions by processor time, with the libraries that each called\n  " + TimesText(functions),
      kTop, PointersTo(functions.functions()), result, options);
}

}  // namespace gpuprof::analysis
