// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the stats of an event of a GPU tell. Views of the space, which outlives this object.

#pragma once

#include <optional>
#include <string_view>

#include "analysis/xprof/hlo_programs.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

struct GpuEvent {
  GpuEvent(const Plane& gpu, const Event& event) {
    for (const Stat& stat : gpu.StatsOf(event)) {
      if (stat.key == StatKey::kTfOp) annotation = stat.Text();
      if (stat.key == StatKey::kEquation) equation = stat.Text();
      if (stat.key == StatKey::kHloOp) hlo_op = stat.Text();
      if (stat.key == StatKey::kKernelDetails) details = stat.Text();
      if (stat.key == StatKey::kProgramId) program_id = stat.Whole();
    }
  }

  bool is_xla_op() const { return hlo_op.has_value(); }
  bool is_kernel() const { return !details.empty(); }
  // Returns the last name of "outer::inner".
  std::string_view innermost_op() const {
    const size_t at = hlo_op->rfind("::");
    return at == std::string_view::npos ? *hlo_op : hlo_op->substr(at + 2);
  }
  // Returns the instruction. Null: the file does not have the program, or the program does not have
  // the operation.
  const HloInstruction* InstructionIn(const HloPrograms& programs) const {
    return program_id ? programs.Find(*program_id, innermost_op()) : nullptr;
  }

  std::string_view annotation;  // "name:Type" of the framework's operation
  std::string_view equation, details;
  std::optional<std::string_view> hlo_op;
  std::optional<uint64_t> program_id;
};

}  // namespace gpuprof::analysis::xprof
