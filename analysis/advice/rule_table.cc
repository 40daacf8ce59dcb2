// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rule_table.h.

#include "analysis/advice/rule_rows.h"

namespace gpuprof::analysis {

std::span<const RuleInfo> RuleTable() { return kRuleRows; }

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
    case results::RULE_NEED_FILES:
      return "--trace files";
    case results::RULE_NEED_THREADS:
      return "--trace threads";
    case results::RULE_NEED_PYTHON:
      return "with_stack=True of torch.profiler";
    case results::RULE_NEED_PAGES:
      return "--trace cuda,um";
    case results::RULE_NEED_SHAPES:
      return "record_shapes=True of torch.profiler";
    case results::RULE_NEED_DEVICE_MEMORY:
      return "--trace cuda,tensors";
    case results::RULE_NEED_SAMPLES:
      return "--trace samples";
    case results::RULE_NEED_PAUSES:
      return "--python=gc";
    case results::RULE_NEED_READINGS:
      return "--gpu-period=100ms";
    default:
      return "";
  }
}

}  // namespace gpuprof::analysis
