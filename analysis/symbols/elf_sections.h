// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The sections of one ELF file of a 64-bit little-endian machine. For the readers of symbols and of
// source lines; one thread at a time. The file may be anybody's: each number in it is
// checked against the file's size before it is used. Reads by pread and maps nothing, so a file
// that becomes shorter meanwhile gives an empty section.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proto/codec/open_regular.h"

namespace gpuprof::analysis {

// Bytes of a section, in memory.
struct SectionBytes {
  std::unique_ptr<char[]> data;
  size_t size = 0;
  std::string_view view() const { return {data.get(), size}; }
};

class ElfSections {
 public:
  struct Section {
    std::string name;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint64_t offset = 0;  // in the file, in bytes
    uint64_t size = 0;    // in the file, in bytes
    uint32_t link = 0;    // number of a section that belongs to it
    uint64_t entry_size = 0;
  };

  // Opens the file and reads its list of sections.
  explicit ElfSections(const std::string& path);

  // Returns whether it is an ELF file whose list of sections could be read.
  bool is_elf() const { return is_elf_; }
  int fd() const { return file_.fd(); }
  int error() const { return error_; }  // why the file could not be opened; 0: it could
  const std::vector<Section>& sections() const { return sections_; }
  // Returns the first section of that name or type; null: no section is.
  const Section* Named(std::string_view name) const;
  const Section* OfType(uint32_t type) const;
  // Returns the bytes of a section, unpacked. Empty: the file lacks them, or they are more
  // than any real file has.
  SectionBytes Read(const Section& section) const;
  // Returns the build id in the notes; empty: no note has one.
  std::string BuildId() const;

 private:
  bool ReadList();
  bool ReadAt(uint64_t offset, void* to, uint64_t size) const;

  codec::OwnedFile file_;
  int error_ = 0;
  uint64_t file_size_ = 0;
  bool is_elf_ = false;
  std::vector<Section> sections_;
};

}  // namespace gpuprof::analysis
