// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_phase.h.

#include "analysis/derived/kernel_phase.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

struct PhaseWord {
  std::string_view word;
  Category phase;
};

// A backward kernel may name the forward operation that it belongs to, so its words come first.
constexpr PhaseWord kPhaseWords[] = {
    {"backward", Category::kBackward}, {"bwd", Category::kBackward},
    {"bprop", Category::kBackward},    {"dgrad", Category::kBackward},
    {"wgrad", Category::kBackward},    {"forward", Category::kForward},
    {"fwd", Category::kForward},       {"fprop", Category::kForward},
};

bool IsPhase(Category category) {
  return category == Category::kForward || category == Category::kBackward ||
         category == Category::kOptimizer;
}

}  // namespace

std::optional<Category> PhaseOfName(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return std::tolower(letter); });
  for (const PhaseWord& each : kPhaseWords)
    if (lower.find(each.word) != std::string::npos) return each.phase;
  return std::nullopt;
}

std::optional<Category> KernelPhases::Of(const Track& track, const DeviceWork& work) {
  if (const std::optional<Call> call = calls_->Find(work.correlation)) {
    const Category category = At(call->start_ns);
    if (IsPhase(category)) return category;
  }
  if (work.kind != DeviceWorkKind::kKernel) return std::nullopt;
  return OfSignature(track.kernel.signature[work.row]);
}

Category KernelPhases::At(int64_t time_ns) {
  const auto& segments = timeline_->segments();
  const auto is_before = [&](size_t i) { return segments[i].end <= time_ns; };
  constexpr size_t kNear = 8;
  const bool is_behind = at_ > 0 && !is_before(at_ - 1);
  for (size_t i = 0; !is_behind && i < kNear && at_ < segments.size() && is_before(at_); ++i) ++at_;
  if (is_behind || (at_ < segments.size() && is_before(at_))) {
    const auto found =
        std::partition_point(segments.begin(), segments.end(),
                             [&](const auto& segment) { return segment.end <= time_ns; });
    at_ = static_cast<size_t>(found - segments.begin());
  }
  const bool is_covered = at_ < segments.size() && segments[at_].start <= time_ns;
  return is_covered ? segments[at_].category : Category::kOther;
}

std::optional<Category> KernelPhases::OfSignature(uint32_t signature) {
  const auto [known, is_new] = known_.try_emplace(signature);
  if (!is_new) return known->second;
  const auto found = process_->signatures.find(signature);
  if (found == process_->signatures.end()) return std::nullopt;
  known->second = families_->Of(signature) == results::KERNEL_FAMILY_OPTIMIZER
                      ? Category::kOptimizer
                      : PhaseOfName(Demangle(process_->String(found->second.name()).c_str()));
  return known->second;
}

}  // namespace gpuprof::analysis
