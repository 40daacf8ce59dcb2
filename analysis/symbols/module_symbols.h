// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The function symbols of one ELF file, found on this machine by path and checked by build id. For
// the symbolizer; Get may be called on any thread, the object is const afterwards. Reads files with
// libelf and pread (no mapping: a file replaced by a package manager meanwhile must not end this
// program).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof::analysis {

class ModuleSymbols {
 public:
  // Loads the table, or finds it among those loaded before. Never null; an object without symbols
  // says why in note(). A file without a build id is refused if it was written after `newest_ns`,
  // in ns since 1970: it may be another build. 0: no limit is known.
  static std::shared_ptr<const ModuleSymbols> Get(const std::string& path,
                                                  const std::string& build_id,
                                                  int64_t newest_ns = 0);

  // The function that contains an ELF virtual address; null: none known.
  const char* Find(uint64_t address, uint64_t* start) const;

  const std::string& note() const { return note_; }
  // Where the table was read from: the module or its debug file. Empty: from nowhere.
  const std::string& file() const { return file_; }
  size_t size() const { return symbols_.size(); }

 private:
  struct Symbol {
    uint64_t start;
    uint64_t size;
    uint32_t name;  // offset in names_
    uint8_t rank;   // smaller is the better name of two at one address
  };
  void Load(const std::string& path, const std::string& build_id, int64_t newest_ns);
  bool LoadTable(int fd, void* elf, uint32_t section_type);  // Elf*
  bool ReadNames(int fd, uint64_t offset, uint64_t bytes);
  bool LoadDebugFile(const std::string& path, const std::string& build_id);
  void Sort();

  std::vector<Symbol> symbols_;    // by start, one an address
  std::unique_ptr<char[]> names_;  // the string table as in the file, with a zero behind
  std::string note_;
  std::string file_;
};

// The GNU build id of an ELF file; empty where there is none or the file cannot be read.
std::string BuildIdOfFile(const std::string& path);

// Where a separate debug file of that build id would be.
std::string DebugPathOf(const std::string& build_id);

// The readable form of a symbol's name: demangled, without its version.
std::string Demangle(const char* name);

}  // namespace gpuprof::analysis
