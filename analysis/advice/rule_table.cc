// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rule_table.h.

#include "analysis/advice/rule_table.h"

namespace gpuprof::analysis {
namespace {

constexpr results::RuleNeed kSteps = results::RULE_NEED_STEPS;
constexpr results::RuleNeed kWork = results::RULE_NEED_DEVICE_WORK;
constexpr results::RuleNeed kCalls = results::RULE_NEED_CALLS;
constexpr results::RuleNeed kOps = results::RULE_NEED_OPERATIONS;

constexpr RuleInfo kRules[] = {
    {"IN-001", "steps that wait for data", {kSteps, kOps}},
    {"IN-002", "loader workers that cannot keep up", {kSteps, kOps}},
    {"IN-003", "waits for tf.data in a run without steps", {results::RULE_NEED_LOCKS}},
    {"LA-001", "a GPU that waits for the host to launch work", {kWork, kCalls}},
    {"LA-002", "many tiny operations on the host", {kSteps, kOps}},
    {"LA-003", "kernels that only change elements, and could be fused", {kWork}},
    {"GP-001", "a GPU that stands idle", {kWork}},
    {"GP-006", "matrix products without tensor cores", {kWork}},
    {"CO-001", "collectives that nothing hides", {kWork}},
    {"CP-003", "copies that nothing hides", {kWork}},
    {"SY-001", "waits of the host for the GPU", {kWork, kCalls}},
    {"SY-004", "locks that hold up steps", {kSteps, results::RULE_NEED_LOCKS}},
    {"SY-006", "deadlocks", {results::RULE_NEED_LOCKS}},
    {"ST-002", "steps of different length", {kSteps}},
    {"ST-008", "a recording of a cold start", {kWork, kCalls}},
    {"ME-006",
     "memory of the heap that is allocated again and again",
     {kSteps, results::RULE_NEED_HEAP}},
    {"EN-002", "defects of the recording itself", {}},
};

}  // namespace

std::span<const RuleInfo> RuleTable() { return kRules; }

std::string_view NeedFix(results::RuleNeed need) {
  switch (need) {
    case results::RULE_NEED_STEPS:
      return "mark steps: an NVTX range `step`, or --step-marker";
    case results::RULE_NEED_DEVICE_WORK:
    case results::RULE_NEED_CALLS:
      return "--trace cuda";
    case results::RULE_NEED_OPERATIONS:
      return "--trace ops";
    case results::RULE_NEED_HEAP:
      return "--trace heap";
    case results::RULE_NEED_LOCKS:
      return "--trace locks";
    default:
      return "";
  }
}

}  // namespace gpuprof::analysis
