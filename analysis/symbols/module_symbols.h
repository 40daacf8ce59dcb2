// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The function symbols of one ELF file, found by path and checked by build id. For
// the symbolizer; Get may be called on any thread, the object is const afterwards. Reads files by
// pread (no mapping: a file replaced by a package manager meanwhile must not end this program).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace gpuprof::analysis {

class ElfSections;

// A module's file, as recorded, and where to look for it.
struct ModuleFile {
  std::string path;
  std::string build_id;
  // A file without a build id is refused if it was written later, in ns since 1970: it may be
  // another build. 0: no limit is known.
  int64_t newest_ns = 0;
  // The path is looked for under each of these folders, in this order. "": at the path itself.
  std::vector<std::string> roots = {""};
  bool operator<(const ModuleFile& other) const {
    return std::tie(path, build_id, newest_ns, roots) <
           std::tie(other.path, other.build_id, other.newest_ns, other.roots);
  }
};

class ModuleSymbols {
 public:
  // Loads the table, or finds it among those loaded before. Never null; an object without symbols
  // says why in note(). A file of another build is refused, and note() says so.
  static std::shared_ptr<const ModuleSymbols> Get(ModuleFile file);

  // The function that contains an ELF virtual address; null: none known.
  const char* Find(uint64_t address, uint64_t* start) const;

  const std::string& note() const { return note_; }
  // Returns whether no file was found under any of the roots.
  bool is_missing() const { return is_missing_; }
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
  void Load(const ModuleFile& file);
  // Returns why the file under `root` is refused; empty: its table was loaded, or has no names.
  std::string LoadUnder(const std::string& root, const ModuleFile& file);
  void LoadTables(const std::string& root, const ModuleFile& file, const ElfSections& elf);
  bool LoadTable(const ElfSections& elf, uint32_t section_type);
  bool LoadDebugFile(const std::string& path, const std::string& build_id);
  void Sort();

  std::vector<Symbol> symbols_;    // by start, one an address
  std::unique_ptr<char[]> names_;  // the string table as in the file
  std::string note_;
  std::string file_;
  bool is_missing_ = false;
};

// Returns whether a file of that path, or its separate debug file, is under one of the roots.
bool IsSomewhere(const ModuleFile& file);

// The GNU build id of an ELF file; empty where there is none or the file cannot be read.
std::string BuildIdOfFile(const std::string& path);

// Where a separate debug file of that build id would be.
std::string DebugPathOf(const std::string& build_id);

}  // namespace gpuprof::analysis
