// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/target_objects.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace gpuprof::launcher {
namespace {

// More than any library has: a damaged header must not make the launcher large.
constexpr uint64_t kMostSymbols = 4'000'000;
constexpr uint64_t kMostTextBytes = uint64_t{256} << 20;

struct Mapping {
  uint64_t begin = 0, end = 0, offset = 0;
  std::string device_and_file;  // the same for all parts of one file
  std::string path;
};

// Files of one object follow each other.
std::vector<Mapping> ReadMap(pid_t pid, bool* is_read) {
  std::vector<Mapping> mappings;
  const std::string path = "/proc/" + std::to_string(pid) + "/maps";
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  *is_read = file != nullptr;
  char* line = nullptr;
  size_t room = 0;
  while (file != nullptr && getline(&line, &room, file.get()) > 0) {
    unsigned long long begin, end, offset, inode;
    char rights[8], device[24];
    int path_at = 0;
    if (sscanf(line, "%llx-%llx %7s %llx %23s %llu %n", &begin, &end, rights, &offset, device,
               &inode, &path_at) < 6)
      continue;
    std::string name = path_at > 0 ? line + path_at : "";
    if (!name.empty() && name.back() == '\n') name.pop_back();
    mappings.push_back(
        {begin, end, offset, std::string(device) + ":" + std::to_string(inode), name});
  }
  free(line);
  return mappings;
}

}  // namespace

std::string TargetObjects::Read() {
  objects_.clear();
  bool is_read = false;
  const std::vector<Mapping> mappings = ReadMap(memory_->pid(), &is_read);
  if (!is_read || mappings.empty()) return "its address space cannot be read";
  char program[4096];
  const std::string link = "/proc/" + std::to_string(memory_->pid()) + "/exe";
  const ssize_t length = readlink(link.c_str(), program, sizeof program);
  const std::string executable(program, length > 0 ? static_cast<size_t>(length) : 0);
  for (const Mapping& mapping : mappings) {
    const bool is_file = !mapping.path.empty() && mapping.path[0] == '/';
    if (!is_file && mapping.path != "[vdso]") continue;
    if (mapping.offset == 0) {
      TargetObject object;
      object.path = mapping.path;
      object.begin = mapping.begin;
      object.end = mapping.end;
      object.is_executable = mapping.path == executable;
      if (ReadHeader(&object)) objects_.push_back(object);
    }
  }
  return objects_.empty() ? "no object is mapped in it" : "";
}

bool TargetObjects::ReadHeader(TargetObject* object) const {
  Elf64_Ehdr header;
  if (!memory_->Read(object->begin, &header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum == 0 || header.e_phnum > 256)
    return false;
  std::vector<Elf64_Phdr> parts(header.e_phnum);
  if (!memory_->Read(object->begin + header.e_phoff, parts.data(),
                     parts.size() * sizeof(Elf64_Phdr)))
    return false;
  bool has_place = false;
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type != PT_LOAD || has_place) continue;
    object->bias = object->begin - (part.p_vaddr - part.p_offset);
    has_place = true;
  }
  if (!has_place) return false;
  if (header.e_entry != 0) object->entry = object->bias + header.e_entry;
  for (const Elf64_Phdr& part : parts) {
    const uint64_t address = object->bias + part.p_vaddr;
    if (part.p_type == PT_LOAD) object->end = std::max(object->end, address + part.p_memsz);
    if (part.p_type == PT_DYNAMIC) object->dynamic = address;
    if (part.p_type == PT_GNU_EH_FRAME) object->unwind_header = address;
  }
  return true;
}

const TargetObject* TargetObjects::At(uint64_t address) const {
  for (const TargetObject& object : objects_)
    if (object.Has(address)) return &object;
  return nullptr;
}

const TargetObject* TargetObjects::Named(const std::string& beginning) const {
  for (const TargetObject& object : objects_)
    if (object.name().starts_with(beginning)) return &object;
  return nullptr;
}

std::vector<TargetSymbol> TargetObjects::SymbolsOf(const TargetObject& object) const {
  uint64_t symbols = 0, texts = 0, text_bytes = 0, hash = 0, gnu_hash = 0;
  for (uint64_t at = object.dynamic; at != 0; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!memory_->Read(at, &entry) || entry.d_tag == DT_NULL) break;
    // Loaders leave relative addresses in some objects.
    const uint64_t value = entry.d_un.d_ptr;
    const uint64_t address = value < object.bias ? object.bias + value : value;
    if (entry.d_tag == DT_SYMTAB) symbols = address;
    if (entry.d_tag == DT_STRTAB) texts = address;
    if (entry.d_tag == DT_STRSZ) text_bytes = value;
    if (entry.d_tag == DT_HASH) hash = address;
    if (entry.d_tag == DT_GNU_HASH) gnu_hash = address;
  }
  if (symbols == 0 || texts == 0 || text_bytes == 0 || text_bytes > kMostTextBytes) return {};
  uint64_t count = 0;
  uint32_t words[4] = {};
  if (gnu_hash != 0 && memory_->Read(gnu_hash, words, sizeof words)) {
    // The chain of the last bucket that has one ends at the last symbol.
    const uint64_t buckets = gnu_hash + 16 + uint64_t{words[2]} * 8;
    if (words[0] > kMostSymbols) return {};
    std::vector<uint32_t> first(words[0]);
    if (!memory_->Read(buckets, first.data(), first.size() * 4)) return {};
    uint32_t last = 0;
    for (const uint32_t index : first) last = std::max(last, index);
    const uint64_t chains = buckets + uint64_t{words[0]} * 4;
    uint32_t entry = 0;
    for (; last >= words[1] && last < kMostSymbols; ++last) {
      if (!memory_->Read(chains + uint64_t{last - words[1]} * 4, &entry)) return {};
      if ((entry & 1) != 0) break;
    }
    count = last == 0 ? 0 : last + 1;
  } else if (hash != 0 && memory_->Read(hash, words, 8)) {
    count = words[1];
  }
  if (count == 0 || count > kMostSymbols) return {};
  std::vector<Elf64_Sym> table(count);
  std::string names(text_bytes, 0);
  if (!memory_->Read(symbols, table.data(), count * sizeof(Elf64_Sym)) ||
      !memory_->Read(texts, names.data(), names.size()))
    return {};
  std::vector<TargetSymbol> found;
  for (const Elf64_Sym& symbol : table) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 || symbol.st_name >= names.size())
      continue;
    const uint64_t begin = object.bias + symbol.st_value;
    found.push_back({begin, begin + symbol.st_size, names.c_str() + symbol.st_name});
  }
  std::sort(found.begin(), found.end(),
            [](const TargetSymbol& a, const TargetSymbol& b) { return a.begin < b.begin; });
  return found;
}

uint64_t TargetObjects::Find(const TargetObject& object, const std::string& name) const {
  for (const TargetSymbol& symbol : SymbolsOf(object))
    if (symbol.name == name) return symbol.begin;
  return 0;
}

}  // namespace gpuprof::launcher
