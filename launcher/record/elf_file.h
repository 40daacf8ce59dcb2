// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads of an executable what decides whether a preloaded object can enter it. Called before the
// command is started. Trusts no byte of the file: every offset is checked against what was read.
// Never runs or maps the file.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct ElfFile {
  bool is_elf = false;
  bool is_64_bit = false;
  bool is_executable_type = false;        // ET_EXEC or ET_DYN
  uint16_t machine = 0;                   // EM_*
  std::string interpreter;                // PT_INTERP; empty: static
  std::string library_name;               // DT_SONAME
  std::vector<std::string> needed;        // DT_NEEDED
  bool has_intolerant_sanitizer = false;  // linked in, and fails behind another library
  std::vector<std::string> search_path;   // DT_RUNPATH or DT_RPATH, $ORIGIN replaced
};

// Returns the machine that this command was built for (EM_*).
uint16_t OwnMachine();

// Reads a file. Returns empty, or why the file could not be read (a file that is not an ELF file is
// not an error).
std::string ReadElf(const std::string& path, ElfFile* elf);

}  // namespace gpuprof::launcher
