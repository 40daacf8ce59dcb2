// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows of the table of rules, family by family. To add a rule: a row here, a function, and the
// function's line in rules.cc. See rule_table.h.

#pragma once

#include "analysis/advice/rule_table.h"

namespace gpuprof::analysis {
namespace rule_rows {

inline constexpr results::RuleNeed kSteps = results::RULE_NEED_STEPS;
inline constexpr results::RuleNeed kWork = results::RULE_NEED_DEVICE_WORK;
inline constexpr results::RuleNeed kCalls = results::RULE_NEED_CALLS;
inline constexpr results::RuleNeed kOps = results::RULE_NEED_OPERATIONS;
inline constexpr results::RuleNeed kHeap = results::RULE_NEED_HEAP;
inline constexpr results::RuleNeed kLocks = results::RULE_NEED_LOCKS;

inline constexpr results::ThresholdUnit kRatio = results::THRESHOLD_UNIT_RATIO;
inline constexpr results::ThresholdUnit kFactor = results::THRESHOLD_UNIT_FACTOR;
inline constexpr results::ThresholdUnit kCount = results::THRESHOLD_UNIT_COUNT;
inline constexpr results::ThresholdUnit kNs = results::THRESHOLD_UNIT_NS;
inline constexpr results::ThresholdUnit kBytes = results::THRESHOLD_UNIT_BYTES;

}  // namespace rule_rows

// Ids in the order of the alphabet. The thresholds of `all` hold for every rule.
inline constexpr RuleInfo kRuleRows[] = {
    {"all",
     "what all rules share",
     {},
     {{"min_gain", 0.01, rule_rows::kRatio, "no finding whose gain is a smaller part of a step"},
      {"medium", 0.03, rule_rows::kRatio, "severity medium from this part of a step on"},
      {"high", 0.1, rule_rows::kRatio, "severity high from this part of a step on"}}},

    {"CO-001",
     "collectives that nothing hides",
     {rule_rows::kWork},
     {{"min_share", 0.1, rule_rows::kRatio, "part of a step in which only collectives ran"}}},

    {"CP-003",
     "copies that nothing hides",
     {rule_rows::kWork},
     {{"min_share", 0.05, rule_rows::kRatio, "part of a step in which only copies ran"}}},

    {"EN-002",
     "defects of the recording itself",
     {},
     {{"max_slowdown", 0.02, rule_rows::kRatio, "by how much the recorder may slow the program"}}},

    {"GP-001",
     "a GPU that stands idle",
     {rule_rows::kWork},
     {{"min_idle", 0.15, rule_rows::kRatio, "part of the time from the first work to the last"},
      {"high_idle", 0.5, rule_rows::kRatio, "severity high from this part on"},
      {"min_run_share", 0.05, rule_rows::kRatio, "idle part of the whole run"}}},
    {"GP-006",
     "matrix products without tensor cores",
     {rule_rows::kWork},
     {{"min_kernel_share", 0.1, rule_rows::kRatio, "part of the kernels' time in these products"},
      {"gain", 0.75, rule_rows::kRatio, "part of their time that tensor cores save"}}},

    {"HO-001",
     "steps in which much time passes without an operation",
     {rule_rows::kSteps, rule_rows::kOps},
     {{"min_share", 0.15, rule_rows::kRatio, "part of a step without an open operation"}}},

    {"IN-001",
     "steps that wait for data",
     {rule_rows::kSteps, rule_rows::kOps},
     {{"min_share", 0.05, rule_rows::kRatio, "part of a step that waits for the next batch"},
      {"min_share_idle", 0.1, rule_rows::kRatio, "the same part if the workers are not busy"},
      {"idle_workers", 0.5, rule_rows::kRatio,
       "workers are not busy below this part of the time"}}},
    {"IN-002",
     "loader workers that cannot keep up",
     {rule_rows::kSteps, rule_rows::kOps},
     {{"min_worker_busy", 0.8, rule_rows::kRatio,
       "part of the time in which workers want to run"}}},
    {"IN-007",
     "waits for tf.data in a run without steps",
     {rule_rows::kLocks},
     {{"min_share", 0.03, rule_rows::kRatio, "part of the run in waits for the next element"},
      {"medium_share", 0.1, rule_rows::kRatio, "severity medium from this part on"}}},

    {"LA-001",
     "a GPU that waits for the host to launch work",
     {rule_rows::kWork, rule_rows::kCalls},
     {{"min_share", 0.1, rule_rows::kRatio, "part of a step in which the GPU waits for launches"}}},
    {"LA-002",
     "many tiny operations on the host",
     {rule_rows::kSteps, rule_rows::kOps},
     {{"min_ops", 200, rule_rows::kCount, "operations a step"},
      {"min_share", 0.3, rule_rows::kRatio, "part of a step in operations"},
      {"max_op", 10'000, rule_rows::kNs, "mean time of an operation"}}},
    {"LA-008",
     "kernels that only change elements, and could be fused",
     {rule_rows::kWork},
     {{"min_kernel_share", 0.3, rule_rows::kRatio, "part of the kernels' time in these kernels"},
      {"gain", 0.5, rule_rows::kRatio, "part of their time that fusion saves"}}},

    {"ME-006",
     "memory of the heap that is allocated again and again",
     {rule_rows::kSteps, rule_rows::kHeap},
     {{"min_bytes", 64.0 * 1024 * 1024, rule_rows::kBytes, "allocated a step"},
      {"min_short_lived", 0.5, rule_rows::kRatio, "part of the bytes that live less than 10 ms"}}},

    {"OP-001",
     "an optimizer that spends its time in Python",
     {rule_rows::kSteps, rule_rows::kOps},
     {{"min_share", 0.03, rule_rows::kRatio, "part of a step between the optimizer's operations"}}},

    {"RU-001",
     "where the time of a run without steps went",
     {},
     {{"min_waits", 0.1, rule_rows::kRatio, "part of the run in waits that is worth a look"},
      {"min_named", 0.02, rule_rows::kRatio, "part of the run from which a wait is named"}}},

    {"ST-002",
     "steps of different length",
     {rule_rows::kSteps},
     {{"min_spread", 1.5, rule_rows::kFactor, "90th percentile of the steps over their median"},
      {"min_steps", 10, rule_rows::kCount, "fewer steps tell nothing"}}},
    {"ST-008",
     "a recording of a cold start",
     {rule_rows::kWork, rule_rows::kCalls},
     {{"min_share", 0.5, rule_rows::kRatio, "part of the time in single long calls"},
      {"min_call", 10'000'000, rule_rows::kNs, "time from which a call is long"}}},

    {"SY-001",
     "waits of the host for the GPU",
     {rule_rows::kWork, rule_rows::kCalls},
     {{"min_share", 0.03, rule_rows::kRatio, "part of a step that would be saved without waits"}}},
    {"SY-004",
     "locks that hold up steps",
     {rule_rows::kSteps, rule_rows::kLocks},
     {{"min_share", 0.03, rule_rows::kRatio, "part of a step in waits for locks"}}},
    {"SY-005",
     "locks that hold up threads of a run without steps",
     {rule_rows::kLocks},
     {{"min_share", 0.05, rule_rows::kRatio, "waits of all threads over the run's time"},
      {"medium_share", 0.5, rule_rows::kRatio, "severity medium from this ratio on"}}},
    {"SY-006",
     "deadlocks",
     {rule_rows::kLocks},
     {{"sure_after", 1e9, rule_rows::kNs, "confidence high if the cycle has lasted as long"}}},
    {"SY-007",
     "steps that are blocked and compute nothing",
     {rule_rows::kSteps, rule_rows::kLocks},
     {{"min_share", 0.05, rule_rows::kRatio, "part of a step that is blocked"}}},

    {"TH-001",
     "too few processors for the threads that want to run",
     {rule_rows::kSteps},
     {{"min_share", 0.05, rule_rows::kRatio, "part of a step that is ready but has no processor"},
      {"min_own", 0.7, rule_rows::kRatio,
       "part of the processors below which other programs are to blame"}}},
};

}  // namespace gpuprof::analysis
