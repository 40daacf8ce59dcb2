// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See verdict.h, and verdict_families.h for what bounds a step.

#include "analysis/advice/facts/verdict.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/advice/facts/fact_source.h"
#include "analysis/advice/facts/memory_fact_finder.h"
#include "analysis/advice/facts/rank_fact_finder.h"
#include "analysis/advice/facts/verdict_families.h"
#include "analysis/advice/thresholds.h"
#include "analysis/derived/device_work.h"
#include "analysis/derived/host_activity.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/passes/critical_path.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/step_graph.h"
#include "analysis/passes/device/step_periods.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/bootstrap.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

// The graph of so much work takes a gigabyte and seconds.
constexpr uint64_t kMostWork = 5'000'000;
// Timelines of more work go before the graph is made.
constexpr uint64_t kMostKept = 1'000'000;

// Long calls that do not wait for work: creation of contexts, loading of code, first allocations.
void FindFirstUses(PassContext& context, size_t index, int64_t last_work_ns, int64_t long_call_ns,
                   DeviceFacts* facts) {
  const Process& process = context.process(index);
  std::vector<Interval> calls;
  int64_t first_ns = last_work_ns;
  for (const Track& track : process.tracks) {
    const ApiTable& api = track.api;
    for (size_t i = 0; !api.has_ids_alone() && i < api.rows(); ++i) {
      const Interval span = {api.end_ns[i] - api.duration_ns[i], api.end_ns[i]};
      first_ns = std::min(first_ns, span.start);
      if (span.length() < long_call_ns || span.start >= last_work_ns) continue;
      const auto name = process.functions.find(api.function[i]);
      const bool waits =
          name != process.functions.end() &&
          HostCategoryOfCall(process.String(name->second)) == results::TIME_CATEGORY_SYNC;
      if (waits) continue;
      calls.push_back(span);
      if (span.length() > facts->longest_first_use.duration_ns) {
        facts->longest_first_use.start_ns = span.start;
        facts->longest_first_use.duration_ns = span.length();
        facts->longest_first_use.tid = track.tid;
      }
      facts->first_use_calls[ApiFunctionName(process, api.function[i])] += span.length();
    }
  }
  facts->first_use_ns = TotalLength(UnionOf(std::move(calls)));
  facts->first_use_window_ns = last_work_ns - first_ns;
}

// Returns whether the rows are a selection that somebody made: ids of calls are numbered one by
// one, and nearly all of them are missing. Those between two captures are missing anyway.
bool IsSelection(const Process& process) {
  constexpr uint64_t kFewCalls = 100, kLeastPart = 20;
  struct Ids {
    uint32_t first = UINT32_MAX, last = 0;
  };
  std::vector<Ids> captures(process.captures.size() + 1);
  uint64_t calls = 0, ids = 0;
  for (const Track& track : process.tracks) {
    for (size_t i = 0; i < track.api.rows(); ++i) {
      const uint32_t id = track.api.correlation[i];
      if (id == 0) continue;
      ++calls;
      const auto behind = std::upper_bound(
          process.captures.begin(), process.captures.end(), track.api.end_ns[i],
          [](int64_t ns, const CaptureWindow& window) { return ns < window.start_ns; });
      Ids& own = captures[static_cast<size_t>(behind - process.captures.begin())];
      own.first = std::min(own.first, id);
      own.last = std::max(own.last, id);
    }
  }
  for (const Ids& each : captures)
    if (each.first <= each.last) ids += each.last - each.first;
  return calls >= kFewCalls && ids / calls >= kLeastPart;
}

void FindMedians(const Process& process, const CallIndex& calls, DeviceFacts* facts) {
  SampleList kernels, launches;
  for (const Track& track : process.tracks) {
    ForEachRowOfWork(DeviceWorkKind::kKernel, track.kernel, [&](const DeviceWork& work) {
      kernels.Add(work.span.length(), work.weight);
      if (const auto call = calls.Find(work.correlation))
        launches.Add(call->end_ns - call->start_ns);
    });
    facts->has_python |= track.python.rows() != 0;
  }
  facts->median_kernel_ns = kernels.Take().median();
  facts->median_launch_ns = launches.Take().median();
}

uint64_t WorkOf(const Process& process) {
  uint64_t rows = 0;
  for (const Track& track : process.tracks)
    rows += track.kernel.rows() + track.memcpy.rows() + track.memset.rows();
  return rows;
}

// Fills the step that all shares, gains and rates are of. `lengths`: of the counted periods.
void FillStepPeriod(const results::DeviceSeries& series, const std::vector<int64_t>& lengths,
                    results::Overview* out) {
  if (series.window() != results::STEP_WINDOW_PERIOD) return;
  SetStepPeriod(lengths, out);
  results::StepPeriod* step = out->mutable_step();
  step->set_pid(series.pid());
  step->set_host(series.host());
  step->set_device(series.device());
  // The marks are much shorter: the host runs ahead.
  const int64_t mark = out->has_steps() ? out->steps().mean_ns() : step->mean_ns();
  step->set_is_of_device(mark < step->mean_ns() - step->mean_ns() / 10);
}

// Says why an incomplete recording tells little.
void LowerConfidence(const results::MissingWork& missing, results::Confidence* confidence) {
  if (confidence->level() == results::LEVEL_LOW) return;
  confidence->set_level(results::LEVEL_LOW);
  confidence->set_reason(missing.empty_graph_count() != 0
                             ? "work of CUDA graphs is missing in the recording"
                             : "work of the GPU is missing in the recording");
}

void FillConfidence(PassContext& context, size_t index, results::Verdict* verdict) {
  results::Confidence* confidence = verdict->mutable_confidence();
  confidence->set_level(results::LEVEL_HIGH);
  if (IsSelection(context.process(index))) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("nearly all calls are missing in the recording");
    verdict->set_is_selection(true);
  } else if (IsSampled(context)) {
    confidence->set_level(results::LEVEL_LOW);
    confidence->set_reason("only a part of the GPU activity was recorded");
  } else if (verdict->window() == results::STEP_WINDOW_ALL) {
    confidence->set_level(results::LEVEL_MEDIUM);
    confidence->set_reason("no steps were found: start and end of the run count, too");
  }
}

// Looks at copies, calls and launches in steps. A part of them tells nothing of the rest.
void FillPieces(PassContext& context, size_t index, const StepGraph& graph,
                const results::Steps& steps, const Thresholds& limits, DeviceFacts* facts) {
  const bool has_steps = facts->series.window() != results::STEP_WINDOW_ALL;
  if (!has_steps || !graph.first_step()) return;
  if (facts->is_partial || facts->verdict.is_selection()) return;
  DependencyGraph::Free outputs{};
  outputs[results::TIME_CATEGORY_OUTPUT] = true;
  if (facts->PerStep(results::TIME_CATEGORY_OUTPUT) != 0)
    facts->output_saved_per_step_ns = graph.SavedPerStep(outputs);
  FactSource source(context, index, graph, steps, facts->series, limits);
  FillCopyFacts(source, facts);
  FillCallFacts(source, facts);
  FillKernelFacts(source, facts);
  FillDetailFacts(source, facts);
  FillLaunchFacts(source, facts);
}

// Finds the longest pieces of work of the whole recording: without steps, findings lead to them.
void FindLongestWork(const Process& process, DeviceFacts* facts) {
  std::map<uint32_t, Instance> kernels;  // by signature
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != facts->series.device()) continue;
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      Instance* longest = nullptr;
      if (work.kind == DeviceWorkKind::kCopy) longest = &facts->copies.longest;
      if (work.kind == DeviceWorkKind::kKernel)
        longest = &kernels[track.kernel.signature[work.row]];
      if (longest == nullptr || work.span.length() <= longest->duration_ns) return;
      longest->start_ns = work.span.start;
      longest->duration_ns = work.span.length();
      longest->device = track.device;
      longest->stream = track.stream;
    });
  }
  for (const auto& [signature, longest] : kernels) {
    const auto found = process.signatures.find(signature);
    if (found == process.signatures.end()) continue;
    const std::string name = Demangle(process.String(found->second.name()).c_str());
    Instance& known = IsCollective(process, name) ? facts->in_steps.longest_collective
                                                  : facts->in_steps.longest_launches[name];
    if (longest.duration_ns > known.duration_ns) known = longest;
  }
}

}  // namespace

namespace {

// Returns how long a device worked, without collectives: in these it may wait for another rank.
int64_t OwnWorkNs(const results::DeviceSeries& series) {
  int64_t work = series.busy_ns();
  for (const results::CategoryTime& part : series.categories())
    if (part.category() == results::TIME_CATEGORY_COLLECTIVE) work -= part.total_ns();
  return work;
}

}  // namespace

std::optional<DeviceFacts> FillVerdict(PassContext& context, results::Overview* out) {
  std::optional<std::pair<size_t, results::DeviceSeries>> busiest;
  for (const size_t index : context.selected()) {
    for (const results::DeviceSeries& series : DeviceSeriesOf(context, index)) {
      *out->add_device_series() = series;
      const bool is_whole = series.window() == results::STEP_WINDOW_PERIOD ||
                            series.window() == results::STEP_WINDOW_ALL;
      if (!is_whole || (busiest && OwnWorkNs(series) <= OwnWorkNs(busiest->second))) continue;
      busiest = {index, series};
    }
  }
  if (!busiest) return std::nullopt;
  const auto& [index, series] = *busiest;
  const results::Steps& steps_of_busiest = DeviceStepsOf(context, index);
  DeviceFacts facts;
  facts.series = series;
  results::Verdict& verdict = facts.verdict;
  SetProcess(context.process(index), &verdict);
  verdict.set_device(series.device());
  verdict.set_window(series.window());
  verdict.set_step_ns(facts.StepNs());
  verdict.set_busy_ratio(series.busy_ratio());
  FillConfidence(context, index, &verdict);
  FillMissing(context, index, series, &verdict);
  facts.is_partial = IsSampled(context);
  const Thresholds limits(context.options().thresholds);
  FindFirstUses(context, index, series.end_ns(), limits.Whole("ST-008.min_call"), &facts);
  const bool is_cold =
      series.window() == results::STEP_WINDOW_ALL &&
      Ratio(facts.first_use_ns, facts.first_use_window_ns) >= limits("ST-008.min_share");
  if (is_cold) {
    // The first calls come before the first work: all figures are of the longer time.
    verdict.set_busy_ratio(series.busy_ratio() * Ratio(facts.StepNs(), facts.first_use_window_ns));
    verdict.set_step_ns(facts.first_use_window_ns);
  }
  std::vector<int64_t> lengths;
  for (const results::DeviceStep& step : steps_of_busiest.device_steps()) {
    const bool is_one = step.device() == series.device() && step.window() == series.window();
    if (is_one && !step.warmup()) lengths.push_back(step.duration_ns());
    const bool is_typical = is_one && series.window() != results::STEP_WINDOW_ALL &&
                            step.number() == series.typical_number() &&
                            step.start_ns() >= series.start_ns();
    if (!is_typical || facts.typical_step.duration_ns != 0) continue;
    facts.typical_step.start_ns = step.start_ns();
    facts.typical_step.duration_ns = step.duration_ns();
    facts.typical_step.step = step.number();
    facts.typical_step.device = step.device();
  }
  FillStepPeriod(series, lengths, out);
  facts.noise_ratio = MedianNoise(lengths);
  const Process& process = context.process(index);
  FindMedians(process, context.calls(index), &facts);
  const proto::Device* device = process.FindDevice(series.device());
  if (device != nullptr) {
    facts.compute_major = device->compute_major();
    facts.is_mig = device->is_mig();
  }
  FillMemoryFacts(context, index, series.device(), &facts.memory);
  FillClockFacts(context, index, series, &facts.clocks);
  FillRankFacts(context, *out, series, &facts.ranks);
  facts.kernels = KernelsByName(context);
  if (WorkOf(process) <= kMostWork) {
    FillIdleFacts(context, index, series, &facts.idle);
    if (WorkOf(process) > kMostKept) context.ForgetDevices();
    if (series.window() == results::STEP_WINDOW_ALL) FindLongestWork(process, &facts);
    const auto graph = StepGraph::Make(context, index);
    FillFamilies(series, graph.get(), &verdict);
    if (graph != nullptr) {
      facts.path = CriticalPathOf(context, index, graph.get()).path;
      FillPieces(context, index, *graph, steps_of_busiest, limits, &facts);
    }
  } else {
    FillFamilies(series, nullptr, &verdict);
    out->mutable_meta()->add_notes(
        "GPU: the recording has more than 5 million pieces of work: what could be gained was not "
        "computed (select some steps: --steps)");
  }
  if (is_cold) {
    verdict.set_bound(results::BOUND_FIRST_USE);
    verdict.set_bound_ratio(Ratio(facts.first_use_ns, facts.first_use_window_ns));
  }
  if (IsIncomplete(verdict)) LowerConfidence(verdict.missing(), verdict.mutable_confidence());
  for (const results::WhatIf& what_if : facts.path.what_ifs()) *verdict.add_what_ifs() = what_if;
  *out->mutable_verdict() = verdict;
  return facts;
}

}  // namespace gpuprof::analysis
