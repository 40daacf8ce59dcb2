// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See hlo_programs.h. The numbers of fields are those of XLA's public messages.

#include "analysis/xprof/hlo_programs.h"

#include <utility>

#include "analysis/import/wire.h"
#include "analysis/xprof/op_name.h"

namespace gpuprof::analysis::xprof {
namespace {

using import::WireField;
using import::WireReader;
using import::WireType;

constexpr uint32_t kModule = 1, kComputation = 3, kInstruction = 2;     // one in the other
constexpr uint32_t kName = 1, kMetadata = 7, kOpType = 1, kOpName = 2;  // of an instruction

template <typename OnBytes>
void ForEachBytes(std::string_view message, uint32_t number, const OnBytes& on_bytes) {
  WireReader reader(message);
  WireField field;
  while (reader.Next(&field))
    if (field.Is(number, WireType::kBytes)) on_bytes(field.bytes);
}

std::string FrameworkOp(std::string_view name, std::string_view type) {
  if (name.empty() && type.empty()) return {};
  if (type.empty() && (name == "XLA_Args" || name == "XLA_Retvals")) type = name;
  return std::string(name) + ":" + std::string(type);
}

}  // namespace

void HloPrograms::ReadInstruction(std::string_view message, Program* program) {
  std::string_view name, op_type, op_name;
  ForEachBytes(message, kName, [&](std::string_view bytes) { name = bytes; });
  ForEachBytes(message, kMetadata, [&](std::string_view metadata) {
    ForEachBytes(metadata, kOpType, [&](std::string_view bytes) { op_type = bytes; });
    ForEachBytes(metadata, kOpName, [&](std::string_view bytes) { op_name = bytes; });
  });
  if (IsOfGradient(op_name, op_type)) is_training_ = true;
  program->try_emplace(name, HloInstruction{FrameworkOp(op_name, op_type)});
}

void HloPrograms::Read(const Space& space) {
  for (const HloBytes& program : space.programs) {
    const auto [at, is_new] = programs_.try_emplace(program.program_id);
    if (!is_new) continue;
    auto* const instructions = &at->second;
    ForEachBytes(program.bytes, kModule, [&](std::string_view module) {
      ForEachBytes(module, kComputation, [&](std::string_view computation) {
        ForEachBytes(computation, kInstruction, [&](std::string_view instruction) {
          ReadInstruction(instruction, instructions);
        });
      });
    });
  }
}

const HloInstruction* HloPrograms::Find(uint64_t program, std::string_view instruction) const {
  const auto at = programs_.find(program);
  if (at == programs_.end()) return nullptr;
  const auto found = at->second.find(instruction);
  return found == at->second.end() ? nullptr : &found->second;
}

}  // namespace gpuprof::analysis::xprof
