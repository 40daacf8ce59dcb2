// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The result `health` as text. See text.h.

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "analysis/base/figures.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "proto/results/health.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

std::string RoomText(const results::HealthProcess& p, int width) {
  std::string room = FormatBytes(p.memory_bytes()) + " of memory with the rings, " +
                     FormatBytes(p.file_bytes()) + " written";
  if (p.count() > 0) room += ", " + FormatReal(p.bytes_per_event()) + " bytes per event";
  return WrapText(room, "         ", "         ", width);
}

std::string CostText(const results::HealthProcess& p, int width) {
  if (!p.has_drain_cpu_ns()) {
    return WrapText("not known: the recorder had not measured it yet", "  cost   ", "         ",
                    width) +
           RoomText(p, width);
  }
  std::string work;
  if (p.op_event_count() > 0) {
    work += FormatNumber(p.op_event_count()) + " operations in " + FormatDuration(p.op_ns());
  }
  if (p.hook_count() > 0) {
    work += (work.empty() ? "" : ", ") + FormatNumber(p.hook_count()) + " hooked calls in " +
            FormatDuration(p.hook_ns()) + " (" + FormatDuration(p.hook_low_ns()) + " to " +
            FormatDuration(p.hook_high_ns()) + ")";
  }
  if (p.stack_count() > 0) {
    work += (work.empty() ? "" : ", ") + FormatNumber(p.stack_count()) + " call stacks in " +
            FormatDuration(p.stack_ns());
  }
  // The first of a list has no comma before it.
  const std::string others = RoomWaitText(p) + BeginEndText(p);
  work += work.empty() && !others.empty() ? others.substr(2) : others;
  std::string out = WrapText(
      "in the program's threads: " +
          (work.empty()
               ? "nothing measured"
               : (p.cost_limited() ? "at most " : "") + FormatPercent(p.slowdown_ratio()) +
                     " of the time" +
                     (p.cupti_clock_reading_count() > 0 ? ", without CUPTI's own" : "") +
                     (p.slowdown_ratio() > 1 ? " of one thread, all together" : "") + " (" + work +
                     "; some are timed, the others are assumed to be alike" +
                     (p.cost_limited() ? ": too high, the threads had less processor time in all)"
                                       : ")")),
      "  cost   ", "         ", width);
  out += WrapText(
      "alongside them: " +
          (p.has_background_ratio() ? FormatPercent(p.background_ratio()) + " of one processor"
                                    : std::string("no share, because too little was recorded")) +
          " (drain " + FormatDuration(p.drain_cpu_ns()) + ", control " +
          FormatDuration(p.control_cpu_ns()) + ")",
      "         ", "         ", width);
  if (p.process_cpu_ns() > 0 && p.has_background_ratio()) {
    out += WrapText(std::string("together: ") + (p.cost_limited() ? "at most " : "") +
                        FormatPercent(p.cpu_ratio()) + " of the processor time of this process (" +
                        FormatDuration(p.process_cpu_ns()) + ")",
                    "         ", "         ", width);
  }
  return out + RoomText(p, width);
}

std::string LossesText(const results::HealthProcess& p, int width) {
  std::string what;
  if (p.lost_count() != 0) {
    what = FormatNumber(p.lost_count()) + " (" + FormatPercent(p.lost_ratio()) + " of all events)";
  }
  if (p.lost_thread_count() != 0) {
    what += (what.empty() ? "" : ", and ") + LastRecordsOf(p.lost_thread_count());
  }
  if (p.activity_missing_ns() != 0) {
    what += (what.empty() ? "" : ", and ") + std::string("the CUPTI records of ") +
            FormatLastTime(static_cast<uint64_t>(p.activity_missing_ns())) + " before its end";
  }
  if (what.empty()) what = p.ended() == kNoEndRecorded ? kLossNotKnown : "nothing";
  std::string out = WrapText(what, "  lost   ", "         ", width);
  for (const results::Loss& loss : p.losses()) {
    out += WrapText(FormatNumber(loss.count()) + " " + loss.name() + ". " + loss.fix(), "         ",
                    "           ", width);
  }
  return out;
}

std::string StacksText(const results::HealthProcess& p) {
  const uint64_t cut =
      p.stack_no_rule_count() + p.stack_out_of_bounds_count() + p.stack_no_resolver_count();
  std::string out;
  if (p.stack_missing_count() != 0) {
    out = "  stacks missing for " + FormatNumber(p.stack_missing_count()) +
          " events that came before the recorder was ready to take stacks\n";
  }
  if (p.stack_count() == 0) return out;
  if (cut == 0) return out + "  stacks all complete, up to the largest depth kept\n";
  return out + "  stacks " + FormatNumber(cut) + " of " + FormatNumber(p.stack_count()) +
         " end early: " + FormatNumber(p.stack_no_rule_count()) +
         " in code without unwind tables, " + FormatNumber(p.stack_out_of_bounds_count()) +
         " at a frame outside the stack, " + FormatNumber(p.stack_no_resolver_count()) +
         " while the process forked\n";
}

std::string ClockText(const results::HealthProcess& p) {
  if (p.clock().empty()) return "";
  std::string out = "  clock  " + p.clock();
  if (p.clock() == "tsc") {
    out += " at " + FormatReal(static_cast<double>(p.clock_hz()) * 1e-9) + " GHz, within " +
           FormatDuration(std::llround(p.clock_residual_ns())) + " of the system's clock";
  }
  constexpr int64_t kToldStepNs = 1'000'000;
  if (std::llabs(p.realtime_step_ns()) >= kToldStepNs) {
    out += "; the wall clock moved by " + FormatDuration(p.realtime_step_ns()) +
           " against it (event times did not)";
  }
  return out + "\n";
}

std::string GpuClockText(const results::HealthProcess& p) {
  if (p.cupti_clock_reading_count() == 0) return "";
  std::string out = "  GPU clock  CUPTI's, read " + FormatNumber(p.cupti_clock_reading_count()) +
                    (p.cupti_clock_reading_count() == 1 ? " time" : " times") + ", within " +
                    FormatDuration(std::llround(p.cupti_clock_residual_ns())) +
                    " of gpuprof's clock";
  if (p.gpu_tick_ns() != 0)
    out += "; steps of " + FormatDuration(static_cast<int64_t>(p.gpu_tick_ns()));
  if (p.cupti_clock_step_ns() != 0) {
    out += "; it was set by " + FormatDuration(p.cupti_clock_step_ns()) +
           "; times within a second of that may be wrong by that much";
  }
  if (p.kernel_before_launch_count() != 0) {
    out += "; " + FormatNumber(p.kernel_before_launch_count()) +
           " kernels begin before their launch, by up to " +
           FormatDuration(p.kernel_before_launch_ns()) + ": the clocks differ by that much";
  }
  return out + "\n";
}

std::string BudgetCostText(const results::BudgetUse& b) {
  if (!b.has_cost_ratio()) return "";
  if (!b.has_cost_error_ratio())
    return ". They cost about " + FormatFinePercent(b.cost_ratio()) +
           " of the time, by the number of records";
  return ". Measured cost: " + FormatFinePercent(b.cost_ratio()) + " of the time, give or take " +
         FormatFinePercent(b.cost_error_ratio());
}

std::string BudgetText(const results::HealthProcess& p, int width) {
  if (!p.has_budget()) return "";
  const results::BudgetUse& b = p.budget();
  std::string out = b.has_limit_ratio() ? FormatFinePercent(b.limit_ratio())
                                        : FormatDuration(b.limit_step_ns()) + " a step";
  out += ": " + FormatNumber(b.window_count()) + (b.window_count() == 1 ? " window" : " windows");
  if (b.step_count() != 0)
    out += ", " + FormatNumber(b.recorded_step_count()) + " of " + FormatNumber(b.step_count()) +
           " steps";
  out += ", " + FormatDuration(b.recorded_ns()) + " of " + FormatDuration(b.elapsed_ns());
  out = WrapText(out + BudgetCostText(b), "  budget ", "         ", width);
  const auto add = [&](const std::string& line) {
    out += WrapText(line, "         ", "         ", width);
  };
  if (b.has_outside_step_ns() && b.has_inside_step_ns())
    add("a step took " + FormatDuration(b.outside_step_ns()) + " outside windows, " +
        FormatDuration(b.inside_step_ns()) + " inside; windows began and ended in " +
        FormatDuration(b.switch_ns()));
  if (b.operations_window_count() + b.gpu_window_count() != 0)
    add("all would leave too few steps, so less was tried: " + FormatNumber(b.all_window_count()) +
        " windows have all, " + FormatNumber(b.operations_window_count()) +
        " GPU work and operations, " + FormatNumber(b.gpu_window_count()) + " GPU work alone");
  if (b.cut_window_count() != 0)
    add(FormatNumber(b.cut_window_count()) + " windows ended early, as they took too long");
  if (b.has_run_gpu_ns() && b.run_gpu_ns() != 0)
    add("GPU work: " + FormatDuration(b.recorded_gpu_ns()) + " in the windows, " +
        FormatDuration(b.run_gpu_ns()) +
        (b.has_run_gpu_error_ns() ? " give or take " + FormatDuration(b.run_gpu_error_ns()) : "") +
        " in all steps (estimated)");
  return out;
}

std::string GpuRatesText(const results::HealthProcess& p) {
  std::string out;
  for (const results::GpuRateUse& use : p.gpu_rates()) {
    if (use.count() == 0 && use.limit_per_s() == 0) continue;
    out += "  GPU rate  " + use.name() + ": ";
    out += use.limit_per_s() == 0 ? "no own limit"
                                  : "at most " + FormatNumber(use.limit_per_s()) + " per second";
    out += "; " + FormatNumber(use.left_out_count()) + " of " + FormatNumber(use.count()) +
           " records left out";
    if (use.left_out_count() != 0)
      out += ", at least one in " + std::to_string(use.most_one_in_count()) + " kept";
    out += "\n";
  }
  return out;
}

// Without the notes that stand with their processes.
results::Meta MetaBeside(const results::Health& result) {
  std::set<std::string> told;
  for (const results::HealthProcess& p : result.processes()) {
    for (const std::string& note : p.notes())
      told.insert("pid " + std::to_string(p.pid()) + ": " + note);
  }
  results::Meta meta = result.meta();
  meta.clear_notes();
  for (const std::string& note : result.meta().notes()) {
    if (told.count(note) == 0) meta.add_notes(note);
  }
  return meta;
}

// Text has a paragraph for each process. The page has a row.
constexpr TableColumn kColumns[] = {
    {.field = "name", .title = "process"},
    {.field = "pid", .title = "pid"},
    {.field = "count", .title = "events"},
    {.field = "lost_count", .title = "lost"},
    {.field = "lost_ratio", .title = "of all"},
    {.field = "slowdown_ratio",
     .title = "cost in the program",
     .tip = "Part of the captured time that hooks, stacks and observers took"},
    {.field = "background_ratio", .title = "of a processor", .tip = "gpuprof's own threads"},
    {.field = "hook_ns", .title = "hooks"},
    {.field = "stack_ns", .title = "stacks"},
    {.field = "op_ns", .title = "operations"},
    {.field = "file_bytes", .title = "file", .scale = kOwnUnits},
    {.field = "bytes_per_event", .title = "bytes an event", .scale = kTenths},
    {.field = "memory_bytes", .title = "memory", .scale = kOwnUnits, .on_page = OnPage::kOffered},
    {.field = "clock", .title = "clock"},
    {.field = "clock_residual_ns", .title = "clock error", .scale = kNanoseconds},
    {.field = "ended", .title = "ended"},
};
constexpr TableLayout kLayouts[] = {{.rows = "processes",
                                     .row = results::HealthProcess::descriptor,
                                     .columns = kColumns,
                                     .sorted_by = "count",
                                     .noun = "process",
                                     .in_text = false}};

}  // namespace

std::span<const TableLayout> HealthLayouts() { return kLayouts; }

std::string HealthText(const results::Health& result, const TextOptions& options) {
  std::string out;
  const Pids pid(result.processes());
  for (int i = 0; i < Shown(result.processes_size(), options); ++i) {
    const results::HealthProcess& p = result.processes(i);
    out += OneLine(p.name()) + " (pid " + pid(p) + "), " + p.ended() + ": " +
           FormatNumber(p.count()) + " events in " + FormatDuration(p.captured_ns()) + " of " +
           std::to_string(p.capture_count()) +
           (p.capture_count() == 1 ? " capture\n" : " captures\n");
    out += LossesText(p, options.width) + CostText(p, options.width) +
           BudgetText(p, options.width) + StacksText(p) + ClockText(p) + GpuClockText(p) +
           GpuRatesText(p);
    for (const std::string& note : p.notes()) {
      out += WrapText(note, "  note   ", "         ", options.width);
    }
    out += "\n";
  }
  return out + MoreLine(result.processes_size(), options) + MetaText(MetaBeside(result), options);
}

}  // namespace gpuprof::analysis
