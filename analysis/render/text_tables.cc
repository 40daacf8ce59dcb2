// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of ops and threads. See text.h.

#include <algorithm>

#include "analysis/render/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/ops.pb.h"
#include "proto/results/threads.pb.h"

namespace gpuprof::analysis {
namespace {

std::string ThreadWords(const results::Thread& t) {
  return t.name() + (t.step_thread() ? " (steps)" : "") + (t.tool() ? " (profiler)" : "");
}

std::string CreatorWords(const results::Thread& t) {
  if (!t.created_by().empty()) return t.created_by();
  return t.has_created_by_tid() ? std::to_string(t.created_by_tid()) : "";
}

constexpr TableColumn kProcessColumns[] = {
    kPidColumn,
    {.field = "name", .title = "process", .flexible = true},
    {.field = "role", .title = "role"},
    {.field = "thread_count", .title = "threads"},
    {.field = "count", .title = "events"},
    {.field = "cpu_ns", .title = "cpu", .blank = "-"},
    {.field = "cpu_ratio", .title = "cores busy", .unit = Unit::kReal, .blank = "-"},
    {.field = "runqueue_wait_ns", .title = "waiting for cpu", .blank = "-"},
    {.field = "contended_ns", .title = "contended"},
};
constexpr TableColumn kThreadColumns[] = {
    kPidColumn,
    {.field = "tid", .title = "tid"},
    {.field = "name",
     .title = "thread",
     .cell = CellOf<results::Thread, ThreadWords>,
     .flexible = true},
    {.field = "life_ns", .title = "life"},
    {.field = "cpu_ns", .title = "cpu", .blank = "-"},
    {.field = "cpu_ratio", .title = "busy", .blank = "-"},
    {.field = "runqueue_wait_ns", .title = "waiting for cpu", .blank = "-"},
    {.field = "op_ns", .title = "in ops"},
    {.field = "contended_ns", .title = "contended"},
    {.field = "waiting_ns", .title = "waiting"},
    {.field = "count", .title = "events"},
    {.field = "created_by", .title = "created by", .cell = CellOf<results::Thread, CreatorWords>},
};
constexpr TableLayout kThreadsLayouts[] = {
    {.rows = "processes",
     .row = results::ThreadProcess::descriptor,
     .columns = kProcessColumns,
     .is_complete = true},
    {.rows = "threads", .row = results::Thread::descriptor, .columns = kThreadColumns},
};

std::string OpWords(const results::Op& op, const CellContext& context) {
  return ShownName(op, context.options) + Unfinished(op.incomplete_count());
}

constexpr TableColumn kOpColumns[] = {
    {.field = "name", .title = "operation", .cell = CellOf<results::Op, OpWords>, .flexible = true},
    {.field = "scope", .title = "scope"},
    {.field = "shapes", .title = "shapes of inputs", .blank = "-", .shown = ShownIf::kAny},
    {.field = "pid", .title = "pid", .shown = ShownIf::kAny},
    {.field = "tid", .title = "tid", .shown = ShownIf::kAny},
    {.field = "self_ns", .title = "self"},
    {.field = "self_ratio", .title = "of all"},
    {.field = "step_ratio", .title = "of steps", .shown = ShownIf::kAny},
    {.field = "count", .title = "count"},
    {.field = "count_per_step",
     .title = "a step",
     .shown = ShownIf::kAny,
     .shown_by = "step_ratio"},
    {.field = "total_ns", .title = "total"},
    {.field = "mean_ns", .title = "mean"},
    {.field = "max_ns", .title = "max"},
    {.field = "device_ns", .title = "on GPU", .shown = ShownIf::kAny},
    {.field = "device_self_ns",
     .title = "GPU self",
     .shown = ShownIf::kAny,
     .shown_by = "device_ns"},
};
constexpr TableLayout kOpsLayouts[] = {{"ops", results::Op::descriptor, kOpColumns}};

}  // namespace

std::span<const TableLayout> OpsLayouts() { return kOpsLayouts; }
std::span<const TableLayout> ThreadsLayouts() { return kThreadsLayouts; }

TextTable OpRows(const google::protobuf::RepeatedPtrField<results::Op>& ops, int most,
                 const TextOptions& options) {
  TableRows rows;
  rows.all = rows.shown = PointersTo(ops);
  rows.shown.resize(std::min(rows.all.size(), static_cast<size_t>(most)));
  return MakeTable(kOpsLayouts[0], rows, results::Ops::default_instance(), options);
}

std::string OpsText(const results::Ops& result, const TextOptions& options) {
  if (result.ops().empty()) {
    return "No framework operation was recorded.\n" + MetaText(result.meta(), options);
  }
  std::string heading = FormatNumber(result.count()) + " operations, " +
                        FormatDuration(result.self_ns()) + " of thread time in them";
  if (result.has_step_count()) {
    heading += "; " + FormatNumber(result.step_count()) + " steps of " +
               FormatDuration(result.step_ns() /
                              static_cast<int64_t>(std::max<uint64_t>(result.step_count(), 1))) +
               " on average";
  }
  if (result.has_device_ns()) {
    heading += "; " + FormatDuration(result.device_ns() - result.device_outside_ns()) + " of " +
               FormatDuration(result.device_ns()) + " of GPU work was launched in them";
  }
  return TableText(heading, kOpsLayouts[0], result, options) + MetaText(result.meta(), options);
}

std::string ThreadsText(const results::Threads& result, const TextOptions& options) {
  return TableText("Processes", kThreadsLayouts[0], result, options) +
         TableText("Threads", kThreadsLayouts[1], result, options) +
         MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
