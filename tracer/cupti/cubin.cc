// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/cubin.h"

#include <elf.h>
#include <string.h>

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint16_t kMachine = 190;  // EM_CUDA, younger than some elf.h
constexpr char kPrefix[] = ".text.";
constexpr size_t kPrefixBytes = sizeof(kPrefix) - 1;
// NVIDIA's: of a symbol's st_other, a kernel; of a section's sh_info, its symbol's number.
constexpr uint8_t kEntry = 0x10;
constexpr uint32_t kSymbolOfInfo = 0xffffff;
// Modules have thousands of sections, never this many.
constexpr uint64_t kMostSections = 1u << 22;
// Against a text without an end: a function of such a name is not known.
constexpr uint64_t kMostNameBytes = 64 << 10;

// CUDA 13, and 12.8 for the newest architectures, mark themselves by ABI version 8 and moved the
// number.
uint32_t ArchitectureOf(const Elf64_Ehdr& header) {
  constexpr uint8_t kMovedFrom = 8;
  if (header.e_ident[EI_ABIVERSION] >= kMovedFrom) return header.e_flags >> 8 & 0xff;
  return header.e_flags & 0xff;
}

}  // namespace

struct Cubin::Section : Elf64_Shdr {};

Cubin::Cubin(const void* bytes, size_t size)
    : bytes_(static_cast<const uint8_t*>(bytes)), size_(bytes != nullptr ? size : 0) {
  Elf64_Ehdr header;
  if (size_ < sizeof(header)) return;
  memcpy(&header, bytes_, sizeof(header));
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff == 0)
    return;
  table_ = header.e_shoff;
  sections_ = 1;
  Section first;
  if (!ReadSection(0, &first)) return;
  // Numbers that are too large for the header's fields are in the first section's.
  const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const uint32_t names = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  if (count > kMostSections || !Has(table_, count * sizeof(Elf64_Shdr))) return;
  sections_ = static_cast<uint32_t>(count);
  Section strings;
  if (!ReadSection(names, &strings) || !Has(strings.sh_offset, strings.sh_size)) return;
  names_ = strings.sh_offset;
  names_size_ = strings.sh_size;
  sm_ = ArchitectureOf(header);
}

bool Cubin::ReadSection(uint32_t index, Section* section) const {
  if (index >= sections_) return false;
  constexpr uint64_t kBytes = sizeof(Elf64_Shdr);
  if (!Has(table_, (uint64_t{index} + 1) * kBytes)) return false;
  memcpy(static_cast<Elf64_Shdr*>(section), bytes_ + table_ + index * kBytes, kBytes);
  return true;
}

// The section names the symbol of its function.
bool Cubin::IsKernel(uint32_t index, const Section& section) const {
  Section symbols;
  if (!ReadSection(section.sh_link, &symbols) || symbols.sh_type != SHT_SYMTAB) return false;
  const uint64_t offset = uint64_t{section.sh_info & kSymbolOfInfo} * sizeof(Elf64_Sym);
  if (offset + sizeof(Elf64_Sym) > symbols.sh_size || !Has(symbols.sh_offset, symbols.sh_size))
    return false;
  Elf64_Sym symbol;
  memcpy(&symbol, bytes_ + symbols.sh_offset + offset, sizeof(symbol));
  // A section's number of more than 16 bits is written elsewhere.
  return (symbol.st_shndx == index || symbol.st_shndx == SHN_XINDEX) &&
         (symbol.st_other & kEntry) != 0;
}

bool Cubin::ReadFunction(uint32_t index, CubinFunction* function) const {
  Section section;
  if (sm_ == 0 || !ReadSection(index, &section) || section.sh_type != SHT_PROGBITS ||
      (section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_name >= names_size_)
    return false;
  const char* name = reinterpret_cast<const char*>(bytes_ + names_ + section.sh_name);
  const uint64_t rest = names_size_ - section.sh_name;
  const uint64_t room = rest < kMostNameBytes ? rest : kMostNameBytes;
  const size_t length = strnlen(name, room);
  if (length == room || length <= kPrefixBytes || memcmp(name, kPrefix, kPrefixBytes) != 0)
    return false;
  function->name = name + kPrefixBytes;
  function->name_bytes = length - kPrefixBytes;
  function->code = At(section.sh_offset, section.sh_size);
  function->code_bytes = function->code != nullptr ? section.sh_size : 0;
  function->is_kernel = IsKernel(index, section);
  return function->code != nullptr;
}

}  // namespace gpuprof::tracer::cupti
