// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See fact_source.h.

#include "analysis/advice/facts/fact_source.h"

#include <algorithm>
#include <utility>

#include "analysis/passes/passes.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {

namespace {

using Numbered = std::vector<std::pair<Interval, uint64_t>>;

// Divides spans with numbers, by time.
void Divide(Numbered found, std::vector<Interval>* spans, std::vector<uint64_t>* numbers) {
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  for (const auto& [span, number] : found) {
    spans->push_back(span);
    numbers->push_back(number);
  }
}

std::optional<uint64_t> NumberAt(const std::vector<Interval>& spans,
                                 const std::vector<uint64_t>& numbers, int64_t time_ns) {
  const auto at =
      std::upper_bound(spans.begin(), spans.end(), time_ns,
                       [](int64_t time, const Interval& span) { return time < span.start; });
  if (at == spans.begin() || time_ns >= (at - 1)->end) return std::nullopt;
  return numbers[static_cast<size_t>(at - 1 - spans.begin())];
}

}  // namespace

FactSource::FactSource(PassContext& context, size_t index, const StepGraph& graph,
                       const results::Steps& steps, const results::DeviceSeries& series,
                       const Thresholds& limits)
    : context_(context), index_(index), graph_(graph), series_(series), limits_(limits) {
  Numbered found, of_host;
  for (const results::DeviceStep& step : steps.device_steps()) {
    const bool is_one = step.device() == series.device() && step.window() == series.window() &&
                        !step.warmup() && step.start_ns() >= series.start_ns();
    if (is_one)
      found.push_back({{step.start_ns(), step.start_ns() + step.duration_ns()}, step.number()});
  }
  for (const Step& step : context.steps(index).steps) {
    if (!step.is_warmup) of_host.push_back({step.span, step.number});
  }
  Divide(std::move(found), &spans_, &numbers_);
  Divide(std::move(of_host), &host_spans_, &host_numbers_);
  const auto typical = std::find(numbers_.begin(), numbers_.end(), series.typical_number());
  if (typical != numbers_.end()) typical_ = spans_[static_cast<size_t>(typical - numbers_.begin())];
  host_window_ =
      host_spans_.empty() ? window() : Interval{host_spans_.front().start, host_spans_.back().end};
}

bool FactSource::Counts(const DependencyNode& node) const {
  if (node.kind != DependencyNode::Kind::kWork) return InHostSteps(node.span.start);
  return node.span.start >= series_.start_ns() && node.span.start < series_.end_ns() &&
         process().tracks[node.track].device == series_.device();
}

bool FactSource::IsWorthAsking(int64_t total_ns) const {
  return static_cast<double>(total_ns) >=
         limits_("all.min_gain") * static_cast<double>(window().length());
}

std::optional<uint64_t> FactSource::StepAt(int64_t time_ns) const {
  return NumberAt(spans_, numbers_, time_ns);
}

std::optional<uint64_t> FactSource::HostStepAt(int64_t time_ns) const {
  return NumberAt(host_spans_, host_numbers_, time_ns);
}

const std::string& FactSource::FunctionOf(uint32_t track, uint32_t row) {
  const uint32_t function = process().tracks[track].api.function[row];
  const auto [at, is_new] = functions_.try_emplace(function);
  if (is_new) at->second = ApiFunctionName(process(), function);
  return at->second;
}

std::optional<Call> FactSource::LaunchOf(const DependencyNode& work) const {
  return context_.calls(index_).Find(graph_.CorrelationOf(work));
}

std::string FactSource::KernelName(const DependencyNode& kernel) const {
  const uint32_t signature = process().tracks[kernel.track].kernel.signature[kernel.row];
  const auto found = process().signatures.find(signature);
  const uint32_t name = found == process().signatures.end() ? 0 : found->second.name();
  return Demangle(process().String(name).c_str());
}

Instance FactSource::InstanceOf(const DependencyNode& node, std::string name) const {
  Instance instance;
  instance.name = std::move(name);
  instance.start_ns = node.span.start;
  instance.duration_ns = node.span.length();
  const Track& track = process().tracks[node.track];
  if (node.kind == DependencyNode::Kind::kWork) {
    instance.device = track.device;
    instance.stream = track.stream;
    instance.step = StepAt(node.span.start);
  } else {
    instance.tid = track.tid;
    instance.step = HostStepAt(node.span.start);
  }
  return instance;
}

Instance FactSource::LongestOf(const std::vector<uint32_t>& nodes, const std::string& name) const {
  const DependencyNode* longest = nullptr;
  bool is_typical = false;
  for (const uint32_t n : nodes) {
    const DependencyNode& node = graph_.graph().nodes()[n];
    const bool is_inside = node.span.start >= typical_.start && node.span.start < typical_.end;
    if (is_typical && !is_inside) continue;
    if (longest != nullptr && is_inside == is_typical &&
        node.span.length() <= longest->span.length())
      continue;
    longest = &node;
    is_typical = is_inside;
  }
  return longest == nullptr ? Instance() : InstanceOf(*longest, name);
}

}  // namespace gpuprof::analysis
