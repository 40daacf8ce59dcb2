// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See symbolizer.h.

#include "analysis/symbols/symbolizer.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <set>
#include <utility>

#include "analysis/model/modules.h"
#include "analysis/symbols/code_names.h"
#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/module_lines.h"
#include "analysis/symbols/module_symbols.h"

namespace gpuprof::analysis {
namespace {

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string HexNumber(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, value);
  return text;
}

// Returns an address in the instruction that a program counter stands for. A return address may lie
// behind its function's last instruction: the call itself never does.
uint64_t AddressOf(uint64_t pc, PcKind kind) {
  return kind == PcKind::kReturnAddress && pc != 0 ? pc - 1 : pc;
}

}  // namespace

SymbolPlaces PlacesOf(const Trace& trace, const Process& process, const std::string& symfs) {
  SymbolPlaces places;
  if (trace.origin_realtime_ns != 0)
    places.recorded_until_ns = trace.origin_realtime_ns + process.last_ns;
  if (!symfs.empty()) places.roots.insert(places.roots.begin(), symfs);
  // The process may see other files under the same paths.
  if (process.alive) places.roots.push_back("/proc/" + std::to_string(process.pid) + "/root");
  return places;
}

std::vector<std::string> MissingFiles(const Process& process, const SymbolPlaces& places) {
  std::set<std::string> missing;
  for (const proto::Module& module : process.modules) {
    const std::string& path = module.path();
    // Memory that was never a file of a folder.
    if (path.empty() || path[0] != '/' || path.compare(0, 7, "/memfd:") == 0) continue;
    if (!IsSomewhere({path, module.build_id(), 0, places.roots})) missing.insert(path);
  }
  return {missing.begin(), missing.end()};
}

Symbolizer::Symbolizer(const Process& process, SymbolPlaces places) : places_(std::move(places)) {
  for (const proto::Module& module : process.modules) modules_.push_back({&module, 0});
  std::stable_sort(modules_.begin(), modules_.end(),
                   [](const MappedModule& x, const MappedModule& y) {
                     return x.module->start() < y.module->start();
                   });
  uint64_t reach = 0;
  for (MappedModule& module : modules_) {
    reach = std::max(reach, module.module->end());
    module.reach = reach;
  }
}

Symbolizer::~Symbolizer() = default;

const proto::Module* Symbolizer::ModuleAt(uint64_t address) const {
  auto next = std::upper_bound(
      modules_.begin(), modules_.end(), address,
      [](uint64_t value, const MappedModule& module) { return value < module.module->start(); });
  const proto::Module* best = nullptr;
  while (next != modules_.begin()) {
    --next;
    if (next->reach <= address) break;
    if (next->module->end() <= address) continue;
    if (best == nullptr || Outlasts(*next->module, *best)) best = next->module;
  }
  return best;
}

const Frame& Symbolizer::Resolve(uint64_t pc, PcKind kind) {
  auto& cache = cache_[kind == PcKind::kExact ? 1 : 0];
  const auto found = cache.find(pc);
  if (found != cache.end()) return found->second;
  return cache.emplace(pc, Name(AddressOf(pc, kind), pc)).first->second;
}

void Symbolizer::AddNames(uint64_t pc, PcKind kind, CodeNameList* names) {
  const uint64_t address = AddressOf(pc, kind);
  if (const proto::Module* module = ModuleAt(address))
    names->Add(*module, SymbolsOf(*module), address - module->bias());
}

const ModuleSymbols& Symbolizer::SymbolsOf(const proto::Module& module) {
  std::shared_ptr<const ModuleSymbols>& symbols = symbols_[&module];
  if (symbols == nullptr)
    symbols = ModuleSymbols::Get(
        {module.path(), module.build_id(), places_.recorded_until_ns, places_.roots});
  return *symbols;
}

Frame Symbolizer::Name(uint64_t address, uint64_t pc) {
  Frame frame;
  const proto::Module* module = ModuleAt(address);
  if (module == nullptr) {
    frame.function = HexNumber(pc);
    frame.offset = pc;
    return frame;
  }
  frame.module = BaseName(module->path());
  const ModuleSymbols& symbols = SymbolsOf(*module);
  uint64_t start = 0;
  const char* name = symbols.Find(address - module->bias(), &start);
  if (name != nullptr) {
    frame.function = Demangle(name);
    frame.offset = pc - module->bias() - start;
    frame.named = true;
    SourceLine line = ModuleLines::Get(symbols.file())->Find(address - module->bias());
    frame.file = std::move(line.file);
    frame.line = line.line;
  } else {
    frame.offset = pc - module->bias();
    frame.function = (frame.module.empty() ? "?" : frame.module) + "+" + HexNumber(frame.offset);
  }
  return frame;
}

std::vector<std::string> Symbolizer::Notes() const {
  std::set<std::string> notes;
  for (const auto& [module, symbols] : symbols_) {
    if (!symbols->note().empty() && !symbols->is_missing())
      notes.insert(module->path() + ": " + symbols->note());
  }
  return {notes.begin(), notes.end()};
}

std::vector<std::string> Symbolizer::Missing() const {
  std::set<std::string> paths;
  for (const auto& [module, symbols] : symbols_) {
    if (symbols->is_missing()) paths.insert(module->path());
  }
  return {paths.begin(), paths.end()};
}

}  // namespace gpuprof::analysis
