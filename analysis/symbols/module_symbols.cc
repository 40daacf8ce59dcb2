// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See module_symbols.h.

#include "analysis/symbols/module_symbols.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "analysis/symbols/elf_sections.h"
#include "analysis/symbols/mangled_names.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

constexpr char kDebugRoot[] = "/usr/lib/debug";

// The file named in .gnu_debuglink; empty: none.
std::string DebugLinkOf(const ElfSections& file) {
  const ElfSections::Section* const section = file.Named(".gnu_debuglink");
  if (section == nullptr) return "";
  const SectionBytes bytes = file.Read(*section);
  const std::string link(bytes.view().substr(0, bytes.view().find('\0')));
  // A name, never a way out of the folders that are searched.
  return link.find('/') == std::string::npos ? link : "";
}

std::string Hex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

uint8_t RankOf(unsigned char binding) {
  switch (binding) {
    case STB_GLOBAL:
      return 0;
    case STB_WEAK:
      return 1;
    default:
      return 2;
  }
}

// The path is what a trace says. What lies in these folders is no program's code, but devices and
// what the kernel tells.
bool MayBeModule(const std::string& path) {
  return path.starts_with('/') && !path.starts_with("/dev/") && !path.starts_with("/proc/") &&
         !path.starts_with("/sys/");
}

// In ns since 1970; 0: not known.
int64_t WrittenAt(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return 0;
  return static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace

std::shared_ptr<const ModuleSymbols> ModuleSymbols::Get(ModuleFile file) {
  static std::mutex mutex;
  static auto* const loaded = new std::map<ModuleFile, std::shared_ptr<const ModuleSymbols>>();
  std::lock_guard<std::mutex> lock(mutex);
  if (!file.build_id.empty()) file.newest_ns = 0;  // the id tells more
  std::shared_ptr<const ModuleSymbols>& entry = (*loaded)[file];
  if (entry == nullptr) {
    auto module = std::make_shared<ModuleSymbols>();
    module->Load(file);
    entry = std::move(module);
  }
  return entry;
}

void ModuleSymbols::Load(const ModuleFile& file) {
  // A debug file found by build id needs no look at the module itself.
  const std::string debug = DebugPathOf(file.build_id);
  for (const std::string& root : file.roots) {
    if (!debug.empty() && LoadDebugFile(root + debug, file.build_id)) return Sort();
  }
  if (!MayBeModule(file.path)) {
    note_ = "not a file";
    return;
  }
  std::string refused;
  is_missing_ = true;
  for (const std::string& root : file.roots) {
    if (access((root + file.path).c_str(), F_OK) != 0) continue;
    is_missing_ = false;
    const std::string why = LoadUnder(root, file);
    if (!why.empty()) {
      refused += (refused.empty() ? "" : "; ") + why;
      continue;
    }
    if (!refused.empty()) note_ = refused + (note_.empty() ? "" : "; ") + note_;
    return Sort();
  }
  note_ = is_missing_ ? "not on this machine" : refused;
}

std::string ModuleSymbols::LoadUnder(const std::string& root, const ModuleFile& file) {
  const std::string place = root.empty() ? "the file on this machine" : root + file.path;
  const ElfSections opened(root + file.path);
  if (!opened.is_elf()) {
    const std::string why = opened.fd() >= 0                       ? "not an ELF file"
                            : opened.error() == codec::kNotRegular ? "not a regular file"
                                                                   : "cannot be opened";
    return root.empty() ? why : place + ": " + why;
  }
  const std::string found_id = opened.BuildId();
  if (found_id != file.build_id) {
    return file.build_id.empty()
               ? "the recorder found no build id, but " + place + " has " + Hex(found_id)
               : place + " is another build (" + (found_id.empty() ? "none" : Hex(found_id)) +
                     ", recorded " + Hex(file.build_id) + ")";
  }
  if (file.newest_ns != 0 && WrittenAt(opened.fd()) > file.newest_ns) {
    return (root.empty() ? "the file" : place) +
           " was written after the recording, and no build id tells whether it is the same";
  }
  LoadTables(root, file, opened);
  return "";
}

void ModuleSymbols::LoadTables(const std::string& root, const ModuleFile& file,
                               const ElfSections& elf) {
  file_ = root + file.path;
  if (LoadTable(elf, SHT_SYMTAB)) return;
  // The link is believed only where build ids prove that the two files belong together.
  const std::string link = file.build_id.empty() ? "" : DebugLinkOf(elf);
  if (!link.empty()) {
    const std::string inside = file.path.substr(0, file.path.rfind('/'));
    const std::string folder = root + inside;
    for (const std::string& place : {folder + "/" + link, folder + "/.debug/" + link,
                                     root + kDebugRoot + inside + "/" + link}) {
      if (place != file_ && LoadDebugFile(place, file.build_id)) return;
    }
  }
  note_ = LoadTable(elf, SHT_DYNSYM)
              ? "only exported functions have names: the file has no symbol table and no debug file"
              : "no symbols in the file";
}

bool IsSomewhere(const ModuleFile& file) {
  const std::string debug = DebugPathOf(file.build_id);
  return std::any_of(file.roots.begin(), file.roots.end(), [&](const std::string& root) {
    return access((root + file.path).c_str(), F_OK) == 0 ||
           (!debug.empty() && access((root + debug).c_str(), F_OK) == 0);
  });
}

bool ModuleSymbols::LoadDebugFile(const std::string& path, const std::string& build_id) {
  const ElfSections file(path);
  if (!file.is_elf() || file.BuildId() != build_id || !LoadTable(file, SHT_SYMTAB)) {
    return false;
  }
  file_ = path;
  return true;
}

bool ModuleSymbols::LoadTable(const ElfSections& elf, uint32_t section_type) {
  const ElfSections::Section* const section = elf.OfType(section_type);
  if (section == nullptr || section->link >= elf.sections().size()) return false;
  const ElfSections::Section& names_section = elf.sections()[section->link];
  if (names_section.type != SHT_STRTAB) return false;
  const SectionBytes bytes = elf.Read(*section);
  SectionBytes names = elf.Read(names_section);
  // A name must end within the table.
  if (names.size == 0 || names.data[names.size - 1] != 0 || names.size > UINT32_MAX) return false;
  symbols_.clear();
  Elf64_Sym symbol;
  for (uint64_t at = 0; at + sizeof symbol <= bytes.size; at += sizeof symbol) {
    std::memcpy(&symbol, bytes.data.get() + at, sizeof symbol);
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= names.size)
      continue;
    symbols_.push_back(
        {symbol.st_value, symbol.st_size, symbol.st_name, RankOf(ELF64_ST_BIND(symbol.st_info))});
  }
  names_ = std::move(names.data);
  return !symbols_.empty();
}

void ModuleSymbols::Sort() {
  // Names decide last, so that the choice does not depend on the order in the file.
  std::sort(symbols_.begin(), symbols_.end(), [this](const Symbol& x, const Symbol& y) {
    if (x.start != y.start) return x.start < y.start;
    if (x.rank != y.rank) return x.rank < y.rank;
    if (x.size != y.size) return x.size > y.size;
    return std::strcmp(&names_[x.name], &names_[y.name]) < 0;
  });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& x, const Symbol& y) { return x.start == y.start; }),
                 symbols_.end());
  symbols_.shrink_to_fit();
}

const char* ModuleSymbols::Find(uint64_t address, uint64_t* start) const {
  auto next = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                               [](uint64_t value, const Symbol& s) { return value < s.start; });
  // Functions may lie within others (cold parts, hand-written entries): look a little further back.
  constexpr int kMostNested = 8;
  for (int i = 0; i < kMostNested && next != symbols_.begin(); ++i) {
    const Symbol& symbol = *--next;
    // Hand-written code often tells no size: then it reaches to the next symbol.
    const bool contains = symbol.size == 0 ? i == 0 : address - symbol.start < symbol.size;
    if (!contains) continue;
    *start = symbol.start;
    return &names_[symbol.name];
  }
  return nullptr;
}

std::string BuildIdOfFile(const std::string& path) { return ElfSections(path).BuildId(); }

std::string DebugPathOf(const std::string& build_id) {
  const std::string hex = Hex(build_id);
  if (hex.size() < 4) return "";
  std::string path(kDebugRoot);
  path += "/.build-id/";
  path += hex.substr(0, 2);
  path += '/';
  path += hex.substr(2);
  path += ".debug";
  return path;
}

}  // namespace gpuprof::analysis
