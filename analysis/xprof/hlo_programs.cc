// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See hlo_programs.h.

#include "analysis/xprof/hlo_programs.h"

#include <algorithm>
#include <utility>

#include "analysis/hlo/expression.h"
#include "analysis/hlo/opcodes.h"
#include "analysis/xprof/op_name.h"

namespace gpuprof::analysis::xprof {
namespace {

std::string FrameworkOp(std::string_view name, std::string_view type) {
  if (name.empty() && type.empty()) return {};
  if (type.empty() && (name == "XLA_Args" || name == "XLA_Retvals")) type = name;
  return std::string(name) + ":" + std::string(type);
}

std::string CategoryOf(const hlo::Program& program, const hlo::Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "fusion") {
    for (const auto& [kind, name] : {std::pair{"kLoop", "loop fusion"},
                                     {"kInput", "input fusion"},
                                     {"kOutput", "output fusion"}})
      if (instruction.fusion_kind == kind) return name;
    return "custom fusion";
  }
  if (opcode == "convolution") {
    const auto any = [&](int64_t hlo::WindowDimension::*dilation) {
      return std::any_of(instruction.window.begin(), instruction.window.end(),
                         [&](const hlo::WindowDimension& each) { return each.*dilation > 1; });
    };
    std::string category = "convolution";
    if (any(&hlo::WindowDimension::base_dilation)) category += " base-dilated";
    if (any(&hlo::WindowDimension::window_dilation)) category += " window-dilated";
    return category;
  }
  if (opcode == "transpose" || opcode == "copy" || opcode == "reshape" ||
      opcode == "dynamic-reshape")
    return "data formatting";
  return hlo::IsElementwise(program, instruction) || opcode == "constant" ? "non-fusion elementwise"
                                                                          : std::string(opcode);
}

template <typename Entry>
const Entry* At(const std::vector<Entry>& entries, int32_t number) {
  if (number <= 0 || static_cast<size_t>(number) > entries.size()) return nullptr;
  return &entries[static_cast<size_t>(number) - 1];
}

// Returns "file:line:column" of each frame, the innermost first.
std::string StackOf(const hlo::Program& program, int32_t frame_number) {
  std::string text;
  const hlo::StackFrame* frame = At(program.stack_frames, frame_number);
  for (size_t depth = 0; frame != nullptr && depth < program.stack_frames.size(); ++depth) {
    const hlo::FileLocation* place = At(program.file_locations, frame->location);
    if (place == nullptr) break;
    const std::string_view* file = At(program.file_names, place->file);
    text += std::string(file == nullptr ? std::string_view() : *file) + ":" +
            std::to_string(place->line) + ":" + std::to_string(place->column) + "\n";
    frame = At(program.stack_frames, frame->parent);
  }
  return text;
}

void SetSource(const hlo::Program& program, const hlo::Instruction& from, HloInstruction* to) {
  to->stack = StackOf(program, from.stack_frame);
  if (!from.source_file.empty()) {
    to->source_file = from.source_file;
    to->source_line = from.source_line;
    return;
  }
  const std::string first = to->stack.substr(0, to->stack.find('\n'));
  const size_t end = first.find(':');
  if (end == first.npos) return;
  to->source_file = first.substr(0, end);
  to->source_line = static_cast<int32_t>(std::strtol(first.c_str() + end + 1, nullptr, 10));
}

// XProf keeps whole numbers, and -1 is what is not known.
int64_t WholeCost(double value) {
  constexpr double kMost = 9e18;
  return value == -1 ? 0 : static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

// 8 bits count half, 4 bits a quarter.
int64_t DeviceFlops(const hlo::Program& program, const hlo::Instruction& instruction,
                    double flops) {
  // Of calls of libraries, only products of cuBLASLt, by their first operand.
  const bool is_call = instruction.opcode == "custom-call";
  size_t count = instruction.operands.size();
  if (is_call)
    count = instruction.custom_call_target.starts_with("__cublas$lt$matmul")
                ? std::min<size_t>(count, 1)
                : 0;
  int widest = 0;
  for (size_t i = 0; i < count; ++i) {
    const hlo::Instruction* operand = program.Find(instruction.operands[i]);
    if (operand == nullptr) continue;
    const bool is_bit = operand->shape.type == hlo::ElementType::kPred;
    widest = std::max(widest, is_bit ? 1 : hlo::BitsOf(operand->shape.type));
  }
  const double divisor = widest == 8 ? 2 : widest == 4 ? 4 : 1;
  const auto single = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  const int64_t less = WholeCost(single(flops - single(flops / divisor)));
  const int64_t whole = static_cast<int64_t>(std::clamp(flops, -9e18, 9e18)) - less;
  return whole == -1 ? 0 : whole;
}

}  // namespace

void HloPrograms::Read(const Space& space) {
  for (const HloBytes& program : space.programs) {
    const auto [at, is_new] = programs_.try_emplace(program.program_id);
    if (!is_new) continue;
    at->second = std::make_unique<Program>(program.bytes);
    for (const hlo::Computation& computation : at->second->program.computations)
      for (const hlo::Instruction& each : computation.instructions)
        if (IsOfGradient(each.op_name, each.op_type)) is_training_ = true;
  }
}

const HloInstruction* HloPrograms::Find(uint64_t program, std::string_view instruction) const {
  const auto at = programs_.find(program);
  if (at == programs_.end()) return nullptr;
  Program& read = *at->second;
  const hlo::Instruction* from = read.program.Find(instruction);
  if (from == nullptr) return nullptr;
  const auto [place, is_first] = read.known.try_emplace(from);
  HloInstruction& to = place->second;
  if (!is_first) return &to;
  to.framework_op = FrameworkOp(from->op_name, from->op_type);
  to.category = CategoryOf(read.program, *from);
  to.shared_name = from->deduplicated_name;
  SetSource(read.program, *from, &to);
  const hlo::Cost& cost = read.costs.Of(*from);
  to.flops = WholeCost(cost.flops);
  to.device_flops = DeviceFlops(read.program, *from, cost.flops);
  to.bytes = WholeCost(cost.bytes);
  to.read = WholeCost(cost.read);
  to.written = WholeCost(cost.written);
  return &to;
}

std::map<uint64_t, std::string> HloPrograms::Names() const {
  std::map<uint64_t, std::string> names;
  for (const auto& [id, program] : programs_) names[id] = program->program.name;
  return names;
}

std::string HloPrograms::ExpressionOf(uint64_t program, std::string_view instruction) const {
  const auto at = programs_.find(program);
  if (at == programs_.end()) return {};
  const hlo::Instruction* found = at->second->program.Find(instruction);
  return found == nullptr ? std::string() : hlo::ExpressionOf(at->second->program, *found);
}

}  // namespace gpuprof::analysis::xprof
