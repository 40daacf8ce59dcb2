// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/elf_symbol.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include <cstdint>

#include "inject/memory_map.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

// Where the file containing `address` is mapped first: its ELF header. Lines of one file follow
// each other.
uint64_t ObjectBase(uint64_t address) {
  uint64_t candidate = 0;
  uint64_t found = 0;
  ForEachMapping([&](const char* line) {
    const char* p = line;
    const uint64_t start = HexField(&p);
    if (*p++ != '-') return true;
    const uint64_t end = HexField(&p);
    while (*p == ' ' || (*p >= 'a' && *p <= 'z') || *p == '-') ++p;  // permissions
    if (HexField(&p) == 0) candidate = start;                        // offset 0: a file begins
    if (address >= start && address < end) {
      found = candidate;
      return false;
    }
    return true;
  });
  return found;
}

struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* hash = nullptr;
};

void ReadEntries(const ElfW(Dyn) * entry, uint64_t bias, DynamicTables* tables) {
  // The loader has turned these addresses into absolute ones on most systems; those below the base
  // still lack the bias.
  const auto absolute = [&](uint64_t value) { return value < bias ? value + bias : value; };
  for (; entry->d_tag != DT_NULL; ++entry) {
    const uint64_t value = entry->d_un.d_ptr;
    if (entry->d_tag == DT_SYMTAB)
      tables->symbols = reinterpret_cast<const ElfW(Sym)*>(absolute(value));
    if (entry->d_tag == DT_STRTAB) tables->strings = reinterpret_cast<const char*>(absolute(value));
    if (entry->d_tag == DT_GNU_HASH)
      tables->gnu_hash = reinterpret_cast<const uint32_t*>(absolute(value));
    if (entry->d_tag == DT_HASH) tables->hash = reinterpret_cast<const uint32_t*>(absolute(value));
  }
}

DynamicTables ReadDynamic(uint64_t base) {
  DynamicTables tables;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return tables;
  const auto* program = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  uint64_t bias = base;
  const ElfW(Phdr)* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (program[i].p_type == PT_LOAD && program[i].p_offset == 0) bias = base - program[i].p_vaddr;
    if (program[i].p_type == PT_DYNAMIC) dynamic = &program[i];
  }
  if (dynamic == nullptr) return tables;
  ReadEntries(reinterpret_cast<const ElfW(Dyn)*>(bias + dynamic->p_vaddr), bias, &tables);
  return tables;
}

// The older table, of which the number of symbols is enough; few objects have it alone.
[[gnu::cold]] const ElfW(Sym) * LookupInAll(const DynamicTables& tables, const char* name) {
  const uint32_t count = tables.hash != nullptr ? tables.hash[1] : 0;
  for (uint32_t i = 1; i < count; ++i) {
    const ElfW(Sym)* symbol = &tables.symbols[i];
    if (symbol->st_shndx != SHN_UNDEF && Equal(tables.strings + symbol->st_name, name))
      return symbol;
  }
  return nullptr;
}

// The GNU hash section: counts, a Bloom filter (skipped over), buckets, chains of hashes whose
// lowest bit ends a chain.
const ElfW(Sym) * Lookup(const DynamicTables& tables, const char* name) {
  uint32_t hash = 5381;
  for (const char* p = name; *p != 0; ++p) hash = hash * 33 + static_cast<unsigned char>(*p);
  const uint32_t buckets = tables.gnu_hash[0];
  const uint32_t first = tables.gnu_hash[1];
  const uint32_t bloom_words = tables.gnu_hash[2];
  const uint32_t* bucket =
      tables.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chain = bucket + buckets;
  if (buckets == 0) return nullptr;
  for (uint32_t i = bucket[hash % buckets]; i >= first && i != 0; ++i) {
    const uint32_t entry = chain[i - first];
    if ((entry | 1) == (hash | 1) && Equal(tables.strings + tables.symbols[i].st_name, name))
      return &tables.symbols[i];
    if ((entry & 1) != 0) break;
  }
  return nullptr;
}

// Null: this object does not define it.
const ElfW(Sym) * DefinitionIn(const link_map* object, const char* name) {
  DynamicTables tables;
  ReadEntries(object->l_ld, object->l_addr, &tables);
  if (tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  const ElfW(Sym)* symbol =
      tables.gnu_hash != nullptr ? Lookup(tables, name) : LookupInAll(tables, name);
  return symbol != nullptr && symbol->st_shndx != SHN_UNDEF ? symbol : nullptr;
}

}  // namespace

void* FindSymbolInObjectOf(const void* address, const char* name) noexcept {
  const uint64_t base = ObjectBase(reinterpret_cast<uint64_t>(address));
  if (base == 0) return nullptr;
  const DynamicTables tables = ReadDynamic(base);
  if (tables.symbols == nullptr || tables.strings == nullptr || tables.gnu_hash == nullptr)
    return nullptr;
  const ElfW(Sym)* symbol = Lookup(tables, name);
  if (symbol == nullptr || symbol->st_shndx == SHN_UNDEF) return nullptr;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* program = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  uint64_t bias = base;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (program[i].p_type == PT_LOAD && program[i].p_offset == 0) bias = base - program[i].p_vaddr;
  }
  return reinterpret_cast<void*>(bias + symbol->st_value);
}

void* FindSymbolIn(const ElfW(Dyn) * dynamic, uint64_t bias, const char* name) noexcept {
  DynamicTables tables;
  ReadEntries(dynamic, bias, &tables);
  if (tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  const ElfW(Sym)* symbol =
      tables.gnu_hash != nullptr ? Lookup(tables, name) : LookupInAll(tables, name);
  if (symbol == nullptr || symbol->st_shndx == SHN_UNDEF) return nullptr;
  return reinterpret_cast<void*>(bias + symbol->st_value);
}

uintptr_t OwnBias() noexcept {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (object->l_ld == _DYNAMIC) return object->l_addr;
  }
  return 0;
}

const link_map* ObjectBehindOurs() noexcept {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (object->l_ld == _DYNAMIC) return object->l_next;
  }
  return nullptr;
}

bool MayBeDefinedFrom(const link_map* object, const char* name) noexcept {
  for (; object != nullptr; object = object->l_next) {
    if (DefinitionIn(object, name) != nullptr) return true;
  }
  return false;
}

DefinedData FindData(const char* name) noexcept {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (const ElfW(Sym)* symbol = DefinitionIn(object, name); symbol != nullptr)
      return {object->l_addr + symbol->st_value, symbol->st_size};
  }
  return {};
}

}  // namespace gpuprof::inject
