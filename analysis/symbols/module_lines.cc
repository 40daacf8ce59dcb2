// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See module_lines.h.

#include "analysis/symbols/module_lines.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "analysis/symbols/module_symbols.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {
namespace {

// libdw reads whole sections into memory.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

// Whether libdw may be trusted with the file's sections: it reads the two of strings up to their
// next NUL, beyond the end of a damaged one.
bool IsSafeToRead(Elf* elf) {
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return false;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    if (header.sh_type == SHT_NOBITS) continue;
    GElf_Chdr compressed;
    const bool is_compressed = gelf_getchdr(section, &compressed) != nullptr;
    if (std::max(header.sh_size, is_compressed ? compressed.ch_size : 0) > kMostBytes) return false;
    const char* const name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr) return false;
    if (std::strcmp(name, ".debug_str") != 0 && std::strcmp(name, ".debug_line_str") != 0) continue;
    if (is_compressed && elf_compress(section, 0, 0) < 0) return false;
    const Elf_Data* const data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_size == 0) continue;
    if (data->d_buf == nullptr || static_cast<const char*>(data->d_buf)[data->d_size - 1] != 0)
      return false;
  }
  return true;
}

class DwarfLines : public ModuleLines {
 public:
  explicit DwarfLines(const std::string& path) {
    static const bool is_ready = elf_version(EV_CURRENT) != EV_NONE;
    fd_ = codec::OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY);
    if (fd_ < 0 || !is_ready) return;
    elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
    if (elf_ == nullptr || elf_kind(elf_) != ELF_K_ELF || !IsSafeToRead(elf_)) return;
    dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
    if (dwarf_ == nullptr) return;
    SetShared(path);
    ListUnits();
  }
  ~DwarfLines() override {
    if (dwarf_ != nullptr) dwarf_end(dwarf_);
    if (elf_ != nullptr) elf_end(elf_);
    if (fd_ >= 0) close(fd_);
    CloseShared();
  }
  DwarfLines(const DwarfLines&) = delete;
  DwarfLines& operator=(const DwarfLines&) = delete;

  SourceLine Find(uint64_t address) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    Dwarf_Die die;
    if (!FindUnit(address, &die)) return {};
    Dwarf_Line* const line = dwarf_getsrc_die(&die, address);
    int number = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0 || number <= 0) return {};
    const char* const file = dwarf_linesrc(line, nullptr, nullptr);
    if (file == nullptr) return {};
    return {file, static_cast<uint32_t>(number)};
  }

 private:
  struct Unit {
    uint64_t start;
    uint64_t end;
    Dwarf_Off die;
  };

  // The file may name another that holds strings for several (.gnu_debugaltlink). libdw would open
  // whatever is named, a pipe too, so the file is opened here. Without it libdw must not look: the
  // file itself stands in, and a few strings are wrong.
  void SetShared(const std::string& path) {
    const char* name = nullptr;
    const void* id = nullptr;
    const ssize_t bytes = dwelf_dwarf_gnu_debugaltlink(dwarf_, &name, &id);
    if (bytes == 0) return;
    if (bytes > 0) {
      const std::string build_id(static_cast<const char*>(id), static_cast<size_t>(bytes));
      const std::string folder = path.substr(0, path.rfind('/') + 1);
      if (!OpenShared(DebugPathOf(build_id), build_id))
        OpenShared(name[0] == '/' ? name : folder + name, build_id);
    }
    dwarf_setalt(dwarf_, shared_dwarf_ != nullptr ? shared_dwarf_ : dwarf_);
  }

  bool OpenShared(const std::string& path, const std::string& build_id) {
    shared_fd_ = codec::OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY);
    if (shared_fd_ >= 0) shared_elf_ = elf_begin(shared_fd_, ELF_C_READ, nullptr);
    const void* id = nullptr;
    const ssize_t bytes =
        shared_elf_ == nullptr || elf_kind(shared_elf_) != ELF_K_ELF || !IsSafeToRead(shared_elf_)
            ? 0
            : dwelf_elf_gnu_build_id(shared_elf_, &id);
    if (bytes > 0 &&
        std::string(static_cast<const char*>(id), static_cast<size_t>(bytes)) == build_id)
      shared_dwarf_ = dwarf_begin_elf(shared_elf_, DWARF_C_READ, nullptr);
    if (shared_dwarf_ == nullptr) CloseShared();
    return shared_dwarf_ != nullptr;
  }

  void CloseShared() {
    if (shared_dwarf_ != nullptr) dwarf_end(shared_dwarf_);
    if (shared_elf_ != nullptr) elf_end(shared_elf_);
    if (shared_fd_ >= 0) close(shared_fd_);
    shared_dwarf_ = nullptr;
    shared_elf_ = nullptr;
    shared_fd_ = -1;
  }

  // Not .debug_aranges, which not every compiler writes.
  void ListUnits() {
    size_t header = 0;
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0; dwarf_nextcu(dwarf_, at, &next, &header, nullptr, nullptr, nullptr) == 0;
         at = next) {
      Dwarf_Die die;
      if (dwarf_offdie(dwarf_, at + header, &die) == nullptr) continue;
      Dwarf_Addr base = 0;
      Dwarf_Addr start = 0;
      Dwarf_Addr end = 0;
      for (ptrdiff_t i = 0; (i = dwarf_ranges(&die, i, &base, &start, &end)) > 0;)
        units_.push_back({start, end, at + header});
    }
    std::sort(units_.begin(), units_.end(),
              [](const Unit& x, const Unit& y) { return x.start < y.start; });
  }

  bool FindUnit(uint64_t address, Dwarf_Die* die) const {
    const auto next =
        std::upper_bound(units_.begin(), units_.end(), address,
                         [](uint64_t value, const Unit& unit) { return value < unit.start; });
    if (next == units_.begin() || address >= std::prev(next)->end) return false;
    return dwarf_offdie(dwarf_, std::prev(next)->die, die) != nullptr;
  }

  std::mutex mutex_;
  int fd_ = -1;
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  int shared_fd_ = -1;
  Elf* shared_elf_ = nullptr;
  Dwarf* shared_dwarf_ = nullptr;
  std::vector<Unit> units_;  // by start
};

}  // namespace

std::shared_ptr<ModuleLines> ModuleLines::Get(const std::string& path) {
  static std::mutex mutex;
  static auto* const opened = new std::map<std::string, std::shared_ptr<ModuleLines>>();
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<ModuleLines>& entry = (*opened)[path];
  if (entry == nullptr) entry = std::make_shared<DwarfLines>(path);
  return entry;
}

}  // namespace gpuprof::analysis
