// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Programs and libraries as they may lie on a disk: the launcher's reader of the ELF header and its
// dynamic section, and the symbolizer's of build ids, symbol tables and source lines. Each symbol
// found must be found again by its address.

#include <unistd.h>

#include <cstdint>
#include <string>

#include "tests/fuzz/temp_files.h"

#include "analysis/symbols/mangled_names.h"
#include "analysis/symbols/module_lines.h"
#include "analysis/symbols/module_symbols.h"
#include "launcher/record/elf_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const gpuprof::fuzz::Folder folder;
  static uint64_t number = 0;
  // Tables that were read are kept by path.
  const std::string path = folder / std::to_string(number++);
  gpuprof::fuzz::WriteFile(path, data, size);
  gpuprof::launcher::ElfFile elf;
  gpuprof::launcher::ReadElf(path, &elf);
  const std::string build_id = gpuprof::analysis::BuildIdOfFile(path);
  const auto symbols = gpuprof::analysis::ModuleSymbols::Get({path, build_id});
  gpuprof::fuzz::Check(symbols != nullptr);
  const auto lines = gpuprof::analysis::ModuleLines::Get(path);
  for (uint64_t address = 0; address < 64 * 64; address += 64) {
    const gpuprof::analysis::SourceLine line = lines->Find(address);
    gpuprof::fuzz::Check(line.file.empty() == (line.line == 0));
    uint64_t start = 0;
    const char* name = symbols->Find(address, &start);
    if (name == nullptr) continue;
    gpuprof::fuzz::Check(start <= address);
    gpuprof::analysis::Demangle(name);
  }
  unlink(path.c_str());
  return 0;
}
