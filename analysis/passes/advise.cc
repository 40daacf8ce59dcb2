// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `advise`: the findings of the overview, and the rules that could not look.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analysis/advice/rule_table.h"
#include "analysis/passes/passes.h"
#include "proto/results/advice.pb.h"
#include "proto/results/overview.pb.h"

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

bool IsMet(PassContext& context, const results::Overview& overview, results::RuleNeed need) {
  constexpr uint64_t kFewSteps = 3;
  switch (need) {
    case results::RULE_NEED_STEPS:
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
    default:
      return true;
  }
}

}  // namespace

Error RunAdvise(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  std::unique_ptr<google::protobuf::Message> made;
  if (Error error = RunOverview(context, &made)) return error;
  auto& overview = static_cast<results::Overview&>(*made);
  auto out = std::make_unique<results::Advice>();
  *out->mutable_meta() = overview.meta();
  out->mutable_meta()->set_pass("advise");
  if (overview.has_verdict()) *out->mutable_verdict() = overview.verdict();
  for (const RuleInfo& rule : RuleTable()) {
    for (const results::RuleNeed need : rule.needs) {
      if (IsMet(context, overview, need)) continue;
      results::UncheckedRule* row = out->add_not_checked();
      row->set_id(std::string(rule.id));
      row->set_name(std::string(rule.name));
      row->set_need(need);
      row->set_fix(std::string(NeedFix(need)));
      break;
    }
  }
  *out->mutable_findings() = std::move(*overview.mutable_findings());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
