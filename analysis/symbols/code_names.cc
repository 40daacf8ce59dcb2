// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See code_names.h.

#include "analysis/symbols/code_names.h"

#include "analysis/symbols/module_lines.h"
#include "analysis/symbols/module_symbols.h"
#include "analysis/symbols/symbolizer.h"
#include "proto/codec/compress_text.h"

namespace gpuprof::analysis {
namespace {

void AddProcess(const Trace& trace, const Process& process, CodeNameList* names) {
  const SymbolPlaces places = PlacesOf(trace, process, "");
  for (const proto::Module& module : process.modules)
    names->AddFile(module, IsSomewhere({module.path(), module.build_id(), 0, places.roots}));
  Symbolizer symbolizer(process, places);
  const auto add = [&](uint64_t pc, PcKind kind) {
    if (pc != 0 && !IsNamedFrame(pc)) symbolizer.AddNames(pc, kind, names);
  };
  for (size_t i = 0; i < process.stacks.size(); ++i)
    add(process.stacks.PcAt(i), PcKind::kReturnAddress);
  for (const Track& track : process.tracks) {
    for (size_t i = 0; i < track.wait.rows(); ++i)
      add(track.wait.caller[i], PcKind::kReturnAddress);
    for (size_t i = 0; i < track.device_memory.rows(); ++i)
      add(track.device_memory.pc[i], PcKind::kReturnAddress);
    for (size_t i = 0; i < track.thread_event.rows(); ++i) {
      if (static_cast<proto::ThreadEvent>(track.thread_event.event[i]) ==
          proto::ThreadEvent::kStart)
        add(track.thread_event.a[i], PcKind::kExact);
    }
  }
}

}  // namespace

CodeNameList::Known& CodeNameList::Of(const proto::Module& module) {
  Known& known = known_[{module.path(), module.build_id()}];
  if (known.module == nullptr) {
    known.module = names_.add_module();
    known.module->set_path(module.path());
    known.module->set_build_id(module.build_id());
    TextOf("", &known);
  }
  return known;
}

uint32_t CodeNameList::TextOf(const std::string& text, Known* known) {
  const auto [found, is_new] =
      known->texts.emplace(text, static_cast<uint32_t>(known->texts.size()));
  if (is_new) known->module->add_text(text);
  return found->second;
}

void CodeNameList::AddFile(const proto::Module& module, bool is_somewhere) {
  Of(module).module->set_is_somewhere(is_somewhere);
}

void CodeNameList::Add(const proto::Module& module, const ModuleSymbols& symbols,
                       uint64_t address) {
  Known& known = Of(module);
  if (!known.addresses.insert(address).second) return;
  known.module->set_note(symbols.note());
  known.module->set_is_missing(symbols.is_missing());
  uint64_t start = 0;
  const char* const name = symbols.Find(address, &start);
  if (name == nullptr) return;
  proto::CodeName* const added = known.module->add_name();
  added->set_address(address);
  added->set_function(TextOf(name, &known));
  added->set_function_start(start);
  const SourceLine line = ModuleLines::Get(symbols.file())->Find(address);
  added->set_file(TextOf(line.file, &known));
  added->set_line(line.line);
}

std::string PackedCodeNames(const Trace& trace) {
  CodeNameList names;
  for (const Process& process : trace.processes) AddProcess(trace, process, &names);
  return codec::CompressText(names.names().SerializeAsString());
}

}  // namespace gpuprof::analysis
