// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See module_symbols.h.

#include "analysis/symbols/module_symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "analysis/symbols/mangled_names.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

constexpr char kDebugRoot[] = "/usr/lib/debug";
// libelf allocates what a section header claims; no symbol or string table of a real file comes
// near.
constexpr uint64_t kMostSectionBytes = uint64_t{1} << 30;

// An open ELF file; `elf` is null where it is none.
struct ElfFile {
  int fd = -1;
  int error = 0;  // why fd is -1
  Elf* elf = nullptr;

  explicit ElfFile(const std::string& path) {
    static const bool is_ready = elf_version(EV_CURRENT) != EV_NONE;
    fd = codec::OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY);
    if (fd < 0) error = errno;
    if (fd < 0 || !is_ready) return;
    elf = elf_begin(fd, ELF_C_READ, nullptr);
    if (elf != nullptr && elf_kind(elf) != ELF_K_ELF) {
      elf_end(elf);
      elf = nullptr;
    }
  }
  ~ElfFile() {
    if (elf != nullptr) elf_end(elf);
    if (fd >= 0) close(fd);
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
};

Elf_Data* SectionData(Elf_Scn* section, const GElf_Shdr& header) {
  if (header.sh_type == SHT_NOBITS || header.sh_size > kMostSectionBytes) return nullptr;
  return elf_getdata(section, nullptr);
}

std::string BuildIdInNotes(Elf_Data* data) {
  GElf_Nhdr note;
  size_t name = 0;
  size_t text = 0;
  for (size_t at = 0; (at = gelf_getnote(data, at, &note, &name, &text)) != 0;) {
    const char* bytes = static_cast<const char*>(data->d_buf);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(bytes + name, "GNU", 4) == 0) {
      return std::string(bytes + text, note.n_descsz);
    }
  }
  return "";
}

std::string BuildIdOf(Elf* elf) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    Elf_Data* data = SectionData(section, header);
    if (data == nullptr) continue;
    const std::string id = BuildIdInNotes(data);
    if (!id.empty()) return id;
  }
  return "";
}

// The file named in .gnu_debuglink; empty: none.
std::string DebugLinkOf(Elf* elf) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return "";
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, ".gnu_debuglink") != 0) continue;
    Elf_Data* data = SectionData(section, header);
    if (data == nullptr || data->d_buf == nullptr) return "";
    const char* text = static_cast<const char*>(data->d_buf);
    const std::string link(text, strnlen(text, data->d_size));
    // A name, never a way out of the folders that are searched.
    return link.find('/') == std::string::npos ? link : "";
  }
  return "";
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
  const ElfFile opened(root + file.path);
  if (opened.elf == nullptr) {
    const std::string why = opened.fd >= 0                       ? "not an ELF file"
                            : opened.error == codec::kNotRegular ? "not a regular file"
                                                                 : "cannot be opened";
    return root.empty() ? why : place + ": " + why;
  }
  const std::string found_id = BuildIdOf(opened.elf);
  if (found_id != file.build_id) {
    return file.build_id.empty()
               ? "the recorder found no build id, but " + place + " has " + Hex(found_id)
               : place + " is another build (" + (found_id.empty() ? "none" : Hex(found_id)) +
                     ", recorded " + Hex(file.build_id) + ")";
  }
  if (file.newest_ns != 0 && WrittenAt(opened.fd) > file.newest_ns) {
    return (root.empty() ? "the file" : place) +
           " was written after the recording, and no build id tells whether it is the same";
  }
  LoadTables(root, file, opened.fd, opened.elf);
  return "";
}

void ModuleSymbols::LoadTables(const std::string& root, const ModuleFile& file, int fd,
                               void* opaque) {
  Elf* const elf = static_cast<Elf*>(opaque);
  file_ = root + file.path;
  if (LoadTable(fd, elf, SHT_SYMTAB)) return;
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
  note_ = LoadTable(fd, elf, SHT_DYNSYM)
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
  const ElfFile file(path);
  if (file.elf == nullptr || BuildIdOf(file.elf) != build_id ||
      !LoadTable(file.fd, file.elf, SHT_SYMTAB)) {
    return false;
  }
  file_ = path;
  return true;
}

bool ModuleSymbols::LoadTable(int fd, void* opaque, uint32_t section_type) {
  Elf* const elf = static_cast<Elf*>(opaque);
  Elf_Scn* section = nullptr;
  GElf_Shdr header = {};
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == section_type) break;
  }
  if (section == nullptr || header.sh_entsize == 0) return false;
  Elf_Data* const data = SectionData(section, header);
  Elf_Scn* const names_section = elf_getscn(elf, header.sh_link);
  GElf_Shdr names_header;
  if (data == nullptr || names_section == nullptr ||
      gelf_getshdr(names_section, &names_header) == nullptr) {
    return false;
  }
  if (names_header.sh_type != SHT_STRTAB || names_header.sh_size > kMostSectionBytes) return false;
  symbols_.clear();
  const size_t count = std::min<uint64_t>(data->d_size / header.sh_entsize, 1u << 28);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
    const unsigned char type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0 ||
        symbol.st_name >= names_header.sh_size) {
      continue;
    }
    symbols_.push_back(
        {symbol.st_value, symbol.st_size, symbol.st_name, RankOf(GELF_ST_BIND(symbol.st_info))});
  }
  return !symbols_.empty() && ReadNames(fd, names_header.sh_offset, names_header.sh_size);
}

// Names are most of a large table, so they are read into place once rather than copied out of
// libelf.
bool ModuleSymbols::ReadNames(int fd, uint64_t offset, uint64_t bytes) {
  names_.reset(new char[bytes + 1]);
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t got =
        pread(fd, names_.get() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      symbols_.clear();
      return false;
    }
    done += static_cast<uint64_t>(got);
  }
  names_[bytes] = 0;
  return true;
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

std::string BuildIdOfFile(const std::string& path) {
  const ElfFile file(path);
  return file.elf == nullptr ? "" : BuildIdOf(file.elf);
}

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

std::string Demangle(const char* name) {
  // A symbol's version, as some tables carry it behind the name: "main@@VERSION".
  const std::string plain(name, std::strcspn(name, "@"));
  if (plain.compare(0, 2, "_Z") != 0 && plain.compare(0, 2, "_R") != 0) return plain;
  const std::string found = DemangleName(plain);
  return found.empty() ? plain : found;
}

}  // namespace gpuprof::analysis
