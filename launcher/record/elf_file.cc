// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See elf_file.h. 64-bit little-endian files are read in full; of others only class and type are
// told.

#include "launcher/record/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launcher/base/values.h"
#include "proto/watching_tools.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostHeaders = 4096;
constexpr size_t kMostText = 1 << 20;
constexpr uint64_t kMostNames = 16 << 20;

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return fd_ >= 0; }
  bool Read(uint64_t offset, void* to, size_t bytes) const {
    if (offset > INT64_MAX - bytes) return false;
    char* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = pread(fd_, at, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }
  // A zero-terminated text of at most kMostText bytes.
  std::string Text(uint64_t offset, uint64_t most) const {
    std::string text(std::min<uint64_t>(most, kMostText), 0);
    const ssize_t got =
        offset > INT64_MAX ? -1 : pread(fd_, text.data(), text.size(), static_cast<off_t>(offset));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text.substr(0, text.find('\0'));
  }

 private:
  int fd_;
};

uint64_t FileOffset(const std::vector<Elf64_Phdr>& segments, uint64_t address, uint64_t* left) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr ||
        address - segment.p_vaddr >= segment.p_filesz)
      continue;
    *left = segment.p_filesz - (address - segment.p_vaddr);
    return segment.p_offset + (address - segment.p_vaddr);
  }
  *left = 0;
  return 0;
}

std::string ReplaceOrigin(std::string entry, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  for (const char* word : {"${ORIGIN}", "$ORIGIN"}) {
    for (size_t at = 0; (at = entry.find(word, at)) != std::string::npos; at += folder.size()) {
      entry.replace(at, std::strlen(word), folder);
    }
  }
  return entry;
}

// Whether the names that the loader sees have one of a runtime that comes up only as the first
// library.
bool HasIntolerantSanitizer(const File& file, const std::vector<Elf64_Phdr>& segments,
                            uint64_t table, uint64_t bytes) {
  uint64_t left = 0;
  const uint64_t offset = FileOffset(segments, table, &left);
  std::string names(std::min<uint64_t>({bytes, left, kMostNames}), 0);
  if (offset == 0 || !file.Read(offset, names.data(), names.size())) return false;
  for (const char* function : proto::kIntolerantFunctions) {
    const std::string whole = std::string(1, '\0') + function + '\0';
    if (names.find(whole) != std::string::npos) return true;
  }
  return false;
}

void ReadDynamic(const File& file, const std::vector<Elf64_Phdr>& segments,
                 const Elf64_Phdr& dynamic, const std::string& path, ElfFile* elf) {
  std::vector<Elf64_Dyn> entries(
      std::min<uint64_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), kMostHeaders));
  if (!file.Read(dynamic.p_offset, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return;
  uint64_t table = 0;
  uint64_t table_bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) table_bytes = entry.d_un.d_val;
  }
  elf->has_intolerant_sanitizer = HasIntolerantSanitizer(file, segments, table, table_bytes);
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH &&
        entry.d_tag != DT_SONAME)
      continue;
    uint64_t left = 0;
    const uint64_t offset = FileOffset(segments, table + entry.d_un.d_val, &left);
    const std::string text = file.Text(offset, left);
    if (entry.d_tag == DT_SONAME) {
      elf->library_name = text;
      continue;
    }
    if (entry.d_tag == DT_NEEDED) {
      elf->needed.push_back(text);
      continue;
    }
    for (const std::string& folder : Split(text, ':'))
      elf->search_path.push_back(ReplaceOrigin(folder, path));
  }
}

}  // namespace

uint16_t OwnMachine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#else
  return EM_NONE;
#endif
}

std::string ReadElf(const std::string& path, ElfFile* elf) {
  *elf = ElfFile{};
  const File file(path);
  if (!file.is_open()) return path + " cannot be read: " + std::strerror(errno);
  Elf64_Ehdr header;
  if (!file.Read(0, &header, sizeof(Elf32_Ehdr)) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return "";
  elf->is_elf = true;
  elf->is_64_bit = header.e_ident[EI_CLASS] == ELFCLASS64;
  elf->machine = header.e_machine;
  elf->is_executable_type = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  const bool readable = elf->is_64_bit && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                        file.Read(0, &header, sizeof header);
  if (!readable || header.e_phentsize != sizeof(Elf64_Phdr)) return "";
  std::vector<Elf64_Phdr> segments(std::min<size_t>(header.e_phnum, kMostHeaders));
  if (!file.Read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return "";
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_INTERP)
      elf->interpreter = file.Text(segment.p_offset, segment.p_filesz);
    if (segment.p_type == PT_DYNAMIC) ReadDynamic(file, segments, segment, path, elf);
  }
  return "";
}

}  // namespace gpuprof::launcher
