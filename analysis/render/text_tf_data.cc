// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of tf_data. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/tf_data.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr TableColumn kPipelineColumns[] = {
    {.field = "name", .title = "outermost", .flexible = true},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent},
    {.field = "count", .title = "calls", .tip = "Elements that the program asked for"},
    {.field = "waited_ns", .title = "waited", .tip = "The program was in these calls"},
    {.field = "waited_ratio",
     .title = "of time",
     .tip = "A part of the time from the first call to the last one"},
    {.field = "median_ns", .title = "median"},
    {.field = "p95_ns", .title = "p95"},
    {.field = "max_ns", .title = "longest"},
    {.field = "max_start_ns", .title = "longest at", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "blamed", .title = "most for", .tip = "The iterator that it waited for most"},
    {.field = "blamed_ratio", .title = "of wait"},
};
constexpr TableColumn kIteratorColumns[] = {
    {.field = "name", .title = "iterator", .flexible = true},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent},
    {.field = "iterator_class", .title = "class"},
    {.field = "count", .title = "calls"},
    {.field = "waited_ns",
     .title = "waited for",
     .tip = "The program waited, and this was the innermost iterator at work"},
    {.field = "waited_ratio", .title = "of wait"},
    {.field = "self_ns",
     .title = "self",
     .tip = "Without the iterators that the same thread called meanwhile, summed over threads"},
    {.field = "total_ns", .title = "total"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "longest"},
    {.field = "max_start_ns", .title = "longest at", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "thread_count", .title = "threads"},
    {.field = "path", .title = "path", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableLayout kLayouts[] = {{.rows = "pipelines",
                                     .row = results::DataPipeline::descriptor,
                                     .columns = kPipelineColumns,
                                     .noun = "pipeline",
                                     .title = "Pipelines"},
                                    {.rows = "iterators",
                                     .row = results::DataIterator::descriptor,
                                     .columns = kIteratorColumns,
                                     .noun = "iterator",
                                     .title = "Iterators: each asks those that stand below it"}};

std::string Nothing(const results::TfData& result) {
  if (result.meta().skipped().empty())
    return "The program asked no iterator of tf.data, or asked it outside of the recording.\n";
  return "Operations were not recorded. To record them: " + result.meta().skipped(0).fix() + "\n";
}

// Says how long the program waits for a pipeline, and why.
std::string Verdict(const results::DataPipeline& pipeline) {
  constexpr double kLittle = 0.05;
  const std::string part = FormatPercent(pipeline.waited_ratio()) + " of the time";
  if (pipeline.waited_ratio() < kLittle)
    return "The program hardly waits for " + pipeline.name() + ": " + part + ".";
  std::string text = "The program waits for " + pipeline.name() + " " + part + ": " +
                     FormatDuration(pipeline.waited_ns()) + " in " +
                     FormatNumber(pipeline.count()) +
                     (pipeline.count() == 1 ? " call." : " calls.");
  text += " It waits for " + pipeline.blamed() +
          " most: " + FormatPercent(pipeline.blamed_ratio()) + " of the wait.";
  const bool is_one = pipeline.long_count() == 1;
  if (pipeline.long_count() != 0)
    text += (is_one ? " One call of " + FormatDuration(pipeline.max_ns()) + " makes"
                    : " The " + FormatNumber(pipeline.long_count()) + " longest calls make") +
            " up nine tenths of the wait. Half of the calls take " +
            FormatDuration(pipeline.median_ns()) + " at most.";
  if (!pipeline.filled().empty())
    text += " In the longest call " + pipeline.filled() + " filled its buffer.";
  if (pipeline.python_ns() * 4 >= pipeline.waited_ns())
    text += " A Python function ran in " + FormatDuration(pipeline.python_ns()) +
            " of the wait: Python runs one call at a time.";
  return text;
}

// Sets names in by their depth.
results::TfData Indented(results::TfData result) {
  for (results::DataIterator& row : *result.mutable_iterators())
    row.set_name(std::string(2 * row.depth(), ' ') + row.name());
  return result;
}

}  // namespace

void SayVerdicts(results::TfData* result) {
  for (results::DataPipeline& pipeline : *result->mutable_pipelines())
    pipeline.set_verdict(Verdict(pipeline));
}

std::span<const TableLayout> TfDataLayouts() { return kLayouts; }

std::string TfDataText(const results::TfData& result, const TextOptions& options) {
  if (result.pipelines().empty()) return Nothing(result) + MetaText(result.meta(), options);
  std::string text;
  for (const results::DataPipeline& pipeline : result.pipelines())
    text += WrapText(pipeline.verdict(), "", "", options.width);
  text += "\n";
  const results::TfData indented = Indented(result);
  for (const TableLayout& layout : kLayouts) text += TableText(layout, indented, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
