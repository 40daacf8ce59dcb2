// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See comparability.h.

#include "analysis/compare/comparability.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace gpuprof::analysis {
namespace {

using Rows = google::protobuf::RepeatedPtrField<results::BaselineRow>;

// Shapes that differ in less of the time do not make other work: a last batch may be smaller.
constexpr double kNearlyAll = 0.98;

bool HasShapes(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const results::BaselineRow& row) { return row.shapes_size() != 0; });
}

// Returns the part of the launches that two rows have in common, shape by shape. The shapes that
// the rows do not list count as the same.
double SameShapes(const results::BaselineRow& before, const results::BaselineRow& after) {
  std::map<uint64_t, double> ratios;
  double rest_before = 1, rest_after = 1, same = 0;
  for (const results::BaselineShape& shape : before.shapes()) {
    ratios[shape.id()] = shape.count_ratio();
    rest_before -= shape.count_ratio();
  }
  for (const results::BaselineShape& shape : after.shapes()) {
    rest_after -= shape.count_ratio();
    const auto found = ratios.find(shape.id());
    if (found != ratios.end()) same += std::min(found->second, shape.count_ratio());
  }
  return std::clamp(same + std::max(0.0, std::min(rest_before, rest_after)), 0.0, 1.0);
}

// Returns the part of the time of rows that both sides have in which shapes are the same. 0: no row
// is on both sides. None: a side tells no shapes.
std::optional<double> SameShapes(const Rows& before, const Rows& after) {
  if (!HasShapes(before) || !HasShapes(after)) return std::nullopt;
  std::map<std::string, const results::BaselineRow*> by_name;
  for (const results::BaselineRow& row : before)
    if (row.shapes_size() != 0) by_name[row.name()] = &row;
  double same = 0, all = 0;
  for (const results::BaselineRow& row : after) {
    const auto found = by_name.find(row.name());
    if (found == by_name.end() || row.shapes_size() == 0) continue;
    const auto weight = static_cast<double>(found->second->total_ns() + row.total_ns());
    same += weight * SameShapes(*found->second, row);
    all += weight;
  }
  return all > 0 ? same / all : 0;
}

// Returns whether a version that both sides tell differs: not every source tells all. What a
// version is of stands before its first digit: "driver for CUDA 13.0".
bool HaveOtherVersions(const results::Baseline& before, const results::Baseline& after) {
  const auto subject = [](const std::string& version) {
    return version.substr(0, version.find_first_of("0123456789"));
  };
  for (const std::string& x : before.versions()) {
    for (const std::string& y : after.versions()) {
      if (subject(x) == subject(y) && x != y) return true;
    }
  }
  return false;
}

template <typename Words>
bool AreEqual(const Words& x, const Words& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

void FillComparability(const results::Baseline& before, const results::Baseline& after,
                       results::Comparability* out) {
  double score = 1;
  const auto lower = [&](bool differs, results::DiffReason reason, double part) {
    if (!differs) return;
    out->add_reasons(reason);
    score *= part;
  };
  lower(before.program() != after.program(), results::DIFF_REASON_OTHER_PROGRAM, 0.5);
  lower(before.device() != after.device(), results::DIFF_REASON_OTHER_DEVICE, 0.5);
  lower(before.device_count() != after.device_count(), results::DIFF_REASON_OTHER_DEVICE_COUNT,
        0.7);
  lower(!AreEqual(before.frameworks(), after.frameworks()), results::DIFF_REASON_OTHER_FRAMEWORK,
        0.9);
  lower(HaveOtherVersions(before, after), results::DIFF_REASON_OTHER_VERSIONS, 0.9);
  lower(
      before.method() != after.method() || (before.step_count() == 0) != (after.step_count() == 0),
      results::DIFF_REASON_OTHER_STEPS, 0.5);
  lower(before.kernel_count() != after.kernel_count(), results::DIFF_REASON_OTHER_KERNEL_COUNT,
        0.8);
  std::optional<double> same = SameShapes(before.ops(), after.ops());
  if (same) {
    out->set_shapes(results::DIFF_SHAPES_INPUTS);
  } else {
    same = SameShapes(before.kernels(), after.kernels());
    if (same) out->set_shapes(results::DIFF_SHAPES_GRIDS);
  }
  if (same) {
    out->set_same_shape_ratio(*same);
    lower(*same < kNearlyAll, results::DIFF_REASON_OTHER_SHAPES, (1 + *same) / 2);
  }
  lower(std::min(before.step_count(), after.step_count()) < kFewSteps,
        results::DIFF_REASON_FEW_STEPS, 0.7);
  out->set_score_ratio(score);
}

}  // namespace gpuprof::analysis
