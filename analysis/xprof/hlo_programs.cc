// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See hlo_programs.h.

#include "analysis/xprof/hlo_programs.h"

#include "analysis/xprof/hlo_cost.h"
#include "analysis/xprof/hlo_module.h"
#include "analysis/xprof/op_name.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {
namespace {

bool HasGradientScope(std::string_view op_name) {
  while (true) {
    const size_t slash = op_name.find('/');
    if (slash == std::string_view::npos) return false;  // the last part is the operation
    const std::string_view scope = op_name.substr(0, slash);
    if (scope == "gradient_tape" || scope.starts_with("gradients")) return true;
    op_name.remove_prefix(slash + 1);
  }
}

bool HasTranspose(std::string_view op_name) {
  return op_name.starts_with("transpose(") || op_name.find("/transpose(") != std::string_view::npos;
}

bool IsOfGradient(std::string_view name, std::string_view type) {
  if (IsTensorFlowOpType(type) && IsTensorFlowOpName(name)) return HasGradientScope(name);
  return (type.empty() || IsJaxOp(name, type)) && HasTranspose(name);
}

std::string FrameworkOp(std::string_view name, std::string_view type) {
  if (name.empty() && type.empty()) return {};
  if (type.empty() && (name == "XLA_Args" || name == "XLA_Retvals")) type = name;
  return std::string(name) + ":" + std::string(type);
}

}  // namespace

void HloPrograms::Read(const Space& space) {
  for (const HloBytes& bytes : space.programs) {
    HloModule module;
    if (programs_.contains(bytes.program_id) || !module.Read(bytes.bytes)) continue;
    const std::vector<HloCost> costs = CostsOf(module);
    Program& program = programs_[bytes.program_id];
    for (size_t i = 0; i < module.instructions.size(); ++i) {
      const HloModule::Instruction& from = module.instructions[i];
      if (IsOfGradient(from.op_name, from.op_type)) is_training_ = true;
      HloInstruction to;
      to.framework_op = FrameworkOp(from.op_name, from.op_type);
      to.cost = costs[i];
      program.try_emplace(from.name, std::move(to));
    }
  }
}

const HloInstruction* HloPrograms::Find(uint64_t program, std::string_view instruction) const {
  const auto at = programs_.find(program);
  if (at == programs_.end()) return nullptr;
  const auto found = at->second.find(instruction);
  return found == at->second.end() ? nullptr : &found->second;
}

}  // namespace gpuprof::analysis::xprof
