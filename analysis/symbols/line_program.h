// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One program of .debug_line, versions 2 to 5: it says which instructions belong to which line. For
// module_lines.cc; one thread. The bytes may be anybody's: a program that makes no sense has the
// rows up to there.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/symbols/dwarf_forms.h"
#include "analysis/symbols/dwarf_reader.h"

namespace gpuprof::analysis {

class LineProgram {
 public:
  struct Row {
    uint64_t address;
    uint32_t file;
    uint32_t line;
  };

  // Reads the header at an offset of `section`. `format` has the sections of texts.
  LineProgram(std::string_view section, uint64_t offset, DwarfFormat format);

  // Returns the offset of the next program; 0: it is the last one.
  uint64_t next() const { return next_; }
  uint16_t version() const { return format_.version; }
  // Runs the program. `sequence` gets the rows of one piece of code, with rising addresses, and the
  // address behind the piece.
  void Run(const std::function<void(const std::vector<Row>& rows, uint64_t end)>& sequence) const;
  // Returns the name of a row's file with its folder. `unit_folder` is the compiler's own folder.
  std::string FileName(uint32_t file, const std::string& unit_folder) const;

 private:
  struct File {
    std::string_view name;
    uint64_t folder = 0;
  };
  bool ReadHeader(std::string_view section, uint64_t offset);
  void ReadOldLists(DwarfReader* reader);
  void ReadLists(DwarfReader* reader);

  DwarfFormat format_;
  uint64_t next_ = 0;
  uint8_t least_instruction_ = 1, most_operations_ = 1, line_range_ = 1, first_special_ = 1;
  int8_t line_base_ = 0;
  std::string_view operand_counts_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::string_view program_;
};

}  // namespace gpuprof::analysis
