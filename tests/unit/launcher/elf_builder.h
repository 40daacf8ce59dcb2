// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Builds small ELF files byte by byte, so that the tests of elf_file and program need no compiler
// and no foreign binaries.

#pragma once

#include <elf.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct ElfSpec {
  std::string interpreter = "/lib64/ld-linux-x86-64.so.2";
  std::vector<std::string> needed;
  std::string runpath;
  uint8_t elf_class = ELFCLASS64;
  uint16_t machine = EM_X86_64;
};

inline std::string BuildElf(const ElfSpec& spec) {
  std::string strings(1, '\0');
  const auto intern = [&](const std::string& text) {
    const size_t at = strings.size();
    strings += text + '\0';
    return at;
  };
  std::vector<Elf64_Dyn> dynamic;
  const auto add = [&](Elf64_Sxword tag, uint64_t value) {
    Elf64_Dyn entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    dynamic.push_back(entry);
  };
  for (const std::string& name : spec.needed) add(DT_NEEDED, intern(name));
  if (!spec.runpath.empty()) add(DT_RUNPATH, intern(spec.runpath));
  const size_t interpreter = intern(spec.interpreter);
  const bool is_static = spec.interpreter.empty();
  constexpr uint64_t kBase = 0x400000;  // addresses differ from offsets
  const uint64_t strings_at = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
  const uint64_t dynamic_at = (strings_at + strings.size() + 7) / 8 * 8;
  add(DT_STRTAB, kBase + strings_at);
  add(DT_NULL, 0);
  const uint64_t total = dynamic_at + dynamic.size() * sizeof(Elf64_Dyn);

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = spec.elf_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_EXEC;
  header.e_machine = spec.machine;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = is_static ? 1 : 3;
  Elf64_Phdr segments[3] = {};
  segments[0].p_type = PT_LOAD;
  segments[0].p_vaddr = kBase;
  segments[0].p_filesz = total;
  segments[1].p_type = PT_INTERP;
  segments[1].p_offset = strings_at + interpreter;
  segments[1].p_filesz = spec.interpreter.size() + 1;
  segments[2].p_type = PT_DYNAMIC;
  segments[2].p_offset = dynamic_at;
  segments[2].p_filesz = dynamic.size() * sizeof(Elf64_Dyn);

  std::string bytes(total, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, segments, sizeof segments);
  std::memcpy(bytes.data() + strings_at, strings.data(), strings.size());
  std::memcpy(bytes.data() + dynamic_at, dynamic.data(), dynamic.size() * sizeof(Elf64_Dyn));
  return bytes;
}

inline void WriteProgram(const std::string& path, const std::string& bytes, mode_t mode = 0755) {
  std::ofstream(path, std::ios::binary) << bytes;
  chmod(path.c_str(), mode);
}

}  // namespace gpuprof::launcher
