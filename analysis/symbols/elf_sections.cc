// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See elf_sections.h.

#include "analysis/symbols/elf_sections.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace gpuprof::analysis {
namespace {

// No section of a real file that is read here comes near.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
// A file compiled with one section a function has some hundred thousand.
constexpr uint64_t kMostSections = 4'000'000;

std::string NameAt(const SectionBytes& names, uint32_t at) {
  if (at >= names.size) return "";
  const std::string_view rest = names.view().substr(at);
  return std::string(rest.substr(0, rest.find('\0')));
}

SectionBytes Allocate(uint64_t size) {
  return {std::make_unique_for_overwrite<char[]>(size), size};
}

// Unpacks what zlib packed. Returns nothing unless the size is as told.
SectionBytes Unpack(std::string_view packed, uint64_t size) {
  SectionBytes bytes = Allocate(size);
  uLongf written = size;
  const int result = uncompress(reinterpret_cast<Bytef*>(bytes.data.get()), &written,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (result != Z_OK || written != size) return {};
  return bytes;
}

}  // namespace

ElfSections::ElfSections(const std::string& path) {
  struct stat status;
  file_ = codec::OwnedFile(codec::OpenRegular(AT_FDCWD, path.c_str(), O_RDONLY, &status));
  if (file_.fd() < 0) {
    error_ = errno;
    return;
  }
  file_size_ = static_cast<uint64_t>(status.st_size);
  is_elf_ = ReadList();
  if (!is_elf_) sections_.clear();
}

bool ElfSections::ReadAt(uint64_t offset, void* to, uint64_t size) const {
  if (offset > file_size_ || size > file_size_ - offset) return false;
  for (uint64_t done = 0; done < size;) {
    const ssize_t got = pread(file_.fd(), static_cast<char*>(to) + done, size - done,
                              static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<uint64_t>(got);
  }
  return true;
}

bool ElfSections::ReadList() {
  Elf64_Ehdr header;
  if (!ReadAt(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return false;
  }
  if (header.e_shoff == 0) return true;  // a program needs no sections
  Elf64_Shdr first;
  if (header.e_shentsize != sizeof first || !ReadAt(header.e_shoff, &first, sizeof first))
    return false;
  // The first section holds the numbers that are too large for the header.
  const uint64_t count = header.e_shnum != 0 ? header.e_shnum : first.sh_size;
  const uint64_t names_at = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first.sh_link;
  if (count == 0 || count > kMostSections || names_at >= count) return false;
  std::vector<Elf64_Shdr> headers;
  if (count > file_size_ / sizeof first) return false;
  headers.resize(count);
  if (!ReadAt(header.e_shoff, headers.data(), count * sizeof first)) return false;
  for (const Elf64_Shdr& one : headers) {
    sections_.push_back(
        {"", one.sh_type, one.sh_flags, one.sh_offset, one.sh_size, one.sh_link, one.sh_entsize});
  }
  const SectionBytes names = Read(sections_[names_at]);
  for (size_t i = 0; i < headers.size(); ++i) sections_[i].name = NameAt(names, headers[i].sh_name);
  return true;
}

const ElfSections::Section* ElfSections::Named(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSections::Section* ElfSections::OfType(uint32_t type) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section& section) { return section.type == type; });
  return found == sections_.end() ? nullptr : &*found;
}

SectionBytes ElfSections::Read(const Section& section) const {
  // Memory is taken only for bytes that the file has.
  if (section.type == SHT_NOBITS || section.size == 0 || section.size > kMostBytes ||
      section.offset > file_size_ || section.size > file_size_ - section.offset) {
    return {};
  }
  SectionBytes bytes = Allocate(section.size);
  if (!ReadAt(section.offset, bytes.data.get(), section.size)) return {};
  if ((section.flags & SHF_COMPRESSED) == 0) return bytes;
  Elf64_Chdr header;
  if (bytes.size < sizeof header) return {};
  std::memcpy(&header, bytes.data.get(), sizeof header);
  if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size == 0 || header.ch_size > kMostBytes)
    return {};
  return Unpack(bytes.view().substr(sizeof header), header.ch_size);
}

std::string ElfSections::BuildId() const {
  for (const Section& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    const SectionBytes bytes = Read(section);
    const auto rounded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
    Elf64_Nhdr note;
    for (uint64_t at = 0; at + sizeof note <= bytes.size;) {
      std::memcpy(&note, bytes.data.get() + at, sizeof note);
      const uint64_t name = at + sizeof note;
      const uint64_t text = name + rounded(note.n_namesz);
      if (text + note.n_descsz > bytes.size) break;
      if (note.n_type == NT_GNU_BUILD_ID &&
          bytes.view().substr(name, note.n_namesz) == std::string_view("GNU\0", 4))
        return std::string(bytes.view().substr(text, note.n_descsz));
      at = text + rounded(note.n_descsz);
    }
  }
  return "";
}

}  // namespace gpuprof::analysis
