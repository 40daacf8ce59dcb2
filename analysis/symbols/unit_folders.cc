// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See unit_folders.h. The numbers are those of DWARF 5, section 7.5.

#include "analysis/symbols/unit_folders.h"

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kStatementList = 0x10, kCompilationFolder = 0x1b;
constexpr uint64_t kImplicitConst = 0x21;
enum UnitKind : uint8_t { kType = 2, kSkeleton = 4, kSplitCompile = 5, kSplitType = 6 };

// Goes to the attributes of an abbreviation. Returns false if it is not there.
bool FindAbbreviation(uint64_t wanted, DwarfReader* reader) {
  while (reader->ok()) {
    const uint64_t code = reader->Unsigned();
    if (code == 0) return false;
    reader->Unsigned();  // the tag
    reader->Skip(1);     // whether it has children
    if (code == wanted) return reader->ok();
    for (;;) {
      const uint64_t name = reader->Unsigned();
      const uint64_t form = reader->Unsigned();
      if (form == kImplicitConst) reader->Signed();
      if ((name == 0 && form == 0) || !reader->ok()) break;
    }
  }
  return false;
}

struct Unit {
  bool has_lines = false;
  uint64_t lines = 0;  // offset in .debug_line
  std::string_view folder;
};

Unit ReadUnit(DwarfReader reader, std::string_view abbreviations, DwarfFormat format) {
  format.version = reader.Number<uint16_t>();
  if (format.version < 2 || format.version > 5) return {};
  uint64_t abbreviations_at = 0;
  if (format.version >= 5) {
    const uint8_t kind = reader.Number<uint8_t>();
    format.address_size = reader.Number<uint8_t>();
    abbreviations_at = reader.Offset(format.is_large);
    if (kind == kSkeleton || kind == kSplitCompile) reader.Skip(8);
    if (kind == kType || kind == kSplitType) reader.Skip(format.is_large ? 16 : 12);
  } else {
    abbreviations_at = reader.Offset(format.is_large);
    format.address_size = reader.Number<uint8_t>();
  }
  DwarfReader attributes(abbreviations, abbreviations_at);
  if (!FindAbbreviation(reader.Unsigned(), &attributes)) return {};
  Unit unit;
  while (attributes.ok() && reader.ok()) {
    const uint64_t name = attributes.Unsigned();
    const uint64_t form = attributes.Unsigned();
    if (form == kImplicitConst) attributes.Signed();
    if (name == 0) break;
    const DwarfValue value = ReadForm(form, format, &reader);
    if (!value.is_known) break;
    if (name == kCompilationFolder) unit.folder = value.text;
    if (name == kStatementList) {
      unit.has_lines = true;
      unit.lines = value.number;
    }
  }
  return unit;
}

}  // namespace

std::map<uint64_t, std::string> UnitFolders(std::string_view info, std::string_view abbreviations,
                                            DwarfFormat format) {
  std::map<uint64_t, std::string> folders;
  DwarfReader reader(info);
  while (reader.ok() && reader.left() != 0) {
    const uint64_t length = reader.Length(&format.is_large);
    const Unit unit = ReadUnit(reader.Part(length), abbreviations, format);
    if (unit.has_lines && !unit.folder.empty()) folders.emplace(unit.lines, unit.folder);
  }
  return folders;
}

}  // namespace gpuprof::analysis
