// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of serving. See text.h.

#include <algorithm>
#include <string>

#include "analysis/render/breakdown_words.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/serving.pb.h"

namespace gpuprof::analysis {
namespace {

template <typename Row>
std::string BubbleCell(const Row& row) {
  return TimeCategoryWords(row.bubble_category());
}

// The function says more than the operation.
template <typename Row>
std::string DuringCell(const Row& row) {
  return row.bubble_function().empty() ? row.bubble_operation() : row.bubble_function();
}
template <typename Row>
bool HasDuring(const Row& row) {
  return !row.bubble_function().empty() || !row.bubble_operation().empty();
}

constexpr TableColumn kThreadColumn = {
    .field = "tid", .title = "tid", .shown = ShownIf::kDifferentInProcess};
constexpr TableColumn kPhaseColumn = {.field = "phase", .title = "phase", .blank = "unknown"};
constexpr TableColumn kPromptColumn = {.field = "prompt_token_count",
                                       .title = "prompt tokens",
                                       .blank = "-",
                                       .tip = "Tokens of prompts that the model computed with"};
constexpr TableColumn kGenerationColumn = {
    .field = "generation_token_count",
    .title = "decode tokens",
    .blank = "-",
    .tip = "Tokens that the model computed with for requests that make tokens"};
constexpr TableColumn kCacheColumn = {
    .field = "cached_token_peak_count",
    .title = "KV cache",
    .blank = "-",
    .shown = ShownIf::kAny,
    .tip = "Most tokens that requests of one iteration had in the KV cache"};

constexpr TableColumn kEngineColumns[] = {
    kWhosePid,
    kThreadColumn,
    {.field = "name", .title = "process", .flexible = true},
    {.field = "marker", .title = "marks", .blank = "-", .in_text = false},
    {.field = "count", .title = "iterations"},
    {.field = "total_ns", .title = "time"},
    {.field = "token_gap_median_ns",
     .title = "token gap",
     .blank = "-",
     .tip = "From an iteration that makes tokens to the next one: the time of an output token"},
    {.field = "token_gap_p95_ns", .title = "p95", .blank = "-", .in_text = false},
    {.field = "token_gap_p99_ns", .title = "p99", .blank = "-"},
    {.field = "token_gap_max_ns", .title = "max", .blank = "-"},
    {.field = "token_gap_prefill_count",
     .title = "with prompts",
     .blank = "-",
     .tip = "Token gaps in which prompts were read, too"},
    {.field = "prompt_tokens_per_s", .title = "prompt tokens/s", .blank = "-", .scale = kWholes},
    {.field = "generation_tokens_per_s",
     .title = "decode tokens/s",
     .blank = "-",
     .scale = kWholes},
    kCacheColumn,
    {.field = "pause_count", .title = "pauses", .shown = ShownIf::kAny},
    {.field = "pause_ns", .title = "in pauses", .shown = ShownIf::kAny},
    {.field = "partial_count", .title = "cut", .shown = ShownIf::kAny},
    {.field = "device_name", .title = "device", .shown = ShownIf::kAny, .in_text = false},
    {.field = "twin_count",
     .title = "twins",
     .shown = ShownIf::kAny,
     .tip = "Other processes whose marks tell the same iterations"},
};
constexpr TableColumn kPhaseColumns[] = {
    kWhosePid,
    kThreadColumn,
    kPhaseColumn,
    {.field = "count", .title = "iterations"},
    {.field = "total_ratio", .title = "of time"},
    {.field = "median_ns",
     .title = "duration",
     .tip = "Median; of a decode, the time of an output token"},
    {.field = "p95_ns", .title = "p95", .in_text = false},
    {.field = "p99_ns", .title = "p99"},
    {.field = "request_count", .title = "requests", .blank = "-", .only_by = "batch"},
    {.field = "mean_request_count",
     .title = "batch",
     .blank = "-",
     .except_by = "batch",
     .tip = "Requests in an iteration, on average"},
    kPromptColumn,
    kGenerationColumn,
    {.field = "tokens_per_s", .title = "tokens/s", .blank = "-", .scale = kWholes},
    {.field = "bubble_ratio",
     .title = "bubbles",
     .blank = "-",
     .tip = "Time without work between forwards, as a part of bubbles and forwards"},
    {.field = "bubble_category",
     .title = "mostly",
     .cell = CellOf<results::ServingPhase, BubbleCell>,
     .needs = "bubble_category",
     .shown = ShownIf::kAny},
    {.field = "busy_ratio",
     .title = "GPU busy",
     .blank = "-",
     .tip = "Time with work, as a part of bubbles and forwards"},
    {.field = "bubble_function",
     .title = "in",
     .cell = CellOf<results::ServingPhase, DuringCell>,
     .flexible = true,
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::ServingPhase, HasDuring>,
     .tip = "What the launching thread was in for most of the time in which it was late"},
    {.field = "bubble_median_ns", .title = "bubble", .blank = "-", .in_text = false},
    {.field = "bubble_p95_ns", .title = "bubble p95", .blank = "-", .in_text = false},
    kCacheColumn,
    {.field = "graph_kernel_count",
     .title = "kernels in graphs",
     .share_of = "kernel_count",
     .needs = "kernel_count",
     .in_text = false},
};
constexpr TableColumn kServedColumns[] = {
    kWhosePid,
    kThreadColumn,
    {.field = "number", .title = "iteration"},
    {.field = "start_ns", .title = "start", .scale = kSeconds},
    kPhaseColumn,
    {.field = "duration_ns", .title = "duration", .blank = "-"},
    {.field = "request_count", .title = "requests", .blank = "-"},
    kPromptColumn,
    kGenerationColumn,
    {.field = "cached_token_count", .title = "KV cache", .blank = "-", .shown = ShownIf::kAny},
    {.field = "forward_ns",
     .title = "forward",
     .blank = "-",
     .tip = "From the first work on the device to the end of the last"},
    {.field = "busy_ns", .title = "busy", .blank = "-"},
    {.field = "bubble_ns",
     .title = "bubble",
     .blank = "-",
     .tip = "Time without work before the forward"},
    {.field = "bubble_category",
     .title = "mostly",
     .cell = CellOf<results::ServingIteration, BubbleCell>,
     .needs = "bubble_category",
     .shown = ShownIf::kAny},
    {.field = "bubble_function",
     .title = "in",
     .cell = CellOf<results::ServingIteration, DuringCell>,
     .flexible = true,
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::ServingIteration, HasDuring>,
     .tip = "What the launching thread was in for most of the time in which it was late"},
    {.field = "token_gap_ns", .title = "token gap", .blank = "-", .on_page = OnPage::kOffered},
    {.field = "mark_ns", .title = "mark", .on_page = OnPage::kOffered, .in_text = false},
    {.field = "mark",
     .title = "name",
     .flexible = true,
     .on_page = OnPage::kOffered,
     .in_text = false},
};
constexpr TableLayout kServingLayouts[] = {
    {.rows = "engines",
     .row = results::ServingEngine::descriptor,
     .columns = kEngineColumns,
     .is_complete = true,
     .noun = "thread",
     .title = "Threads with iterations"},
    {.rows = "phases",
     .row = results::ServingPhase::descriptor,
     .columns = kPhaseColumns,
     .is_complete = true,
     .noun = "phase",
     .title = "Phases"},
    {.rows = "iterations",
     .row = results::ServingIteration::descriptor,
     .columns = kServedColumns,
     .title = "Iterations"},
};

}  // namespace

std::span<const TableLayout> ServingLayouts() { return kServingLayouts; }

std::string ServingText(const results::Serving& result, const TextOptions& options) {
  if (result.engines().empty())
    return WrapText(result.advice(), "", "", options.width) + MetaText(result.meta(), options);
  std::string text;
  for (const TableLayout& layout : kServingLayouts) text += TableText(layout, result, options);
  uint64_t twins = 0;
  bool is_marked = true;
  for (const results::ServingEngine& engine : result.engines()) {
    twins = std::max<uint64_t>(twins, engine.twin_count());
    is_marked = is_marked && engine.marked();
  }
  if (!is_marked)
    text += WrapText(
        "Iterations without a phase are runs of a compiled program. No mark tells whether they "
        "serve.",
        "", "", options.width);
  if (twins != 0)
    text += WrapText("The marks of " + std::to_string(twins + 1) +
                         " processes tell the same iterations: ranks of one engine. Their tokens "
                         "and requests count once.",
                     "", "", options.width);
  return text + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
