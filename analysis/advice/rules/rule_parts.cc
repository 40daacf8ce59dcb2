// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/advice/rules/rule_parts.h"

#include <algorithm>

#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {

Finding Make(const char* name, results::Level level, Sentence reason) {
  Finding finding;
  finding.name = name;
  finding.id = RuleOf(name);
  finding.level = level;
  finding.reason = std::move(reason);
  return finding;
}

results::Severity SeverityOf(const AdviceFacts& facts, double ratio) {
  if (ratio >= facts.limits("all.high")) return results::SEVERITY_HIGH;
  if (ratio >= facts.limits("all.medium")) return results::SEVERITY_MEDIUM;
  return ratio >= facts.limits("all.min_gain") ? results::SEVERITY_LOW : results::SEVERITY_INFO;
}

int64_t HostGain(const AdviceFacts& facts, int64_t host_ns) {
  if (!HasWholeSteps(facts) || facts.device->path.what_ifs().empty()) return host_ns;
  return std::min(host_ns, facts.device->SavedPerStep(results::WHAT_IF_HOST));
}

bool HasSteps(const AdviceFacts& facts) {
  return facts.overview->has_steps() && facts.overview->steps().count() >= 3;
}

Argument PartOfStep(const AdviceFacts& facts, int64_t ns) {
  const int64_t step = facts.overview->steps().mean_ns();
  return say::Phrase({"all.part_of_step",
                      {say::Duration(ns), say::Duration(step), say::Percent(Ratio(ns, step))}});
}

const results::StepCategory* FindCategory(const AdviceFacts& facts, std::string_view name) {
  for (const results::StepCategory& category : facts.overview->steps().categories()) {
    if (category.name() == name) return &category;
  }
  return nullptr;
}

bool WaitsLongerThan(const AdviceFacts& facts, int64_t ns) {
  const results::StepCategory* blocked = FindCategory(facts, "blocked");
  return blocked != nullptr && blocked->mean_ns() > ns;
}

int64_t Part(int64_t ns, double part) {
  return static_cast<int64_t>(static_cast<double>(ns) * part);
}

double Share(const DeviceFacts& device, int64_t ns) { return Ratio(ns, device.StepNs()); }

Argument OfStep(const DeviceFacts& device, int64_t ns) {
  const bool has_steps = device.verdict.window() != results::STEP_WINDOW_ALL;
  return say::Phrase(
      {has_steps ? "all.of_step" : "all.of_recording",
       {say::Duration(ns), say::Percent(Share(device, ns)), say::Duration(device.StepNs())}});
}

bool IsSteady(const AdviceFacts& facts) {
  return facts.device && facts.device->series.count() != 0 && !facts.device->is_partial &&
         facts.device->verdict.bound() != results::BOUND_FIRST_USE;
}

bool HasWholeSteps(const AdviceFacts& facts) {
  return IsSteady(facts) && facts.device->verdict.bound() != results::BOUND_UNKNOWN &&
         facts.device->verdict.window() != results::STEP_WINDOW_ALL;
}

Finding MakeOfDevice(const DeviceFacts& device, const char* name) {
  const results::Confidence& confidence = device.verdict.confidence();
  return Make(name, confidence.level(),
              confidence.level() == results::LEVEL_HIGH
                  ? Sentence("all.all_was_timed")
                  : Sentence("all.given", {say::Name(confidence.reason())}));
}

std::optional<Finding> MakeOfPieces(const AdviceFacts& facts, const Pieces& pieces,
                                    ThresholdName least, const char* name, const char* change) {
  if (!HasWholeSteps(facts) || pieces.count == 0) return std::nullopt;
  const double part = Share(*facts.device, pieces.saved_per_step_ns);
  if (part < std::max(facts.limits(least), facts.limits("all.min_gain"))) return std::nullopt;
  Finding finding = MakeOfDevice(*facts.device, name);
  SetGain(facts, Replayed(pieces.saved_per_step_ns, change), &finding);
  return finding;
}

Argument CountPerStep(const DeviceFacts& device, uint64_t count) {
  const auto steps = std::max<uint64_t>(device.series.count(), 1);
  return say::Phrase({"all.per_step",
                      {count % steps == 0 || count >= 100 * steps
                           ? say::Count(count / steps)
                           : say::Real(static_cast<double>(count) / static_cast<double>(steps))}});
}

Argument InstanceText(const Instance& instance) {
  std::vector<Sentence> parts;
  const Argument length = say::Duration(instance.duration_ns);
  const Argument start = say::Duration(instance.start_ns);
  if (instance.name.empty())
    parts.push_back({"all.instance", {length, start}});
  else
    parts.push_back({"all.instance_of", {say::Name(instance.name), length, start}});
  if (instance.step) parts.push_back({"all.in_step", {say::Plain(*instance.step)}});
  if (instance.device) parts.push_back({"all.on_device", {say::Plain(*instance.device)}});
  if (instance.stream) parts.push_back({"all.on_stream", {say::Plain(*instance.stream)}});
  if (instance.tid) parts.push_back({"all.by_thread", {say::Plain(*instance.tid)}});
  return say::Run(std::move(parts));
}

std::string WithoutAddresses(std::string_view name) {
  constexpr std::string_view kBegin = " at 0x";
  std::string out;
  for (size_t at = 0; at < name.size();) {
    const size_t found = std::min(name.find(kBegin, at), name.size());
    out += name.substr(at, found - at);
    if (found == name.size()) break;
    at = std::min(name.find_first_not_of("0123456789abcdefABCDEF", found + kBegin.size()),
                  name.size());
  }
  return out;
}

Framework FrameworkOf(const AdviceFacts& facts) {
  const auto of = [](const std::string& text) {
    const auto has = [&](const char* word) { return text.find(word) != std::string::npos; };
    if (has("torch") || has("PyTorch") || text.starts_with("aten::") ||
        text.starts_with("ProfilerStep#"))
      return Framework::kTorch;
    if (has("TensorFlow") || has("tensorflow") || text == "EagerExecute" ||
        text.starts_with("ExecutorState::"))
      return Framework::kTensorFlow;
    return has("JAX") || has("jax") || text.starts_with("Pjit") || has("PjRt") ? Framework::kJax
                                                                               : Framework::kNone;
  };
  // One framework may load another: Keras loads JAX. What runs tells which it is.
  const auto& frameworks = facts.overview->environment().frameworks();
  if (frameworks.size() == 1)
    if (const Framework found = of(frameworks[0]); found != Framework::kNone) return found;
  for (const results::Op& op : facts.ops->ops())
    if (const Framework found = of(op.name()); found != Framework::kNone) return found;
  for (const std::string& framework : frameworks)
    if (const Framework found = of(framework); found != Framework::kNone) return found;
  return Framework::kNone;
}

bool TakesAllMemory(const AdviceFacts& facts) {
  const Framework framework = FrameworkOf(facts);
  return framework == Framework::kTensorFlow || framework == Framework::kJax;
}

void AddFix(const AdviceFacts& facts, const char* code, Finding* finding) {
  finding->Fix(code);
  finding->fixes.back().framework = FrameworkOf(facts);
}

}  // namespace gpuprof::analysis
