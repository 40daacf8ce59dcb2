// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the rules have in common, and the rules that stand in files of their own. See rules.h.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/advice/rules.h"

namespace gpuprof::analysis {

results::Finding Make(std::string_view id, std::string_view name, results::Level level,
                      std::string_view reason);
// Returns the severity of what could be gained of a step.
results::Severity SeverityOf(const AdviceFacts& facts, double ratio);
// The gain of `ns` a step, and the severity that goes with it.
void SetRecoverable(const AdviceFacts& facts, int64_t ns, results::Finding* finding);
bool HasSteps(const AdviceFacts& facts);
// "1.2 ms of the mean step of 10 ms (12 %)"
std::string PartOfStep(const AdviceFacts& facts, int64_t ns);

// Finds the category of the steps by its name. Null: the steps are not known.
const results::StepCategory* FindCategory(const AdviceFacts& facts, std::string_view name);
// Returns whether steps are blocked for longer than for `ns`. Then rules that advise to compute
// less keep silent.
bool WaitsLongerThan(const AdviceFacts& facts, int64_t ns);

// device_rules.cc
std::optional<results::Finding> LateHost(const AdviceFacts& facts);
std::optional<results::Finding> ExposedCollectives(const AdviceFacts& facts);
std::optional<results::Finding> ExposedCopies(const AdviceFacts& facts);
std::optional<results::Finding> BlockingWaits(const AdviceFacts& facts);
std::optional<results::Finding> WithoutTensorCores(const AdviceFacts& facts);
std::optional<results::Finding> Elementwise(const AdviceFacts& facts);
std::optional<results::Finding> FirstUses(const AdviceFacts& facts);

// gpu_rules.cc
std::optional<results::Finding> IdleGpu(const AdviceFacts& facts);

// lock_rules.cc
std::optional<results::Finding> StepsBlocked(const AdviceFacts& facts);
std::optional<results::Finding> LockContention(const AdviceFacts& facts);
std::optional<results::Finding> LockContentionInRun(const AdviceFacts& facts);
std::optional<results::Finding> Deadlocked(const AdviceFacts& facts);

// run_rules.cc
std::optional<results::Finding> DataInRun(const AdviceFacts& facts);
std::optional<results::Finding> TimeOfRun(const AdviceFacts& facts);

}  // namespace gpuprof::analysis
