// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See perfetto_stacks.h.

#include "analysis/export/perfetto_stacks.h"

#include "analysis/derived/code_frame.h"

namespace gpuprof::analysis {
namespace {

using wire::AppendBytes;
using wire::AppendNumber;

// InternedData
constexpr uint32_t kFrames = 6, kStacks = 7, kMappings = 19;
// Frame
constexpr uint32_t kFunction = 2, kMapping = 3, kRelativePc = 4, kSource = 5, kLine = 6;

// Names of functions and paths of modules in other columns than code.
const proto::Module* ModuleOf(const Process& process, uint64_t pc) {
  for (const proto::Module& module : process.modules) {
    if (pc >= module.start() && pc < module.end()) return &module;
  }
  return nullptr;
}

}  // namespace

uint64_t PerfettoStacks::MappingOf(uint64_t pc, const std::string& name) {
  const Process& process = context_.process(index_);
  const proto::Module* module = IsNamedFrame(pc) ? nullptr : ModuleOf(process, pc - 1);
  const std::string path = module != nullptr ? module->path() : name;
  const uint64_t start = module != nullptr ? module->start() : 0;
  const auto [at, added] = mappings_.try_emplace({path, start}, mappings_.size() + 1);
  if (!added) return at->second;
  std::string mapping;
  AppendNumber(1, at->second, &mapping);
  if (module != nullptr) {
    if (!module->build_id().empty()) {
      build_ids_.push_back(module->build_id());
      AppendNumber(2, build_ids_.size(), &mapping);
    }
    AppendNumber(4, module->start(), &mapping);
    AppendNumber(5, module->end(), &mapping);
  }
  AppendNumber(7, paths_.Of(path), &mapping);
  AppendBytes(kMappings, mapping, &mapping_fields_);
  return at->second;
}

uint64_t PerfettoStacks::FrameOf(uint64_t pc) {
  const auto [at, added] = frames_.try_emplace(pc, 0);
  if (!added) return at->second;
  results::Frame found;
  context_.Resolve(index_, pc, PcKind::kReturnAddress, &found);
  std::string function = found.name(), file = found.file();
  uint32_t line = found.line();
  if (IsNamedFrame(pc)) {
    CodeFrame code = ReadFrameName(function);
    function = code.name;
    file = code.file;
    line = code.line;
  }
  std::string frame;
  AppendNumber(1, ++frame_count_, &frame);
  AppendNumber(kFunction, functions_.Of(function), &frame);
  AppendNumber(kMapping, MappingOf(pc, IsNamedFrame(pc) ? "python" : found.module()), &frame);
  if (!IsNamedFrame(pc)) AppendNumber(kRelativePc, found.offset(), &frame);
  if (!file.empty()) AppendNumber(kSource, sources_.Of(file), &frame);
  if (line != 0) AppendNumber(kLine, line, &frame);
  AppendBytes(kFrames, frame, &frame_fields_);
  return at->second = frame_count_;
}

uint64_t PerfettoStacks::Of(uint32_t stack) {
  if (stack < 2) return 0;  // none was taken, or there was no room
  const auto [at, added] = stacks_.try_emplace(stack, 0);
  if (!added) return at->second;
  const std::vector<uint64_t> pcs = context_.StackPcs(index_, stack);
  if (pcs.empty()) return 0;
  std::string fields;
  // Perfetto has the outermost frame first.
  for (auto pc = pcs.rbegin(); pc != pcs.rend(); ++pc) AppendNumber(2, FrameOf(*pc), &fields);
  std::string entry;
  AppendNumber(1, ++stack_count_, &entry);
  entry += fields;
  AppendBytes(kStacks, entry, &stack_fields_);
  return at->second = stack_count_;
}

void PerfettoStacks::Write(PerfettoWriter* out) const {
  out->Names(PerfettoNames::kFunctions, functions_.texts());
  out->Names(PerfettoNames::kMappingPaths, paths_.texts());
  out->Names(PerfettoNames::kSourcePaths, sources_.texts());
  out->Names(PerfettoNames::kBuildIds, build_ids_);
  out->Interned(mapping_fields_);
  out->Interned(frame_fields_);
  out->Interned(stack_fields_);
}

}  // namespace gpuprof::analysis
