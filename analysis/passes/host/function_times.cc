// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See function_times.h.

#include "analysis/passes/host/function_times.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/base/figures.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "proto/results/overview.pb.h"
#include "proto/results/python.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kTopFunctions = 10;
constexpr int kTopHolders = 3;

bool IsInterpreter(std::string_view file) {
  return file.starts_with("libpython") || file.starts_with("python");
}

CodeFrame NativeFrame(PassContext& context, size_t index, uint64_t pc) {
  results::Frame found;
  context.Resolve(index, pc, PcKind::kReturnAddress, &found);
  CodeFrame frame;
  frame.name = found.name();
  frame.file = found.module();
  frame.line = found.line();
  // Code without names is told by its file: an address is no function.
  if (!frame.file.empty() && frame.name.starts_with(frame.file + "+0x")) frame.name = frame.file;
  const std::string& program = context.process(index).executable;
  const std::string_view file = std::string_view(program).substr(program.rfind('/') + 1);
  frame.is_program = !file.empty() && file == frame.file && !IsInterpreter(file);
  return frame;
}

void FillTimes(const FunctionTimes& from, const HostTimes& all, results::FunctionTime* row) {
  const int64_t cpu_ns = all[HostState::kRuns];
  row->set_self_ns(from.self[HostState::kRuns]);
  row->set_self_ratio(Ratio(row->self_ns(), cpu_ns));
  row->set_total_ns(from.total[HostState::kRuns]);
  row->set_total_ratio(Ratio(row->total_ns(), cpu_ns));
  row->set_program_ns(from.charged_ns);
  row->set_program_ratio(Ratio(row->program_ns(), cpu_ns));
  row->set_gil_ns(from.self[HostState::kWaitsForGil]);
  row->set_wait_ns(from.self[HostState::kWaits]);
  row->set_gil_total_ns(from.total[HostState::kWaitsForGil]);
  row->set_wait_total_ns(from.total[HostState::kWaits]);
  row->set_count(from.count);
  row->set_thread_count(static_cast<uint32_t>(from.threads.size()));
}

void FillRow(const FunctionTimes& from, const HostTimes& all, results::FunctionTime* row) {
  const CodeFrame& frame = from.frame;
  const bool is_file = frame.name.empty();
  row->set_name(is_file ? frame.file : frame.name);
  if (!is_file) row->set_place(PlaceText(frame));
  row->set_file(frame.file);
  row->set_line(is_file ? 0 : frame.line);
  FillTimes(from, all, row);
}

// Sums of all selected processes.
struct Sums {
  HostTimes times;
  uint64_t count = 0;
  uint32_t threads = 0;
  uint32_t processes = 0;
};

Sums SumsOf(PassContext& context) {
  Sums sums;
  for (const size_t index : context.selected()) {
    const HostSamples& samples = SamplesOf(context, index);
    if (samples.empty()) continue;
    sums.times += samples.times();
    sums.count += samples.count();
    sums.threads += samples.thread_count();
    ++sums.processes;
  }
  return sums;
}

CodeGroup GroupOf(const std::string& by) {
  return by == "line" ? CodeGroup::kLine : by == "module" ? CodeGroup::kFile : CodeGroup::kFunction;
}

void AddFunctions(PassContext& context, CodeGroup group, const HostTimes& all,
                  results::Python* out) {
  HostFunctions functions(group);
  for (const size_t index : context.selected()) AddSamples(context, index, &functions);
  functions.Finish();
  for (const FunctionTimes& each : functions.rows()) FillRow(each, all, out->add_functions());
}

// A thread's row: all its time is its own.
void AddThreads(PassContext& context, const HostTimes& all, results::Python* out) {
  HostFunctions functions(CodeGroup::kFunction);
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    AddSamples(context, index, &functions);
    std::map<int32_t, FunctionTimes> threads;
    std::map<int32_t, std::map<size_t, int64_t>> of_functions;
    for (const SampledStack& each : SamplesOf(context, index).stacks()) {
      FunctionTimes& thread = threads[each.tid];
      thread.self += each.times;
      thread.total += each.times;
      thread.charged_ns += each.times[HostState::kRuns];
      thread.count += each.count;
      thread.threads.insert({index, each.tid});
      of_functions[each.tid][functions.ChargedRowOf(each.stack)] += each.times[HostState::kRuns];
    }
    for (const auto& [tid, times] : threads) {
      results::FunctionTime* row = out->add_functions();
      row->set_name(ThreadName(process, tid));
      SetProcess(process, row);
      row->set_tid(tid);
      FillTimes(times, all, row);
      const auto& own = of_functions[tid];
      const auto busiest = std::max_element(
          own.begin(), own.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      if (busiest != own.end() && busiest->second > 0)
        row->set_place(functions.rows()[busiest->first].frame.name);
    }
  }
}

// Whose functions had the GIL while others waited.
template <typename Rows>
void AddHolders(PassContext& context, int64_t gil_ns, Rows* out) {
  if (gil_ns == 0) return;
  struct Holder {
    int64_t total_ns = 0;
    std::set<std::pair<size_t, int32_t>> threads, waiters;
  };
  HostFunctions functions(CodeGroup::kFunction);
  std::map<size_t, Holder> holders;  // by row of `functions`
  Holder unknown;
  for (const size_t index : context.selected()) {
    AddSamples(context, index, &functions);
    for (const GilWait& wait : SamplesOf(context, index).GilWaits()) {
      Holder& holder =
          wait.holder_stack == 0 ? unknown : holders[functions.RowOf(wait.holder_stack)];
      holder.total_ns += wait.total_ns;
      if (wait.holder != 0) holder.threads.insert({index, wait.holder});
      holder.waiters.insert({index, wait.waiter});
    }
  }
  functions.Finish();
  const auto add = [&](const Holder& holder, const CodeFrame& frame) {
    results::GilHolder* row = out->Add();
    row->set_name(frame.name);
    row->set_place(PlaceText(frame));
    row->set_total_ns(holder.total_ns);
    row->set_total_ratio(Ratio(holder.total_ns, gil_ns));
    row->set_thread_count(static_cast<uint32_t>(holder.threads.size()));
    row->set_waiter_count(static_cast<uint32_t>(holder.waiters.size()));
  };
  for (const auto& [row, holder] : holders) add(holder, functions.rows()[row].frame);
  if (unknown.total_ns > 0) add(unknown, {});
  SortByTotal(out);
}

}  // namespace

const HostSamples& SamplesOf(PassContext& context, size_t index) {
  return context.kept(index).Get<HostSamples>([&] { return HostSamples(context.process(index)); });
}

void AddSamples(PassContext& context, size_t index, HostFunctions* functions) {
  functions->Add(context.process(index), index, SamplesOf(context, index),
                 [&context, index](uint64_t pc) { return NativeFrame(context, index, pc); });
}

void FillFunctionTimes(PassContext& context, const std::string& by, results::Python* out) {
  const Sums sums = SumsOf(context);
  out->set_cpu_ns(sums.times[HostState::kRuns]);
  out->set_gil_ns(sums.times[HostState::kWaitsForGil]);
  out->set_wait_ns(sums.times[HostState::kWaits]);
  out->set_ready_ns(sums.times[HostState::kReady]);
  out->set_count(sums.count);
  out->set_thread_count(sums.threads);
  out->set_process_count(sums.processes);
  out->set_has_interpreter(HasInterpreter(context));
  if (by == "thread") {
    AddThreads(context, sums.times, out);
  } else {
    AddFunctions(context, GroupOf(by), sums.times, out);
  }
  SortFalling(out->mutable_functions(), [](const results::FunctionTime& row) {
    return std::make_pair(row.self_ns(), row.total_ns());
  });
  AddHolders(context, out->gil_ns(), out->mutable_holders());
}

bool FillTopFunctions(PassContext& context, results::OverviewFunctions* out) {
  const Sums sums = SumsOf(context);
  if (sums.count == 0) return false;
  out->set_cpu_ns(sums.times[HostState::kRuns]);
  out->set_gil_ns(sums.times[HostState::kWaitsForGil]);
  out->set_wait_ns(sums.times[HostState::kWaits]);
  out->set_ready_ns(sums.times[HostState::kReady]);
  out->set_count(sums.count);
  results::Python all;
  AddFunctions(context, CodeGroup::kFunction, sums.times, &all);
  SortFalling(all.mutable_functions(), [](const results::FunctionTime& row) {
    return std::make_pair(row.program_ns(), row.total_ns());
  });
  for (const results::FunctionTime& row : all.functions()) {
    if (row.program_ns() == 0 || out->functions_size() == kTopFunctions) break;
    *out->add_functions() = row;
  }
  AddHolders(context, out->gil_ns(), all.mutable_holders());
  for (int i = 0; i < std::min(kTopHolders, all.holders_size()); ++i)
    *out->add_holders() = all.holders(i);
  return true;
}

bool HasInterpreter(PassContext& context) {
  const auto is_one = [](std::string_view path) {
    return IsInterpreter(path.substr(path.rfind('/') + 1));
  };
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (is_one(process.executable)) return true;
    for (const proto::Module& module : process.modules)
      if (is_one(module.path())) return true;
  }
  return false;
}

void LimitToStackSamples(uint64_t samples, results::Confidence* confidence) {
  if (confidence->level() <= results::LEVEL_LOW) return;
  const results::Level most = samples >= 1000  ? results::LEVEL_HIGH
                              : samples >= 100 ? results::LEVEL_MEDIUM
                                               : results::LEVEL_LOW;
  confidence->set_level(std::min(confidence->level(), most));
  confidence->set_reason(FormatNumber(samples) + (samples == 1 ? " sample" : " samples") +
                         " of stacks");
}

}  // namespace gpuprof::analysis
