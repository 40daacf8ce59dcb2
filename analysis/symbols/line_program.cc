// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See line_program.h. The numbers are those of DWARF 5, section 6.2.

#include "analysis/symbols/line_program.h"

#include <algorithm>
#include <utility>

namespace gpuprof::analysis {
namespace {

// Codes of one byte.
enum Standard : uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};
enum Extended : uint8_t { kEndSequence = 1, kSetAddress = 2 };
enum Content : uint64_t { kPath = 1, kFolder = 2 };

// A unit of a real program has some hundred thousand. More would only take memory.
constexpr size_t kMostRows = size_t{1} << 24;

std::string Join(std::string_view folder, std::string_view name) {
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  return std::string(folder) + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

// Numbers that no table has become 0, which is none.
uint32_t Small(uint64_t value) { return value > UINT32_MAX ? 0 : static_cast<uint32_t>(value); }

struct State {
  uint64_t address = 0;
  uint64_t operation = 0;
  uint64_t file = 1;
  uint64_t line = 1;
};

}  // namespace

LineProgram::LineProgram(std::string_view section, uint64_t offset, DwarfFormat format)
    : format_(std::move(format)) {
  if (!ReadHeader(section, offset)) program_ = "";
}

bool LineProgram::ReadHeader(std::string_view section, uint64_t offset) {
  DwarfReader whole(section, offset);
  const uint64_t length = whole.Length(&format_.is_large);
  const uint64_t start = whole.at();
  DwarfReader reader = whole.Part(length);
  if (!whole.ok()) return false;
  if (whole.left() != 0) next_ = start + length;
  format_.version = reader.Number<uint16_t>();
  if (format_.version < 2 || format_.version > 5) return false;
  if (format_.version >= 5) {
    format_.address_size = reader.Number<uint8_t>();
    reader.Skip(1);  // the size of a segment's number
  }
  const uint64_t header_length = reader.Offset(format_.is_large);
  const uint64_t header_end = reader.at() + header_length;
  if (header_length > reader.left()) return false;
  least_instruction_ = reader.Number<uint8_t>();
  if (format_.version >= 4) most_operations_ = std::max<uint8_t>(reader.Number<uint8_t>(), 1);
  reader.Skip(1);  // whether a row begins a statement
  line_base_ = reader.Number<int8_t>();
  line_range_ = reader.Number<uint8_t>();
  first_special_ = reader.Number<uint8_t>();
  if (line_range_ == 0 || first_special_ == 0) return false;
  operand_counts_ =
      section.substr(std::min<uint64_t>(start + reader.at(), section.size()), first_special_ - 1u);
  reader.Skip(first_special_ - 1u);
  if (format_.version >= 5) {
    ReadLists(&reader);
  } else {
    ReadOldLists(&reader);
  }
  if (!reader.ok()) return false;
  program_ = section.substr(start + header_end, length - header_end);
  return true;
}

// Folder 0 is the unit's, and file 0 does not exist.
void LineProgram::ReadOldLists(DwarfReader* reader) {
  folders_.emplace_back();
  for (std::string_view name = reader->Text(); !name.empty(); name = reader->Text())
    folders_.push_back(name);
  files_.emplace_back();
  for (std::string_view name = reader->Text(); !name.empty(); name = reader->Text()) {
    files_.push_back({name, reader->Unsigned()});
    reader->Unsigned();  // its time
    reader->Unsigned();  // its size
  }
}

void LineProgram::ReadLists(DwarfReader* reader) {
  for (const bool is_folders : {true, false}) {
    std::vector<std::pair<uint64_t, uint64_t>> fields(reader->Number<uint8_t>());
    for (auto& [content, form] : fields) {
      content = reader->Unsigned();
      form = reader->Unsigned();
    }
    const uint64_t count = reader->Unsigned();
    for (uint64_t i = 0; i < count && reader->ok(); ++i) {
      const uint64_t before = reader->at();
      File file;
      for (const auto& [content, form] : fields) {
        const DwarfValue value = ReadForm(form, format_, reader);
        if (!value.is_known) {
          reader->Skip(reader->left() + 1);  // nothing behind it can be read
          return;
        }
        if (content == kPath) file.name = value.text;
        if (content == kFolder) file.folder = value.number;
      }
      if (reader->at() == before) return;  // entries without bytes could be any number
      if (is_folders) {
        folders_.push_back(file.name);
      } else {
        files_.push_back(file);
      }
    }
  }
}

void LineProgram::Run(
    const std::function<void(const std::vector<Row>& rows, uint64_t end)>& sequence) const {
  DwarfReader reader(program_);
  State state;
  std::vector<Row> rows;
  const auto advance = [&](uint64_t operations) {
    const uint64_t total = state.operation + operations;
    state.address += least_instruction_ * (total / most_operations_);
    state.operation = total % most_operations_;
  };
  const auto add = [&] {
    // Code only goes forward within a sequence.
    if (rows.size() < kMostRows && (rows.empty() || rows.back().address <= state.address))
      rows.push_back({state.address, Small(state.file), Small(state.line)});
  };
  while (reader.left() != 0) {
    const uint8_t code = reader.Number<uint8_t>();
    if (code >= first_special_) {
      const unsigned special = code - first_special_;
      advance(special / line_range_);
      state.line += static_cast<uint64_t>(line_base_ + static_cast<int>(special % line_range_));
      add();
      continue;
    }
    switch (code) {
      case kExtended: {
        DwarfReader part = reader.Part(reader.Unsigned());
        const uint8_t extended = part.Number<uint8_t>();
        if (extended == kSetAddress) {
          state.address = part.left() >= 8 ? part.Number<uint64_t>() : part.Number<uint32_t>();
          state.operation = 0;
        } else if (extended == kEndSequence) {
          if (!rows.empty() && rows.back().address < state.address) sequence(rows, state.address);
          rows.clear();
          state = {};
        }
        break;
      }
      case kCopy:
        add();
        break;
      case kAdvancePc:
        advance(reader.Unsigned());
        break;
      case kAdvanceLine:
        state.line += static_cast<uint64_t>(reader.Signed());
        break;
      case kSetFile:
        state.file = reader.Unsigned();
        break;
      case kConstAddPc:
        advance((255u - first_special_) / line_range_);
        break;
      case kFixedAdvancePc:
        state.address += reader.Number<uint16_t>();
        state.operation = 0;
        break;
      default:
        for (int i = 0; i < static_cast<uint8_t>(operand_counts_[code - 1u]); ++i)
          reader.Unsigned();
    }
  }
}

std::string LineProgram::FileName(uint32_t file, const std::string& unit_folder) const {
  if (file >= files_.size() || files_[file].name.empty()) return "";
  const std::string_view folder =
      files_[file].folder < folders_.size() ? folders_[files_[file].folder] : "";
  // From version 5 on folder 0 is the unit's own.
  const std::string base =
      unit_folder.empty() && !folders_.empty() ? std::string(folders_[0]) : unit_folder;
  return Join(Join(base, folder), files_[file].name);
}

}  // namespace gpuprof::analysis
