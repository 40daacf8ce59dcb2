// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names program counters offline: module by the recorded mappings, function by the ELF symbol
// tables of the file on this machine, its separate debug file, or its dynamic symbols, source line
// by the DWARF tables beside them. A file whose
// build id is not the recorded one is never guessed from: the name is then "module+0xoffset".
//
// For passes, on one thread at a time per object. Symbol tables are loaded on first use and shared
// by all symbolizers of the program. Reads files; runs and downloads nothing.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class CodeNameList;
class ModuleSymbols;

struct Frame {
  std::string function;  // demangled; "module+0x1234" or "0x7f..." where nothing better is known
  std::string module;    // base name of the file; "" outside every module
  uint64_t offset = 0;   // of the pc from the function's start; from the module's ELF address 0
                         // where there is none
  std::string file;      // source, where known
  uint32_t line = 0;
  bool named = false;  // `function` is a symbol's name
};

// What a program counter of a trace is: frames of stacks and callers of waits are return addresses,
// start routines are exact.
enum class PcKind { kReturnAddress, kExact };

// Tells where the files of a process's modules may be.
struct SymbolPlaces {
  int64_t recorded_until_ns = 0;          // in ns since 1970; 0: not known
  std::vector<std::string> roots = {""};  // as in ModuleFile
};

// Returns the places for one process. They are the folder `symfs` (empty: none), the recorded
// paths, and the root of the process if the process still runs.
SymbolPlaces PlacesOf(const Trace& trace, const Process& process, const std::string& symfs);

// Returns the paths of all files of a process that are at none of the places.
std::vector<std::string> MissingFiles(const Process& process, const SymbolPlaces& places);

class Symbolizer {
 public:
  // `process` must outlive the symbolizer.
  explicit Symbolizer(const Process& process, SymbolPlaces places = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Never fails. The reference stays valid as long as the symbolizer.
  const Frame& Resolve(uint64_t pc, PcKind kind = PcKind::kReturnAddress);

  // Adds what Resolve needs of the program's files for a program counter.
  void AddNames(uint64_t pc, PcKind kind, CodeNameList* names);

  // Says why names are missing, one sentence a module: "libfoo.so: build id differs ...". For the
  // modules met so far, by path.
  std::vector<std::string> Notes() const;
  // Returns the paths of the modules met so far whose files were not found. Notes() leaves them
  // out.
  std::vector<std::string> Missing() const;

 private:
  struct MappedModule {
    const proto::Module* module;
    uint64_t reach;  // greatest end of this and all modules before it
  };
  const proto::Module* ModuleAt(uint64_t address) const;
  // Returns the symbols of a module's file, which it loads on first use.
  const ModuleSymbols& SymbolsOf(const proto::Module& module);
  Frame Name(uint64_t address, uint64_t pc);

  SymbolPlaces places_;
  std::vector<MappedModule> modules_;  // by start
  std::unordered_map<const proto::Module*, std::shared_ptr<const ModuleSymbols>> symbols_;
  std::unordered_map<uint64_t, Frame> cache_[2];  // by pc, per PcKind
};

}  // namespace gpuprof::analysis
