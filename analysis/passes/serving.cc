// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `serving`: iterations of servers of language models. See passes.h.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/process_name.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/iteration_rows.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/served_iterations.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "analysis/steps/iterations.h"
#include "analysis/steps/statistics.h"
#include "proto/results/serving.pb.h"

namespace gpuprof::analysis {
namespace {

using proto::IterationName;

constexpr double kP95 = 0.95, kP99 = 0.99;
constexpr double kNanosecondsOfSecond = 1e9;

// Calls set(number) for a number that a mark tells.
template <typename Set>
void IfTold(uint64_t number, Set&& set) {
  if (number != IterationName::kUntold) set(number);
}

// A sum of what marks tell. Untold: a mark does not tell, or there is none.
struct ToldSum {
  uint64_t sum = 0, count = 0;
  bool is_told = true;
  void Add(uint64_t number) {
    is_told = is_told && AddTold(number, &sum);
    ++count;
  }
  bool has_value() const { return is_told && count != 0; }
};

double PerSecond(uint64_t count, int64_t ns) {
  return kNanosecondsOfSecond * Ratio(static_cast<double>(count), static_cast<double>(ns));
}

// Returns the greatest number that marks tell; untold: none tells.
uint64_t Greater(uint64_t most, uint64_t number) {
  if (number == IterationName::kUntold) return most;
  return most == IterationName::kUntold ? number : std::max(most, number);
}

template <typename Row>
void SetThread(const Process& process, const ServingThread& thread, Row* row) {
  SetProcess(process, row);
  row->set_tid(thread.steps->summary.tid);
}

void FillIterationRow(const Process& process, const ServingThread& thread, size_t i,
                      results::ServingIteration* row) {
  const Step& step = thread.steps->steps[i];
  const ServedIteration& each = thread.iterations[i];
  SetThread(process, thread, row);
  row->set_number(step.number);
  if (each.told.phase != proto::IterationPhase::kUnknown) row->set_phase(PhaseOf(each.told.phase));
  row->set_start_ns(step.span.start);
  row->set_mark_ns(step.span.length());
  if (each.period.length() > 0) row->set_duration_ns(each.period.length());
  IfTold(each.told.requests, [&](uint64_t number) { row->set_request_count(number); });
  IfTold(each.told.prefill_requests,
         [&](uint64_t number) { row->set_prefill_request_count(number); });
  IfTold(each.told.decode_requests,
         [&](uint64_t number) { row->set_decode_request_count(number); });
  IfTold(each.told.tokens, [&](uint64_t number) { row->set_token_count(number); });
  IfTold(each.told.prefill_tokens, [&](uint64_t number) { row->set_prompt_token_count(number); });
  IfTold(each.told.decode_tokens,
         [&](uint64_t number) { row->set_generation_token_count(number); });
  IfTold(each.told.cached_tokens, [&](uint64_t number) { row->set_cached_token_count(number); });
  if (each.forward) {
    row->set_forward_ns(each.forward->length());
    row->set_busy_ns(each.busy_ns);
  }
  if (each.bubble_ns) row->set_bubble_ns(*each.bubble_ns);
  if (const results::TimeCategory most = MostOf(each.bubble)) row->set_bubble_category(most);
  if (each.during_op != 0) row->set_bubble_operation(process.String(each.during_op));
  if (each.during_function != 0) row->set_bubble_function(process.String(each.during_function));
  row->set_kernel_count(each.kernels);
  row->set_graph_kernel_count(each.graph_kernels);
  row->set_capture(step.capture);
  row->set_follows_pause(each.follows_pause);
  if (each.token_gap_ns) {
    row->set_token_gap_ns(*each.token_gap_ns);
    row->set_token_gap_prefill(each.gap_has_prefill);
  }
  if (step.name != 0) row->set_mark(process.String(step.name));
}

// Returns the name with most time; of equal ones the first by the alphabet. Empty: there are none.
std::string MostOfNames(const Process& process, const std::map<uint32_t, int64_t>& names) {
  std::string most;
  int64_t most_ns = 0;
  for (const auto& [name, ns] : names) {
    const std::string text = process.String(name);
    if (ns < most_ns || (ns == most_ns && text >= most)) continue;
    most = text;
    most_ns = ns;
  }
  return most;
}

// Sums up the iterations of one phase.
class PhaseSums {
 public:
  void Add(const ServedIteration& each, int64_t mark_ns) {
    ++count_;
    mark_ns_ += mark_ns;
    if (each.period.length() > 0) durations_.push_back(each.period.length());
    requests_.Add(each.told.requests);
    prompt_.Add(each.told.prefill_tokens);
    generation_.Add(each.told.decode_tokens);
    tokens_.Add(each.told.tokens);
    cached_ = Greater(cached_, each.told.cached_tokens);
    kernels_ += each.kernels;
    graph_kernels_ += each.graph_kernels;
    if (each.forward) {
      has_forward_ = true;
      forward_ns_ += each.forward->length();
      busy_ns_ += each.busy_ns;
    }
    if (!each.bubble_ns) return;
    bubbles_.push_back(*each.bubble_ns);
    bubbled_forward_ns_ += each.forward->length();
    bubbled_busy_ns_ += each.busy_ns;
    for (size_t c = 0; c < each.bubble.size(); ++c) bubble_[c] += each.bubble[c];
    if (each.during_op != 0) ops_[each.during_op] += each.during_ns;
    if (each.during_function != 0) functions_[each.during_function] += each.during_ns;
  }

  void Fill(const Process& process, int64_t all_ns, results::ServingPhase* row) {
    const Samples durations(std::move(durations_)), bubbles(std::move(bubbles_));
    row->set_count(count_);
    row->set_timed_count(durations.size());
    row->set_total_ns(durations.total());
    row->set_median_ns(durations.median());
    row->set_p95_ns(durations.Percentile(kP95));
    row->set_p99_ns(durations.Percentile(kP99));
    row->set_max_ns(durations.max());
    row->set_total_ratio(Ratio(durations.total(), all_ns));
    row->set_mark_ns(mark_ns_);
    if (requests_.has_value()) row->set_mean_request_count(Ratio(requests_.sum, requests_.count));
    if (prompt_.has_value()) row->set_prompt_token_count(prompt_.sum);
    if (generation_.has_value()) row->set_generation_token_count(generation_.sum);
    if (tokens_.has_value() && durations.total() > 0)
      row->set_tokens_per_s(PerSecond(tokens_.sum, durations.total()));
    IfTold(cached_, [&](uint64_t number) { row->set_cached_token_peak_count(number); });
    row->set_kernel_count(kernels_);
    row->set_graph_kernel_count(graph_kernels_);
    if (has_forward_) {
      row->set_forward_ns(forward_ns_);
      row->set_busy_ns(busy_ns_);
    }
    row->set_bubble_count(bubbles.size());
    if (bubbles.size() == 0) return;
    row->set_bubble_ns(bubbles.total());
    row->set_bubble_median_ns(bubbles.median());
    row->set_bubble_p95_ns(bubbles.Percentile(kP95));
    const int64_t whole = bubbles.total() + bubbled_forward_ns_;
    row->set_bubble_ratio(Ratio(bubbles.total(), whole));
    row->set_busy_ratio(Ratio(bubbled_busy_ns_, whole));
    AddTimes(bubble_, bubbles.total(), row->mutable_bubble_categories());
    if (const results::TimeCategory most = MostOf(bubble_)) row->set_bubble_category(most);
    row->set_bubble_operation(MostOfNames(process, ops_));
    row->set_bubble_function(MostOfNames(process, functions_));
  }

 private:
  uint64_t count_ = 0, kernels_ = 0, graph_kernels_ = 0, cached_ = IterationName::kUntold;
  int64_t mark_ns_ = 0, forward_ns_ = 0, busy_ns_ = 0;
  int64_t bubbled_forward_ns_ = 0, bubbled_busy_ns_ = 0;  // of those with a known bubble
  bool has_forward_ = false;
  std::vector<int64_t> durations_, bubbles_;
  ToldSum requests_, prompt_, generation_, tokens_;
  DeviceTimes bubble_{};
  std::map<uint32_t, int64_t> ops_, functions_;  // of the host in bubbles, by name
};

void FillEngine(const Process& process, const ServingThread& thread, results::ServingEngine* row) {
  SetThread(process, thread, row);
  row->set_name(ProcessName(process));
  row->set_marker(thread.steps->detected.marker);
  row->set_marked(thread.is_marked);
  row->set_count(thread.iterations.size());
  row->set_partial_count(thread.steps->detected.partial);
  row->set_pause_count(thread.pauses);
  row->set_pause_ns(thread.pause_ns);
  if (thread.device) {
    row->set_device(*thread.device);
    row->set_device_name(DeviceNames(process)[*thread.device]);
  }
  int64_t total = 0;
  uint64_t cached = IterationName::kUntold, with_prefill = 0;
  ToldSum prompt, generation;
  std::vector<int64_t> gaps;
  for (const ServedIteration& each : thread.iterations) {
    total += std::max<int64_t>(each.period.length(), 0);
    prompt.Add(each.told.prefill_tokens);
    generation.Add(each.told.decode_tokens);
    cached = Greater(cached, each.told.cached_tokens);
    if (!each.token_gap_ns) continue;
    gaps.push_back(*each.token_gap_ns);
    with_prefill += each.gap_has_prefill ? 1 : 0;
  }
  row->set_total_ns(total);
  if (prompt.has_value()) {
    row->set_prompt_token_count(prompt.sum);
    if (total > 0) row->set_prompt_tokens_per_s(PerSecond(prompt.sum, total));
  }
  if (generation.has_value()) {
    row->set_generation_token_count(generation.sum);
    if (total > 0) row->set_generation_tokens_per_s(PerSecond(generation.sum, total));
  }
  IfTold(cached, [&](uint64_t number) { row->set_cached_token_peak_count(number); });
  if (gaps.empty()) return;
  const Samples samples(std::move(gaps));
  row->set_token_gap_count(samples.size());
  row->set_token_gap_median_ns(samples.median());
  row->set_token_gap_p95_ns(samples.Percentile(kP95));
  row->set_token_gap_p99_ns(samples.Percentile(kP99));
  row->set_token_gap_max_ns(samples.max());
  row->set_token_gap_prefill_count(with_prefill);
}

// Returns a number of the names of all iterations of a thread, in their order. None: a step has no
// mark.
std::optional<uint64_t> HashOfMarks(const Process& process, const ServingThread& thread) {
  uint64_t hash = thread.iterations.size();
  for (const Step& step : thread.steps->steps) {
    if (step.name == 0) return std::nullopt;
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    hash = hash * kFactor + std::hash<std::string>()(process.String(step.name));
  }
  return hash;
}

// Adds the rows of a thread. `by_batch`: sums are by phase and number of requests.
void AddThread(const Process& process, const ServingThread& thread, bool by_batch,
               results::Serving* out) {
  FillEngine(process, thread, out->add_engines());
  const int64_t all_ns = out->engines(out->engines_size() - 1).total_ns();
  std::map<std::pair<proto::IterationPhase, uint64_t>, PhaseSums> phases;
  for (size_t i = 0; i < thread.iterations.size(); ++i) {
    const ServedIteration& each = thread.iterations[i];
    phases[{each.told.phase, by_batch ? each.told.requests : IterationName::kUntold}].Add(
        each, thread.steps->steps[i].span.length());
    FillIterationRow(process, thread, i, out->add_iterations());
  }
  for (auto& [key, sums] : phases) {
    results::ServingPhase* const row = out->add_phases();
    SetThread(process, thread, row);
    if (key.first != proto::IterationPhase::kUnknown) row->set_phase(PhaseOf(key.first));
    IfTold(key.second, [&](uint64_t number) { row->set_request_count(number); });
    sums.Fill(process, all_ns, row);
  }
}

}  // namespace

Error RunServing(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Serving>();
  const std::string by = context.By("phase");
  out->set_by(by);
  const std::optional<size_t> leading = context.Leading();
  std::vector<size_t> order = context.selected();
  if (leading)
    std::stable_partition(order.begin(), order.end(), [&](size_t i) { return i == *leading; });
  std::map<uint64_t, std::vector<int>> twins;  // engines by the names of their iterations
  StepConfidence sureness = {results::LEVEL_NONE, "no iterations found"};
  for (const size_t index : order) {
    const Process& process = context.process(index);
    bool is_first = true;  // threads of one process are no ranks
    for (const ServingThread& thread : ServingThreadsOf(context, index)) {
      if (out->engines_size() == 0) sureness = thread.steps->summary.confidence;
      AddThread(process, thread, by == "batch", out.get());
      const std::optional<uint64_t> marks = HashOfMarks(process, thread);
      if (is_first && marks) twins[*marks].push_back(out->engines_size() - 1);
      is_first = false;
    }
  }
  for (const auto& [marks, engines] : twins)
    for (const int engine : engines)
      out->mutable_engines(engine)->set_twin_count(engines.size() - 1);
  context.FillMeta("serving", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  AddUnpairedNotes(context, SpanSubject::kOperations, out->mutable_meta());
  if (out->engines_size() == 0)
    out->set_advice(
        "No iteration of a server of language models was found: no range tells requests, as those "
        "of vLLM, sglang and TensorRT-LLM do. These engines name their iterations if their "
        "profiler, or their option for NVTX, is on.");
  else if (out->engines(0).has_device())
    AddSampledNote(context, "the time of devices", out->mutable_meta());
  results::Confidence* const confidence = out->mutable_meta()->mutable_confidence();
  confidence->set_level(sureness.level);
  confidence->set_reason(sureness.reason);
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
