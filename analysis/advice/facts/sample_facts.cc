// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sample_facts.h.

#include "analysis/advice/facts/sample_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/advice/thresholds.h"
#include "analysis/derived/host_functions.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/host/function_times.h"
#include "analysis/passes/main_process.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kFunctionsNamed = 3;
// Frames, from the innermost on, that tell what a thread waits for.
constexpr size_t kFramesOfWait = 4;

// Functions of Python's library in which threads wait for something to do.
struct WorkWait {
  std::string_view file, function;
};
constexpr std::array<WorkWait, 12> kWorkWaits = {{{"/queue.py", "get"},
                                                  {"/selectors.py", "select"},
                                                  {"/socket.py", "accept"},
                                                  {"/socketserver.py", "serve_forever"},
                                                  {"/concurrent/futures/thread.py", "_worker"},
                                                  {"/concurrent/futures/process.py", "wait"},
                                                  {"/multiprocessing/connection.py", "wait"},
                                                  {"/multiprocessing/connection.py", "accept"},
                                                  {"/threading.py", "join"},
                                                  {"/threading.py", "_wait_for_tstate_lock"},
                                                  {"/threading.py", "_shutdown"},
                                                  {"/subprocess.py", "_wait"}}};

bool IsWorkWait(const CodeFrame& frame) {
  const std::string_view name = frame.name;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  return std::any_of(kWorkWaits.begin(), kWorkWaits.end(), [&](const WorkWait& each) {
    return last == each.function && std::string_view(frame.file).ends_with(each.file);
  });
}

struct Sum {
  int64_t ns = 0;
  std::set<int32_t> threads;
};
using Sums = std::map<size_t, Sum>;  // by row

// The rows, the greatest first.
std::vector<std::pair<size_t, Sum>> Ranked(const Sums& sums) {
  std::vector<std::pair<size_t, Sum>> ranked(sums.begin(), sums.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  while (!ranked.empty() && ranked.back().second.ns == 0) ranked.pop_back();
  return ranked;
}

class Finder {
 public:
  Finder(PassContext* context, size_t index, const Thresholds* limits)
      : samples_(SamplesOf(*context, index)), limits_(limits), functions_(CodeGroup::kFunction) {
    AddSamples(*context, index, &functions_);
    functions_.Finish();
  }

  const HostSamples& samples() const { return samples_; }

  void FindBusiest(SampleFacts* facts) {
    Sums charged, callers;
    for (const SampledStack& each : samples_.stacks())
      Add(functions_.ChargedRowOf(each.stack), each, HostState::kRuns, &charged);
    const auto ranked = Ranked(charged);
    if (ranked.empty()) return;
    const size_t row = ranked.front().first;
    facts->busiest = Named(ranked.front(), HostState::kRuns,
                           [&](uint32_t stack) { return functions_.ChargedRowOf(stack) == row; });
    for (const SampledStack& each : samples_.stacks()) {
      if (functions_.ChargedRowOf(each.stack) != row) continue;
      if (functions_.RowOf(each.stack) != row)
        facts->in_libraries_ns += each.times[HostState::kRuns];
      if (const auto caller = CallerOf(each.stack, row))
        Add(*caller, each, HostState::kRuns, &callers);
    }
    AddNamed(Ranked(callers), &facts->callers);
  }

  void FindGil(SampleFacts* facts) {
    Sums waiters, holders;
    std::set<int32_t> threads;
    for (const SampledStack& each : samples_.stacks()) {
      if (each.times[HostState::kWaitsForGil] == 0) continue;
      Add(functions_.ChargedRowOf(each.stack), each, HostState::kWaitsForGil, &waiters);
      threads.insert(each.tid);
    }
    const auto ranked = Ranked(waiters);
    if (ranked.empty()) return;
    facts->gil_waiter =
        Named(ranked.front(), HostState::kWaitsForGil, [](uint32_t) { return true; });
    facts->gil_covered_ns = facts->gil_waiter.covered_ns;
    facts->gil_thread_count = static_cast<uint32_t>(threads.size());
    for (const GilWait& wait : samples_.GilWaits()) {
      if (wait.holder_stack == 0) continue;
      Sum& sum = holders[functions_.ChargedRowOf(wait.holder_stack)];
      sum.ns += wait.total_ns;
      sum.threads.insert(wait.holder);
    }
    AddNamed(Ranked(holders), &facts->gil_holders);
  }

  void FindWaiting(SampleFacts* facts) {
    const std::set<int32_t> resting = RestingThreads();
    Sums waits;
    for (const SampledStack& each : samples_.stacks()) {
      if (resting.count(each.tid) != 0) continue;
      const bool is_work = IsForWork(each.stack);
      facts->awake_ns +=
          is_work ? each.times.all() - each.times[HostState::kWaits] : each.times.all();
      if (!is_work) Add(functions_.RowOf(each.stack), each, HostState::kWaits, &waits);
    }
    const auto ranked = Ranked(waits);
    if (ranked.empty()) return;
    const size_t row = ranked.front().first;
    facts->waiting = Named(ranked.front(), HostState::kWaits, [&](uint32_t stack) {
      return functions_.RowOf(stack) == row && !IsForWork(stack);
    });
    Sums callers;
    for (const SampledStack& each : samples_.stacks()) {
      if (resting.count(each.tid) != 0 || functions_.RowOf(each.stack) != row) continue;
      if (const size_t caller = functions_.ChargedRowOf(each.stack); caller != row)
        Add(caller, each, HostState::kWaits, &callers);
    }
    const auto of_program = Ranked(callers);
    if (!of_program.empty())
      facts->waiting_caller = functions_.rows()[of_program.front().first].frame.name;
  }

 private:
  static void Add(size_t row, const SampledStack& each, HostState state, Sums* sums) {
    if (each.times[state] == 0) return;
    Sum& sum = (*sums)[row];
    sum.ns += each.times[state];
    sum.threads.insert(each.tid);
  }

  SampledFunction Named(const std::pair<size_t, Sum>& row) const {
    const CodeFrame& frame = functions_.rows()[row.first].frame;
    SampledFunction named;
    named.name = frame.name;
    named.place = PlaceText(frame);
    named.total_ns = row.second.ns;
    named.thread_count = static_cast<uint32_t>(row.second.threads.size());
    return named;
  }

  template <typename Passes>
  SampledFunction Named(const std::pair<size_t, Sum>& row, HostState state,
                        const Passes& passes) const {
    SampledFunction named = Named(row);
    const std::vector<Interval> when = samples_.When(state, passes);
    named.covered_ns = TotalLength(when);
    return named;
  }

  void AddNamed(const std::vector<std::pair<size_t, Sum>>& ranked,
                std::vector<SampledFunction>* out) const {
    for (size_t i = 0; i < std::min(kFunctionsNamed, ranked.size()); ++i)
      out->push_back(Named(ranked[i]));
  }

  // Returns the first function outside of `row` that called it. None: it is the outermost.
  std::optional<size_t> CallerOf(uint32_t stack, size_t row) {
    const std::vector<size_t>& rows = functions_.RowsOf(stack);
    bool is_outside = false;
    for (const size_t each : rows) {
      if (is_outside && each != row) return each;
      is_outside = is_outside || each == row;
    }
    return std::nullopt;
  }

  // Returns whether the innermost frames wait for something to do.
  bool IsForWork(uint32_t stack) {
    const std::vector<size_t>& rows = functions_.RowsOf(stack);
    for (size_t i = 0; i < std::min(kFramesOfWait, rows.size()); ++i)
      if (IsWorkWait(functions_.rows()[rows[i]].frame)) return true;
    return false;
  }

  // Finds threads that nearly always wait in one function.
  std::set<int32_t> RestingThreads() {
    std::map<int32_t, int64_t> all;
    std::map<int32_t, std::map<size_t, int64_t>> waits;
    for (const SampledStack& each : samples_.stacks()) {
      all[each.tid] += each.times.all();
      waits[each.tid][functions_.RowOf(each.stack)] += each.times[HostState::kWaits];
    }
    const double least = (*limits_)("PY-003.rest_share");
    std::set<int32_t> resting;
    for (const auto& [tid, rows] : waits) {
      for (const auto& [row, ns] : rows)
        if (static_cast<double>(ns) >= least * static_cast<double>(all[tid])) resting.insert(tid);
    }
    return resting;
  }

  const HostSamples& samples_;
  const Thresholds* limits_;
  HostFunctions functions_;
};

}  // namespace

std::optional<SampleFacts> FindSampleFacts(PassContext& context, const Thresholds& limits) {
  const std::optional<size_t> main = MainProcess(context);
  if (!main || SamplesOf(context, *main).empty()) return std::nullopt;
  Finder finder(&context, *main, &limits);
  SampleFacts facts;
  if (context.selected().size() > 1) {
    const Process& process = context.process(*main);
    facts.process = ProcessName(process) + " (" + std::to_string(process.pid) + ")";
  }
  facts.count = finder.samples().count();
  facts.cpu_ns = finder.samples().times()[HostState::kRuns];
  facts.gil_ns = finder.samples().times()[HostState::kWaitsForGil];
  finder.FindBusiest(&facts);
  finder.FindGil(&facts);
  finder.FindWaiting(&facts);
  return facts;
}

}  // namespace gpuprof::analysis
