// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of ops and threads. See text.h.

#include <algorithm>

#include "analysis/base/figures.h"
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
    {.field = "life_ns", .title = "life", .scale = kSeconds},
    {.field = "cpu_ns", .title = "cpu", .blank = "-"},
    {.field = "cpu_ratio", .title = "busy", .blank = "-"},
    {.field = "runqueue_wait_ns",
     .title = "waiting for cpu",
     .blank = "-",
     .tip = "Ready to run, without a processor"},
    {.field = "op_ns", .title = "in ops"},
    {.field = "contended_ns", .title = "contended", .tip = "Waits for locks that others held"},
    {.field = "waiting_ns",
     .title = "waiting",
     .tip = "Waits for conditions, events and other threads"},
    {.field = "count", .title = "events"},
    {.field = "created_by",
     .title = "created by",
     .cell = CellOf<results::Thread, CreatorWords>,
     .on_page = OnPage::kOffered},
    {.field = "start.short_name",
     .title = "starts in",
     .on_page = OnPage::kOffered,
     .in_text = false},
    {.field = "step_thread", .title = "role", .in_text = false},
};
constexpr TableLayout kThreadsLayouts[] = {
    {.rows = "processes",
     .row = results::ThreadProcess::descriptor,
     .columns = kProcessColumns,
     .is_complete = true,
     .noun = "process",
     .title = "Processes"},
    {.rows = "threads",
     .row = results::Thread::descriptor,
     .columns = kThreadColumns,
     .sorted_by = "cpu_ns",
     .title = "Threads"},
};

std::string OpWords(const results::Op& op, const CellContext& context) {
  return ShownName(op, context.options) + Unfinished(op.incomplete_count());
}

bool IsNotEager(const results::Op& op) { return op.execution() > results::EXECUTION_EAGER; }
bool IsInStepsOfHost(const results::Op& op) { return op.has_step_ratio() && !op.has_device_ns(); }

constexpr TableColumn kOpColumns[] = {
    {.field = "name",
     .title = "operation",
     .cell = CellOf<results::Op, OpWords>,
     .flexible = true,
     .except_by = "module instance category"},
    {.field = "name", .title = "module", .flexible = true, .only_by = "module instance"},
    {.field = "name", .title = "category", .flexible = true, .only_by = "category"},
    {.field = "module_count", .title = "modules", .shown = ShownIf::kAny, .only_by = "module"},
    {.field = "scope",
     .title = "scope",
     .except_by = "module instance shape category",
     .on_page = OnPage::kOffered},
    {.field = "execution",
     .title = "runs",
     .needs = "execution",
     .blank = "-",
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::Op, IsNotEager>,
     .except_by = "shape"},
    {.field = "shapes",
     .title = "shapes of inputs",
     .blank = "-",
     .flexible = true,
     .shown = ShownIf::kAny},
    {.field = "types", .title = "types", .blank = "-", .flexible = true, .shown = ShownIf::kAny},
    {.field = "pid", .title = "pid", .shown = ShownIf::kAny},
    {.field = "tid", .title = "tid", .shown = ShownIf::kAny},
    {.field = "self_ns", .title = "self"},
    {.field = "self_ratio", .title = "of all"},
    {.field = "step_ratio", .title = "of steps", .shown = ShownIf::kAny, .except_by = "shape"},
    {.field = "count", .title = "count"},
    {.field = "count_per_step",
     .title = "a step",
     .shown = ShownIf::kAny,
     .shown_if = TestOf<results::Op, IsInStepsOfHost>},
    {.field = "total_ns", .title = "total"},
    // With columns of a GPU there is no room for all.
    {.field = "mean_ns", .title = "mean", .shown = ShownIf::kNone, .shown_by = "device_ns"},
    {.field = "median_ns",
     .title = "median",
     .shown = ShownIf::kNone,
     .shown_by = "device_ns",
     .in_text = false},
    {.field = "max_ns", .title = "max", .shown = ShownIf::kNone, .shown_by = "device_ns"},
    {.field = "device_ns",
     .title = "on GPU",
     .shown = ShownIf::kAny,
     .tip = "Time of the kernels that were launched inside the operation"},
    {.field = "device_self_ns",
     .title = "GPU self",
     .shown = ShownIf::kAny,
     .shown_by = "device_ns",
     .tip = "Time of the kernels that the operation itself launched"},
    {.field = "device_self_ratio",
     .title = "of work",
     .shown = ShownIf::kAny,
     .shown_by = "device_ns"},
    {.field = "device_self_window_ratio",
     .title = "with idle",
     .shown = ShownIf::kAny,
     .shown_by = "device_ns",
     .on_page = OnPage::kOffered},
    {.field = "device_backward_ns",
     .title = "backward",
     .shown = ShownIf::kAny,
     .on_page = OnPage::kOffered},
    {.field = "family", .title = "kernels", .shown = ShownIf::kAny, .on_page = OnPage::kOffered},
    {.field = "device_count",
     .title = "kernel count",
     .shown = ShownIf::kAny,
     .shown_by = "device_ns",
     .in_text = false},
    {.field = "thread_count", .title = "threads", .on_page = OnPage::kOffered, .in_text = false},
};
constexpr TableColumn kOpDeviceColumns[] = {
    {.field = "device", .title = "GPU"},
    kWhosePid,
    {.field = "window_ns", .title = "from first to last work"},
    {.field = "busy_ns", .title = "busy"},
    {.field = "idle_ns", .title = "idle"},
    {.field = "idle_ratio", .title = "of all"},
};
constexpr TableLayout kOpsLayouts[] = {
    {.rows = "ops",
     .row = results::Op::descriptor,
     .columns = kOpColumns,
     .sorted_by = "self_ns",
     .noun = "operation"},
    {.rows = "devices",
     .row = results::OpDevice::descriptor,
     .columns = kOpDeviceColumns,
     .title = "Idle time of GPUs"},
};

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

namespace {

std::string NoOpsText(const results::Ops& result) {
  if (result.by() != "module" && result.by() != "instance")
    return "No framework operation was recorded.\n";
  return "Nothing tells the parts of the program: record with --python=trace:'*.forward', use "
         "with_stack=True in torch.profiler, or open ranges of NVTX or record_function in the "
         "program.\n";
}

std::string ModuleSpansWords(const results::Ops& result) {
  switch (result.module_source()) {
    case results::MODULE_SOURCE_MODULES:
    case results::MODULE_SOURCE_FORWARDS:
      return " calls of modules";
    case results::MODULE_SOURCE_SCOPES:
      return " operations with name scopes";
    case results::MODULE_SOURCE_RANGES:
      return " ranges";
    default:
      return " calls of Python functions";
  }
}

}  // namespace

std::string OpsText(const results::Ops& result, const TextOptions& options) {
  if (result.ops().empty()) return NoOpsText(result) + MetaText(result.meta(), options);
  const bool by_module = result.module_source() != results::MODULE_SOURCE_NONE;
  std::string heading = FormatNumber(result.count()) +
                        (by_module ? ModuleSpansWords(result) : std::string(" operations")) + ", " +
                        FormatDuration(result.self_ns()) + " of thread time in them";
  if (result.has_step_count()) {
    const uint64_t steps = result.step_count();
    heading +=
        "; " + FormatNumber(steps) + (steps == 1 ? " step of " : " steps of ") +
        FormatDuration(result.step_ns() / static_cast<int64_t>(std::max<uint64_t>(steps, 1))) +
        (steps == 1 ? "" : " on average");
  }
  if (result.has_device_ns()) {
    heading += "; " + FormatDuration(result.device_ns() - result.device_outside_ns()) + " of " +
               FormatDuration(result.device_ns()) + " of GPU work was launched in them";
  }
  return TableText(heading, kOpsLayouts[0], result, options) +
         (result.devices().empty() ? "" : TableText(kOpsLayouts[1], result, options)) +
         MetaText(result.meta(), options);
}

std::string ThreadsText(const results::Threads& result, const TextOptions& options) {
  return TableText(kThreadsLayouts[0], result, options) +
         TableText(kThreadsLayouts[1], result, options) + MetaText(result.meta(), options);
}

}  // namespace gpuprof::analysis
