// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of input_pipeline. See text.h.

#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/render/verdicts.h"
#include "proto/results/input_pipeline.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr TableColumn kSourceColumns[] = {
    {.field = "name", .title = "loader", .flexible = true},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent},
    {.field = "step_count", .title = "steps", .tip = "Without the first and last of each epoch"},
    {.field = "step_ns", .title = "step", .tip = "From one call for a batch to the next, mean"},
    {.field = "wait_ns", .title = "wait", .tip = "For the step's batch, mean"},
    {.field = "wait_ratio", .title = "of step"},
    {.field = "median_ns", .title = "median", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "p95_ns", .title = "p95"},
    {.field = "p99_ns", .title = "p99", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "max_ns", .title = "longest"},
    {.field = "max_start_ns", .title = "longest at", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "first_ns", .title = "first", .tip = "Wait for the first batch of an epoch, mean"},
    {.field = "epoch_count", .title = "epochs", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "worker_count", .title = "workers"},
    {.field = "service_ns", .title = "a batch", .tip = "All work on one batch, mean"},
    {.field = "cpu_ns", .title = "cpu", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "workers_suffice", .title = "suffice", .tip = "Workers that would suffice"},
};
constexpr TableColumn kStageColumns[] = {
    {.field = "work", .title = "stage", .flexible = true},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent},
    {.field = "work_ns", .title = "a batch", .tip = "Mean time for a batch in one worker"},
    {.field = "batches_per_s",
     .title = "batches/s",
     .tip = "By all workers together, if this were their only work"},
    {.field = "waited_ns",
     .title = "waited for",
     .tip = "Mean wait of a step while workers did this; the parts add up to the wait"},
    {.field = "waited_ratio", .title = "of wait"},
};
constexpr TableColumn kWorkerColumns[] = {
    {.field = "pid", .title = "worker"},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent},
    {.field = "time_ns", .title = "time", .tip = "Its life from the first batch to the last"},
    {.field = "busy_ratio", .title = "works"},
    {.field = "sample_ns", .title = "samples"},
    {.field = "collate_ns", .title = "collate"},
    {.field = "transfer_ns", .title = "transfer"},
    {.field = "idle_ns", .title = "idle", .tip = "It had nothing to do"},
};
constexpr TableColumn kBatchColumns[] = {
    {.field = "number", .title = "batch"},
    {.field = "pid", .title = "pid", .shown = ShownIf::kDifferent},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent},
    {.field = "epoch", .title = "epoch", .shown = ShownIf::kDifferent},
    {.field = "asked_ns", .title = "asked at"},
    {.field = "wait_ns", .title = "wait"},
    {.field = "worker_pid", .title = "worker", .shown = ShownIf::kAny},
    {.field = "service_ns",
     .title = "made in",
     .shown = ShownIf::kAny,
     .tip = "The worker worked on it"},
    {.field = "margin_ns",
     .title = "ready before",
     .shown = ShownIf::kAny,
     .tip = "It was ready so long before it was asked for; negative: after"},
};
constexpr TableLayout kLayouts[] = {{.rows = "sources",
                                     .row = results::InputSource::descriptor,
                                     .columns = kSourceColumns,
                                     .noun = "loader",
                                     .title = "Loaders and datasets"},
                                    {.rows = "stages",
                                     .row = results::InputStageTime::descriptor,
                                     .columns = kStageColumns,
                                     .noun = "stage",
                                     .title = "Stages"},
                                    {.rows = "workers",
                                     .row = results::InputWorker::descriptor,
                                     .columns = kWorkerColumns,
                                     .noun = "worker",
                                     .title = "Workers"},
                                    {.rows = "batches",
                                     .row = results::InputBatch::descriptor,
                                     .columns = kBatchColumns,
                                     .noun = "batch",
                                     .title = "Batches: the longest waits first"}};

std::string Nothing(const results::InputPipeline& result) {
  if (result.meta().skipped().empty())
    return "The program asked no DataLoader and no tf.data for a batch, or did so outside of the "
           "recording.\n";
  return "Operations were not recorded. To record them: " + result.meta().skipped(0).fix() + "\n";
}

std::string WorkersText(uint32_t count) {
  return FormatNumber(count) + (count == 1 ? " worker" : " workers");
}

// Says what is at fault.
std::string StageText(const results::InputSource& source) {
  const std::string place =
      source.worker_count() == 0 ? "in the thread of the steps" : "in the workers";
  switch (source.stage()) {
    case results::INPUT_STAGE_SAMPLE:
      return "The stage at fault: reading samples (__getitem__ or the iterator of the dataset), " +
             place + ".";
    case results::INPUT_STAGE_COLLATE:
      return "The stage at fault: making a batch of samples (collate_fn), " + place + ".";
    case results::INPUT_STAGE_SOURCE:
      return "The stage at fault: what samples are read from. It serves one worker at a time, " +
             FormatDuration(source.source_ns()) + " for a batch; on average " +
             FormatReal(source.outstanding()) + " requests are outstanding.";
    case results::INPUT_STAGE_LOCK:
      return "The stage at fault: a lock. Workers wait for each other while they read samples.";
    case results::INPUT_STAGE_ORDER:
      return "The stage at fault: the order. One batch is late, while another worker has ready "
             "batches and nothing to do: " +
             FormatDuration(source.order_ns()) + " of the wait.";
    case results::INPUT_STAGE_TRANSFER:
      return "The stage at fault: passing ready batches on.";
    case results::INPUT_STAGE_ITERATOR:
      return "It waits for " + source.stage_detail() +
             " most. `gpuprof stats tf_data` has all iterators.";
    default:
      return "What the loader did meanwhile is not known: its threads were not sampled.";
  }
}

// Says how many workers suffice.
std::string SufficeText(const results::InputSource& source) {
  if (source.stage() == results::INPUT_STAGE_ITERATOR)
    return source.has_workers_suffice()
               ? " " + FormatNumber(source.workers_suffice()) + " calls at a time would suffice."
               : "";
  if (!source.has_workers_suffice())
    return source.stage() == results::INPUT_STAGE_UNKNOWN ? "" : " No number of workers suffices.";
  std::string text = " A batch takes " + FormatDuration(source.service_ns()) +
                     " and a step with a ready batch " + FormatDuration(source.rest_ns()) + ": ";
  const std::string number = WorkersText(source.workers_suffice());
  if (source.limited_by_processors())
    return text + "the processors allow " + number + ", and more would be needed.";
  return text + number + (source.workers_suffice() == 1 ? " suffices" : " suffice") +
         (source.stage() == results::INPUT_STAGE_ORDER ? " by their rate." : ".");
}

std::string Verdict(const results::InputSource& source) {
  const std::string share = FormatPercent(source.wait_ratio());
  std::string text;
  if (source.step_count() == 0) {
    text = "Too few batches were taken from " + source.name() + " to tell.";
  } else if (!source.input_bound()) {
    text = "Steps do not wait long for " + source.name() + ": " + share + " of their time.";
  } else {
    text = "Steps are bound by input: for " + share + " of a step (" +
           FormatDuration(source.wait_ns()) + " of " + FormatDuration(source.step_ns()) +
           ") the program waits for " + source.name() + ". " + StageText(source) +
           SufficeText(source);
  }
  if (source.first_ns() > 2 * source.step_ns() && source.step_count() != 0)
    text += " The first batch of an epoch takes " + FormatDuration(source.first_ns()) + ".";
  if (source.life_count() != 0)
    text += " Half of the batches are made in " + FormatDuration(source.service_median_ns()) +
            ", one of twenty in " + FormatDuration(source.service_p95_ns()) + " or more.";
  if (source.input_bound() && source.long_count() != 0)
    text +=
        " The " + FormatNumber(source.long_count()) + " longest waits make up nine tenths of all.";
  return text;
}

}  // namespace

void SayVerdicts(results::InputPipeline* result) {
  for (results::InputSource& source : *result->mutable_sources())
    source.set_verdict(Verdict(source));
}

std::span<const TableLayout> InputPipelineLayouts() { return kLayouts; }

std::string InputPipelineText(const results::InputPipeline& result, const TextOptions& options) {
  if (result.sources().empty()) return Nothing(result) + MetaText(result.meta(), options);
  std::string text;
  for (const results::InputSource& source : result.sources())
    text += WrapText(source.verdict(), "", "", options.width);
  text += "\n";
  for (const TableLayout& layout : kLayouts) text += TableText(layout, result, options);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
