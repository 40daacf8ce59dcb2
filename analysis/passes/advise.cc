// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `advise`: the findings of the overview, and the rules that could not look.

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "analysis/advice/rule_table.h"
#include "analysis/advice/thresholds.h"
#include "analysis/base/enum_word.h"
#include "analysis/model/windowed_inputs.h"
#include "analysis/passes/passes.h"
#include "proto/results/advice.pb.h"
#include "proto/results/overview.pb.h"
#include "proto/sources.h"

namespace gpuprof::analysis {
namespace {

bool AnyRows(PassContext& context, proto::ChunkKind kind) {
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks) {
      if (track.Rows(kind) != 0) return true;
    }
  }
  return false;
}

// Returns whether pauses of Python's collector were recorded, if there were any. Traces of other
// tools have them among the calls of functions.
bool HasPauses(PassContext& context) {
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if ((process.sources & proto::kSourcePythonGc) != 0) return true;
    const bool has_own_calls = (process.sources & proto::kSourcePythonCalls) != 0;
    for (const Track& track : process.tracks) {
      if (!has_own_calls && track.Rows(proto::ChunkKind::kPython) != 0) return true;
    }
  }
  return AnyRows(context, proto::ChunkKind::kGcPause);
}

// Returns whether what a rule needs was recorded, and only summed: there is too much of it.
bool IsSummed(const PassContext& context, results::RuleNeed need) {
  return context.trace().has_sums &&
         (need == results::RULE_NEED_DEVICE_WORK || need == results::RULE_NEED_CALLS);
}

// Returns whether operations or kernels have shapes and sizes. gpuprof reads those of some
// operations: what follows from them would be a part of the truth.
bool AnyDetails(PassContext& context) {
  for (const size_t index : context.selected()) {
    if (WindowedInputsName(context.process(index)) != 0) continue;
    for (const Track& track : context.process(index).tracks) {
      if (!track.op.detail.empty() || !track.kernel.detail.empty()) return true;
    }
  }
  return false;
}

bool HasReadings(PassContext& context) {
  for (const Process& sampler : context.trace().samplers) {
    for (const Track& track : sampler.tracks) {
      if (track.counter.rows() != 0) return true;
    }
  }
  return false;
}

// Returns whether a rule looks at the steps of devices, of which one is enough.
bool IsOfDevices(const RuleInfo& rule) {
  return std::find(std::begin(rule.needs), std::end(rule.needs), results::RULE_NEED_DEVICE_WORK) !=
         std::end(rule.needs);
}

bool IsMet(PassContext& context, const results::Overview& overview, const RuleInfo& rule,
           results::RuleNeed need) {
  constexpr uint64_t kFewSteps = 3;
  if (IsSummed(context, need)) return false;
  switch (need) {
    case results::RULE_NEED_STEPS:
      if (IsOfDevices(rule) && overview.has_verdict())
        return overview.verdict().window() != results::STEP_WINDOW_ALL;
      return overview.has_steps() && overview.steps().count() >= kFewSteps;
    case results::RULE_NEED_DEVICE_WORK:
      return overview.has_verdict();
    case results::RULE_NEED_CALLS:
      return AnyRows(context, proto::ChunkKind::kApi);
    case results::RULE_NEED_OPERATIONS:
      return AnyRows(context, proto::ChunkKind::kOp);
    case results::RULE_NEED_HEAP:
      return AnyRows(context, proto::ChunkKind::kHeap);
    case results::RULE_NEED_LOCKS:
      return AnyRows(context, proto::ChunkKind::kWait);
    case results::RULE_NEED_FILES:
      return AnyRows(context, proto::ChunkKind::kFileRead);
    case results::RULE_NEED_THREADS:
      return AnyRows(context, proto::ChunkKind::kThreadEvent);
    case results::RULE_NEED_PYTHON:
      return AnyRows(context, proto::ChunkKind::kPython);
    case results::RULE_NEED_PAGES:
      return AnyRows(context, proto::ChunkKind::kUnifiedMemory);
    case results::RULE_NEED_SHAPES:
      return AnyDetails(context);
    case results::RULE_NEED_DEVICE_MEMORY:
      return AnyRows(context, proto::ChunkKind::kTensor) ||
             AnyRows(context, proto::ChunkKind::kDeviceMemory) || HasReadings(context);
    case results::RULE_NEED_SAMPLES:
      return AnyRows(context, proto::ChunkKind::kSample);
    case results::RULE_NEED_PAUSES:
      return HasPauses(context);
    case results::RULE_NEED_READINGS:
      return HasReadings(context);
    default:
      return true;
  }
}

}  // namespace

std::unique_ptr<google::protobuf::Message> AdviceRules(const PassOptions& options) {
  auto out = std::make_unique<results::Rules>();
  out->mutable_meta()->set_pass("rules");
  out->mutable_meta()->set_schema_version(kResultSchema);
  const Thresholds limits(options.thresholds);
  const std::span<const RuleInfo> table = RuleTable();
  for (size_t i = 0; i < table.size(); ++i) {
    results::Rule* rule = out->add_rules();
    rule->set_id(std::string(table[i].id));
    rule->set_name(std::string(table[i].name));
    for (const results::RuleNeed need : table[i].needs)
      if (need != results::RULE_NEED_NONE) rule->add_needs(need);
    for (size_t slot = 0; slot < std::size(table[i].thresholds); ++slot) {
      const Threshold& each = table[i].thresholds[slot];
      if (each.name.empty()) continue;
      results::RuleThreshold* threshold = rule->add_thresholds();
      threshold->set_name(rule->id() + "." + std::string(each.name));
      threshold->set_unit(each.unit);
      threshold->set_value(limits.At(i, slot));
      threshold->set_default_value(each.fallback);
      threshold->set_meaning(std::string(each.meaning));
    }
  }
  return out;
}

Error RunAdvise(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const results::Overview& overview = OverviewOf(context);
  auto out = std::make_unique<results::Advice>();
  *out->mutable_meta() = overview.meta();
  out->mutable_meta()->set_pass("advise");
  if (overview.has_verdict()) *out->mutable_verdict() = overview.verdict();
  for (const RuleInfo& rule : RuleTable()) {
    for (const results::RuleNeed need : rule.needs) {
      if (IsMet(context, overview, rule, need)) continue;
      results::UncheckedRule* row = out->add_not_checked();
      row->set_id(std::string(rule.id));
      row->set_name(std::string(rule.name));
      row->set_need(need);
      std::string fix(NeedFix(need));
      // A trace of another tool has no such option.
      if (!context.trace().importer.empty() && fix.starts_with("--"))
        fix = "record with gpuprof run " + fix;
      if (IsSummed(context, need)) fix = "`gpuprof stats overview --window FROM-TO`";
      row->set_fix(fix);
      break;
    }
  }
  *result = std::move(out);
  return {};
}

bool HasFinding(const google::protobuf::Message& result, std::string_view severity) {
  if (result.GetDescriptor() != results::Advice::descriptor()) return false;
  const auto& advice = static_cast<const results::Advice&>(result);
  return std::any_of(advice.findings().begin(), advice.findings().end(),
                     [&](const results::Finding& finding) {
                       for (int level = finding.severity(); level >= 0; --level) {
                         if (WordOf(static_cast<results::Severity>(level)) == severity) return true;
                       }
                       return false;
                     });
}

}  // namespace gpuprof::analysis
