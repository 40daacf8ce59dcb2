// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Cubins put together byte by byte, as NVIDIA's tools lay them out, for tests on machines without
// them.

#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tracer/cupti/matrix_opcodes.h"

namespace gpuprof::tracer::cupti {

using Instruction = std::pair<uint64_t, uint64_t>;

// As nvdisasm -hex prints them.
inline constexpr Instruction kNop = {0x0000000000007918, 0x000fc00000000000};
inline constexpr Instruction kFfma = {0x0000000402027223, 0x004fca0000000003};
inline constexpr Instruction kHmma = {0x0000000c0410723c, 0x008fee00000418ff};
inline constexpr Instruction kImma = {0x000000040e047237, 0x000fe20000405cff};
inline constexpr Instruction kHgmma = {0x00000000081879f0, 0x000fe60008000818};
inline constexpr Instruction kOther = {0x00000004ff117435, 0x000fe200000001ff};  // HFMA2.MMA

struct Function {
  std::string name;
  std::vector<Instruction> code;
  bool is_kernel = true;
};

enum class Abi : uint8_t { k7 = 7, k8 = 8 };

template <typename T>
void Append(const T& value, std::string* to) {
  to->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Header, code, symbols, names, sections: 0 none, 1 names, 2 symbols, then functions.
inline std::string CubinOf(uint32_t sm, const std::vector<Function>& functions, Abi abi = Abi::k8) {
  std::string out(sizeof(Elf64_Ehdr), 0), names(1, 0), symbols(sizeof(Elf64_Sym), 0);
  std::vector<Elf64_Shdr> sections(3);
  for (const Function& function : functions) {
    Elf64_Shdr section{};
    section.sh_type = SHT_PROGBITS;
    section.sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    section.sh_name = static_cast<uint32_t>(names.size());
    section.sh_offset = out.size();
    section.sh_size = function.code.size() * kInstructionBytes;
    section.sh_link = 2;
    section.sh_info = 0x14u << 24 | static_cast<uint32_t>(symbols.size() / sizeof(Elf64_Sym));
    names += ".text." + function.name + '\0';
    for (const auto& [low, high] : function.code) {
      Append(low, &out);
      Append(high, &out);
    }
    Elf64_Sym symbol{};
    symbol.st_other = function.is_kernel ? 0x10 : 0;
    symbol.st_shndx = static_cast<uint16_t>(sections.size());
    Append(symbol, &symbols);
    sections.push_back(section);
  }
  sections[1].sh_type = SHT_STRTAB;
  sections[1].sh_offset = out.size();
  sections[1].sh_size = names.size();
  out += names;
  sections[2].sh_type = SHT_SYMTAB;
  sections[2].sh_offset = out.size();
  sections[2].sh_size = symbols.size();
  out += symbols;
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_ABIVERSION] = static_cast<uint8_t>(abi);
  header.e_machine = 190;
  header.e_flags = abi == Abi::k8 ? 0x06000002 | sm << 8 : sm << 16 | 0x500 | sm;
  header.e_shoff = out.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = 1;
  memcpy(out.data(), &header, sizeof(header));
  for (const Elf64_Shdr& section : sections) Append(section, &out);
  return out;
}

}  // namespace gpuprof::tracer::cupti
