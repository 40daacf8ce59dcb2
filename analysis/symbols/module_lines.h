// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Source lines of one ELF file's code, from its DWARF line tables. For the symbolizer, which names
// the file that it has checked; any thread. Like module_symbols.h it reads files and maps none.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace gpuprof::analysis {

struct SourceLine {
  std::string file;   // as the compiler named it, with its folder where that is known
  uint32_t line = 0;  // 0: not known
};

class ModuleLines {
 public:
  // Opens the file, or finds it among those opened before. Never null; without line tables, or
  // where they are larger than any real file's, nothing is found.
  static std::shared_ptr<ModuleLines> Get(const std::string& path);

  virtual ~ModuleLines() = default;
  // The line of the instruction at an ELF virtual address. In code that was inlined it is the
  // inlined function's.
  virtual SourceLine Find(uint64_t address) = 0;
};

}  // namespace gpuprof::analysis
