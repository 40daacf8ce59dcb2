// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Text of the pass `overview`: steps first, what to try last, where the eye rests in a terminal.
// See text.h.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice/rules/rules.h"
#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"
#include "analysis/passes/host/stack_frames.h"
#include "analysis/render/breakdown_words.h"
#include "analysis/render/finding_words.h"
#include "analysis/render/layouts.h"
#include "analysis/render/table_layout.h"
#include "analysis/render/text.h"
#include "analysis/symbols/function_name.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/meta.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {
namespace {

using Align = TextTable::Align;

constexpr size_t kCommandShown = 600;
constexpr size_t kFramesShown = 10;
constexpr size_t kNameShown = 64;

std::string Environment(const results::Overview& result, const TextOptions& options) {
  const results::OverviewEnvironment& e = result.environment();
  std::string out;
  if (!e.command().empty()) {
    out += WrapText(CutTo(e.command(), kCommandShown), "Command      ", "             ",
                    options.width);
  }
  std::string machine = e.host();
  if (!e.cpu_model().empty()) machine += ", " + e.cpu_model();
  if (e.core_count() > 0) machine += ", " + std::to_string(e.core_count()) + " processors";
  if (e.memory_bytes() > 0) machine += ", " + FormatBytes(e.memory_bytes());
  if (!e.kernel().empty()) machine += ", " + e.kernel();
  if (!machine.empty()) out += WrapText(machine, "Machine      ", "             ", options.width);
  for (const results::OverviewDevice& device : e.devices()) {
    std::string words =
        device.device_count() > 1 ? std::to_string(device.device_count()) + " x " : "";
    words += device.name();
    if (device.multiprocessor_count() > 0)
      words += ", " + std::to_string(device.multiprocessor_count()) + " multiprocessors";
    if (device.memory_bytes() > 0) words += ", " + FormatBytes(device.memory_bytes());
    if (!device.compute_capability().empty())
      words += ", compute capability " + device.compute_capability();
    if (!e.gpu_driver().empty()) words += ", driver " + e.gpu_driver();
    const bool is_tpu = device.name().rfind("TPU", 0) == 0;
    out +=
        WrapText(words, is_tpu ? "TPU          " : "GPU          ", "             ", options.width);
  }
  std::string frameworks;
  for (const std::string& name : e.frameworks())
    frameworks += (frameworks.empty() ? "" : ", ") + name;
  if (!frameworks.empty()) out += "Frameworks   " + OneLine(frameworks) + "\n";
  if (e.wall_ns() > 0) out += "Ran for      " + FormatDuration(e.wall_ns());
  if (e.has_exit_status()) out += ", " + FormatExitStatus(e.exit_status());
  if (e.has_attached_after_ns())
    out += ", and was attached to after " + FormatDuration(e.attached_after_ns());
  out += "\n";
  for (const std::string& line : e.unseen())
    out += WrapText(OneLine(line), "Not seen     ", "             ", options.width);
  return out + "\n";
}

std::string Input(const results::Overview& result, const TextOptions& options) {
  const results::OverviewInput& input = result.input();
  if (input.loader().empty()) return "";
  std::string words = FormatPercent(input.share_ratio()) + " of step time (" +
                      FormatDuration(input.mean_ns()) + " per step, at most " +
                      FormatDuration(input.max_ns()) + "); " +
                      FormatNumber(input.waiting_step_count()) + " of " +
                      FormatNumber(result.steps().count()) + " steps waited";
  if (input.worker_count() > 0) {
    words += "; " + std::to_string(input.worker_count()) +
             (input.worker_count() == 1 ? " worker" : " workers");
    if (input.has_worker_busy_ratio()) {
      words += ", busy " + FormatPercent(input.worker_busy_ratio()) + " each";
    }
    if (input.has_worker_runqueue_wait_ratio()) {
      words += ", waiting for a processor " + FormatPercent(input.worker_runqueue_wait_ratio());
    }
  }
  return "Waiting for data\n" + WrapText(words, "  ", "  ", options.width) + "\n";
}

// Returns the main cause of idle time in the words of the pass idle.
std::string IdleWords(const results::OverviewGpu& gpu) {
  const results::TimeCategory cause = ValueOfWord<results::TimeCategory>(gpu.idle_cause());
  return FormatDuration(gpu.idle_cause_ns()) + " of this time " + TimeCategoryWords(cause) + " (" +
         IdleMeaning(cause) + ")";
}

std::string Gpu(const results::Overview& result, const TextOptions& options) {
  if (!result.has_gpu()) return "";
  const results::OverviewGpu& g = result.gpu();
  std::string out = DeviceWord(result) + "\n";
  const auto add = [&](const std::string& words) {
    out += WrapText(words, "  ", "    ", options.width);
  };
  if (g.has_window_ns()) {
    std::string words = "busy " + FormatPercent(g.busy_ratio());
    if (g.has_busy_high_ratio() && g.busy_high_ns() != g.busy_ns())
      words += " to " + FormatPercent(g.busy_high_ratio());
    words += " of the " + FormatDuration(g.window_ns()) + " from the first work to the last";
    words += DevicesText(g);
    if (g.idle_ns() > 0) {
      words += "; idle " + FormatDuration(g.idle_ns());
      if (g.has_idle_unseen_ns())
        words += " (" + FormatDuration(g.idle_unseen_ns()) + " may hold work that is not recorded)";
      if (g.idle_cause_ns() != 0) words += ", " + IdleWords(g);
    }
    add(words);
  }
  if (g.kernel_count() + g.copy_count() + g.whole_graph_count() > 0) {
    std::string work =
        FormatNumber(g.kernel_count()) + (g.kernel_count() == 1 ? " kernel in " : " kernels in ") +
        FormatDuration(g.kernel_ns()) + "; " + FormatNumber(g.copy_count()) +
        " copies and memsets" + (g.has_copy_bytes() ? " of " + FormatBytes(g.copy_bytes()) : "") +
        " in " + FormatDuration(g.copy_ns());
    if (g.has_exposed_copy_ns() && g.copy_count() > 0)
      work += ", " + FormatDuration(g.exposed_copy_ns()) + " of this while no kernel ran";
    if (g.whole_graph_count() > 0) {
      work += "; not counted: the work in " + FormatNumber(g.whole_graph_count()) +
              " launches of CUDA graphs that were recorded as a whole";
    }
    add(work);
  }
  if (g.has_memory_peak_bytes()) {
    add("memory: peak " + FormatBytes(g.memory_peak_bytes()) + " on " + g.memory_device() +
        " of pid " + std::to_string(g.memory_pid()) + " at " +
        FormatDuration(g.memory_peak_time_ns()) +
        (g.has_memory_peak_ratio() ? " (" + FormatPercent(g.memory_peak_ratio()) + " of its memory)"
                                   : ""));
  }
  TextTable table;
  table.AddColumn("kernel", Align::kLeft, true);
  for (const char* header : {"count", "total", "share", "mean"})
    table.AddColumn(header, Align::kRight);
  const bool several = g.device_count() > 1;
  if (several) table.AddColumn("devices", Align::kRight);
  for (const results::Kernel& k : g.top_kernels()) {
    std::vector<std::string> cells = {ShownName(k, options), FormatNumber(k.count()),
                                      FormatDuration(k.total_ns()), FormatPercent(k.total_ratio()),
                                      FormatDuration(k.mean_ns())};
    if (several) cells.push_back(FormatNumber(k.device_count()));
    table.AddRow(std::move(cells));
  }
  std::string families;
  for (const results::KernelFamilyTime& each : g.families()) {
    families += (families.empty() ? "" : ", ") + WordOf(each.family()) + " " +
                FormatPercent(each.total_ratio());
  }
  if (!families.empty()) add("kernels by family: " + families);
  return out + "\n" + Section("Kernels by time", table, options, 0);
}

std::string Memory(const results::Overview& result, const TextOptions& options) {
  const results::OverviewMemory& m = result.memory();
  std::string out;
  if (m.count() > 0) {
    const bool sampled = m.heap_mode() == "sampled";
    out += "  heap: " + FormatBytes(m.allocated_bytes()) + " allocated in " +
           FormatNumber(m.count()) + " allocations; peak " + FormatBytes(m.peak_bytes()) +
           " in pid " + std::to_string(m.peak_pid()) + " at " + FormatDuration(m.peak_time_ns()) +
           "\n";
    if (sampled) {
      out += "        estimates from samples, one per " + FormatBytes(m.period_bytes()) +
             "; with 95 % confidence allocated " + FormatBytes(m.allocated_low_bytes()) + " to " +
             FormatBytes(m.allocated_high_bytes()) + ",\n        peak " +
             FormatBytes(m.peak_low_bytes()) + " to " + FormatBytes(m.peak_high_bytes()) + "\n";
    }
    if (m.lost_count() > 0) {
      out += "        " + FormatNumber(m.lost_count()) +
             (m.lost_count() == 1 ? " record was lost" : " records were lost") +
             ", so there may be more bytes than shown\n";
    }
    if (m.peak_call_stack() != 0) {
      out += "        " + FormatBytes(m.peak_stack_bytes()) + " of the peak came from " +
             CutTo(OneLine(options.wide ? m.peak_stack_name()
                                        : ShortFunctionName(m.peak_stack_name())),
                   kNameShown) +
             "\n" +
             StackText(FramesOf(result.call_stacks(), m.peak_call_stack()), kFramesShown,
                       "          ", options);
    }
  }
  for (int i = 0; i < Shown(m.tensors_size(), options); ++i) {
    const results::OverviewTensor& t = m.tensors(i);
    std::string words = "tensors on " + t.name() + " of pid " + std::to_string(t.pid()) + ": " +
                        FormatBytes(t.allocated_bytes()) + " allocated in " +
                        FormatNumber(t.count()) + " allocations; peak " +
                        FormatBytes(t.peak_bytes());
    if (t.peak_op_bytes() > 0) {
      words += ", " + FormatBytes(t.peak_op_bytes()) + " of this from " +
               (t.peak_op().empty() ? "outside operations" : t.peak_op());
    }
    if (t.reported_peak_bytes() > t.peak_bytes()) {
      words += "; " + FormatBytes(t.reported_peak_bytes()) +
               " by its allocator's own count, which includes older blocks";
    }
    out += WrapText(words, "  ", "        ", options.width);
  }
  return out.empty() ? "" : "Memory\n" + out + "\n";
}

std::string TriggerWords(const std::string& trigger) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"now", "the start of the program"},
      {"signal", "a signal"},
      {"control", "gpuprof ctl"},
      {"attach", "gpuprof attach"},
      {"detach", "gpuprof detach"},
      {"delay", "--capture=delay"},
      {"steps", "--capture=steps"},
      {"step_range", "--capture=steps, at a range"},
      {"first_step", "--capture=steps, before the first step"},
      {"function_run", "--capture=steps, at a run of a function"},
      {"element", "--capture=steps, at an element of a dataset"},
      {"nvtx", "--capture=nvtx"},
      {"cuda_profiler", "--capture=cuda-profiler"},
      {"parent", "the capture of the parent"},
      {"fork", "a fork while recording"},
      {"exec", "an exec"},
      {"memory", "the recorder's memory limit"},
      {"exit", "the end of the process"}};
  for (const auto& [name, words] : kWords)
    if (name == trigger) return std::string(words);
  return OneLine(trigger);
}

// "; begun by a signal (3), gpuprof ctl (1)"; "" if it is not known.
template <typename Triggers>
std::string TriggersText(std::string_view before, const Triggers& triggers) {
  std::string text;
  for (const results::OverviewTrigger& trigger : triggers) {
    text += (text.empty() ? "" : ", ") + TriggerWords(trigger.name());
    if (triggers.size() > 1 || trigger.count() > 1)
      text += " (" + FormatNumber(trigger.count()) + ")";
  }
  return text.empty() ? "" : std::string(before) + text;
}

// How much of the run the figures stand for.
std::string CapturedText(const results::Overview& result) {
  const results::OverviewCost& c = result.cost();
  if (c.capture_count() == 0) return "captured: nothing";
  const int processes = result.processes_size();
  return "captured: " + FormatDuration(c.captured_ns()) + " of the " +
         FormatDuration(std::max(c.life_ns(), c.captured_ns())) + " that " +
         (processes == 1 ? "the process" : std::to_string(processes) + " processes together") +
         " lived, in " + FormatNumber(c.capture_count()) +
         (c.capture_count() == 1 ? " capture" : " captures") +
         TriggersText("; begun by ", c.begun_by()) + TriggersText("; ended by ", c.ended_by());
}

// What the recorder lost, captured and cost.
std::string RecorderText(const results::Overview& result, const TextOptions& options) {
  const results::OverviewCost& c = result.cost();
  std::string out;
  bool damaged = false;
  for (const results::Input& input : result.meta().inputs()) damaged |= !input.fault().empty();
  const uint64_t lost = result.meta().lost_count();
  std::string all = FormatNumber(c.count() + c.let_go_count() + lost) + " events";
  if (c.let_go_count() != 0) {
    all += "; the flight recorder discarded " + FormatNumber(c.let_go_count());
  }
  std::string what = FormatNumber(lost);
  if (damaged) {
    what = "the events in the damaged files, and " + what;
  } else if (c.lost_thread_count() != 0) {
    what = LastRecordsOf(c.lost_thread_count()) + ", and " + what;
  } else if (c.activity_missing_ns() != 0) {
    what = "the CUPTI records of " +
           FormatLastTime(static_cast<uint64_t>(c.activity_missing_ns())) +
           " before a process ended, and " + what;
  } else if (lost == 0) {
    const auto lacks_end = [](const auto& process) { return process.ended() == kNoEndRecorded; };
    const bool any_lacks_end =
        std::any_of(result.processes().begin(), result.processes().end(), lacks_end);
    what = any_lacks_end ? std::string(kLossNotKnown) + "," : "nothing";
  }
  out += WrapText("lost: " + what + " of " + all, "  ", "        ", options.width);
  out += WrapText(CapturedText(result), "  ", "        ", options.width);
  const std::string written = FormatBytes(c.file_bytes()) + " written";
  const uint32_t unknown = c.unmeasured_process_count();
  std::string cost =
      "cost: about " + FormatFinePercent(c.slowdown_ratio()) + " of the program's time (";
  if (c.has_op_callback_ns()) {
    cost += FormatNumber(c.op_event_count()) + " operations at " +
            FormatDuration(c.op_callback_ns()) + ", ";
  }
  cost +=
      FormatNumber(c.stack_count()) + " call stacks in " + FormatDuration(c.stack_ns()) +
      RoomWaitText(c) + BeginEndText(c) + ")" +
      (c.has_background_ratio()
           ? ", and alongside it " + FormatFinePercent(c.background_ratio()) + " of one processor"
           : "") +
      (result.has_gpu() ? "; the time that CUPTI adds to each CUDA call is not included" : "") +
      "; " + written;
  if (!c.has_drain_cpu_ns()) {
    cost = "cost: not known: the recorder had not measured it yet; " + written;
  } else if (unknown != 0) {
    cost += "; not known for " + std::to_string(unknown) +
            (unknown == 1 ? " process" : " processes") + " that ended before it was measured";
  }
  out += WrapText(cost, "  ", "        ", options.width);
  return out;
}

std::string Recording(const results::Overview& result, const TextOptions& options) {
  // Other tools' files do not tell what their recorder lost and cost.
  const bool is_imported = !result.has_cost() && !result.processes().empty();
  std::string out = is_imported ? "Figures\n" : "Recording\n" + RecorderText(result, options);
  TextOptions inner = options;
  inner.width = std::max(options.width - 2, 0);
  const std::string meta = MetaText(result.meta(), inner);
  for (size_t at = 0; at < meta.size();) {
    const size_t end = meta.find('\n', at);
    out += "  " + meta.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out + "\n";
}

// Time 0 is the first event. The start of the first process lies a moment before it.
std::string StartText(int64_t start_ns) {
  constexpr int64_t kMoment = 10'000'000;
  if (start_ns < -kMoment) return FormatDuration(-start_ns) + " before";
  return FormatDuration(std::max<int64_t>(start_ns, 0));
}

std::string StartWords(const results::OverviewProcess& process) {
  return StartText(process.start_ns());
}

constexpr TableColumn kProcessColumns[] = {
    {.field = "pid", .title = "pid"},
    {.field = "ppid", .title = "parent"},
    {.field = "name", .title = "process", .flexible = true},
    {.field = "host", .title = "host", .shown = ShownIf::kDifferent, .in_text = false},
    {.field = "role", .title = "role"},
    {.field = "start_ns",
     .title = "from",
     .cell = CellOf<results::OverviewProcess, StartWords>,
     .align = ColumnAlign::kRight,
     .scale = kSeconds},
    {.field = "end_ns", .title = "to", .scale = kSeconds},
    {.field = "thread_count", .title = "threads"},
    {.field = "cpu_ratio",
     .title = "cores busy",
     .unit = Unit::kReal,
     .blank = "-",
     .tip = "Processor time by the time of its captures"},
    {.field = "step_count", .title = "steps", .in_text = false},
    {.field = "count", .title = "events"},
    {.field = "lost_count", .title = "lost"},
    {.field = "ended", .title = "ended"},
};
constexpr TableLayout kLayouts[] = {{.rows = "processes",
                                     .row = results::OverviewProcess::descriptor,
                                     .columns = kProcessColumns,
                                     .sorted_by = "count",
                                     .noun = "process",
                                     .title = "Processes"}};

}  // namespace

std::span<const TableLayout> OverviewLayouts() { return kLayouts; }

std::string DeviceWord(const results::Overview& overview) {
  const auto& devices = overview.environment().devices();
  const bool are_tpus =
      !devices.empty() && std::all_of(devices.begin(), devices.end(), [](const auto& device) {
        return device.name().rfind("TPU", 0) == 0;
      });
  return are_tpus ? "TPU" : "GPU";
}

std::string DevicesText(const results::OverviewGpu& gpu) { return ArgumentText(OfDevices(gpu)); }

namespace {

// Tells the steps of other ranks and threads: a few one by one, many as a group with those that
// differ.
std::string MoreSteps(const results::Overview& result, const TextOptions& options) {
  constexpr int kFew = 3;
  constexpr size_t kMostNamed = 8;
  constexpr double kAlike = 0.05;
  const auto& more = result.more_steps();
  std::string out;
  if (more.size() <= kFew) {
    for (const results::StepSeries& series : more) out += SeriesText(series, options);
    return out;
  }
  std::vector<const results::StepSeries*> rows;
  for (const results::StepSeries& series : more) rows.push_back(&series);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return a->median_ns() < b->median_ns(); });
  const int64_t middle = rows[rows.size() / 2]->median_ns();
  std::vector<const results::StepSeries*> others;
  for (const results::StepSeries* row : rows) {
    const auto distance = static_cast<double>(std::abs(row->median_ns() - middle));
    if (distance > kAlike * static_cast<double>(middle)) others.push_back(row);
  }
  std::string words = FormatNumber(rows.size()) + " more threads have steps: medians from " +
                      FormatDuration(rows.front()->median_ns()) + " to " +
                      FormatDuration(rows.back()->median_ns()) + ", " +
                      FormatNumber(rows.size() - others.size()) + " of them within 5 % of " +
                      FormatDuration(middle) + ".";
  out += WrapText(words, "", "", options.width);
  std::stable_sort(others.begin(), others.end(), [&](const auto* a, const auto* b) {
    return std::abs(a->median_ns() - middle) > std::abs(b->median_ns() - middle);
  });
  for (size_t i = 0; i < std::min(kMostNamed, others.size()); ++i)
    out += "  " + OneLine(others[i]->name()) + " (pid " + std::to_string(others[i]->pid()) +
           "): median " + FormatDuration(others[i]->median_ns()) + "\n";
  if (others.size() > kMostNamed)
    out += "  " + FormatNumber(others.size() - kMostNamed) + " more: gpuprof stats steps\n";
  return out + "\n";
}

// Says what bounds a step, and how long it takes. This is the first line.
std::string StepText(const results::Overview& result, const TextOptions& options) {
  std::string out;
  if (result.has_verdict()) out += VerdictText(result.verdict(), options);
  if (result.has_step()) {
    const results::StepPeriod& step = result.step();
    std::string words = FormatNumber(step.count()) +
                        (step.count() == 1 ? " step of " : " steps of ") +
                        FormatDuration(step.mean_ns()) + " in the mean";
    if (step.count() > 1)
      words += ", median " + FormatDuration(step.median_ns()) + ", p10 " +
               FormatDuration(step.p10_ns()) + ", p90 " + FormatDuration(step.p90_ns());
    words += step.is_of_device()
                 ? ". The GPU runs behind the marks of the host, so these are its steps."
                 : ".";
    out += WrapText(words, "", "", options.width);
  }
  return out.empty() ? out : out + "\n";
}

// Tells the parts of the verdict's step.
std::string Verdict(const results::Overview& result, const TextOptions& options) {
  if (!result.has_verdict()) return "";
  const results::Verdict& verdict = result.verdict();
  std::string out = "What the device of the verdict did\n";
  for (const results::DeviceSeries& series : result.device_series()) {
    if (series.pid() == verdict.pid() && series.host() == verdict.host() &&
        series.device() == verdict.device() && series.window() == verdict.window())
      out += TimesTable(series.categories()).Render(options.table_width);
  }
  return out + "\n";
}

}  // namespace

std::string OverviewText(const results::Overview& result, const TextOptions& options) {
  std::string out = Environment(result, options);
  if (result.processes().empty()) {
    return out + "Nothing was recorded: no process left a trace here.\n" +
           MetaText(result.meta(), options);
  }
  const results::Verdict* verdict = result.has_verdict() ? &result.verdict() : nullptr;
  out += StepText(result, options) + FindingsText(result.findings(), verdict, options) + "\n";
  out += PhasesText(result, options);
  if (result.has_steps()) {
    out += SeriesText(result.steps(), options);
    out += MoreSteps(result, options);
    out += Input(result, options);
  } else {
    // What a service does is told by its functions.
    out += TopFunctionsText(result.functions(), result, options) +
           WrapText(result.steps_advice(), "", "", options.width) + "\n";
  }
  out += Verdict(result, options) + Gpu(result, options);
  if (result.has_steps()) out += TopFunctionsText(result.functions(), result, options);
  const std::string where = result.has_steps() ? " in steps" : "";
  out += Section("Operations by self time" + where,
                 OpRows(result.top_ops(), result.top_ops_size(), options), options, 0);
  out += Section("Operations of loader workers",
                 OpRows(result.worker_ops(), result.worker_ops_size(), options), options, 0);
  out += Section("Locks that other threads held",
                 LockRows(result.top_locks(), result.top_locks_size(), options), options, 0);
  return out + Memory(result, options) + TableText(kLayouts[0], result, options) +
         Recording(result, options);
}

}  // namespace gpuprof::analysis
