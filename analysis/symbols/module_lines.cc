// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See module_lines.h.

#include "analysis/symbols/module_lines.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/symbols/elf_sections.h"
#include "analysis/symbols/line_program.h"
#include "analysis/symbols/unit_folders.h"

namespace gpuprof::analysis {
namespace {

// Rows that are kept in memory; beyond them the programs are run again.
constexpr size_t kMostKeptRows = size_t{1} << 22;

class DwarfLines : public ModuleLines {
 public:
  explicit DwarfLines(const std::string& path) {
    const ElfSections file(path);
    const auto read = [&file](std::string_view name) {
      const ElfSections::Section* const section = file.Named(name);
      return section == nullptr ? SectionBytes() : file.Read(*section);
    };
    lines_ = read(".debug_line");
    if (lines_.size == 0) return;
    texts_ = read(".debug_str");
    line_texts_ = read(".debug_line_str");
    format_.texts = texts_.view();
    format_.line_texts = line_texts_.view();
    if (ListSequences()) {
      const SectionBytes info = read(".debug_info");
      const SectionBytes abbreviations = read(".debug_abbrev");
      folders_ = UnitFolders(info.view(), abbreviations.view(), format_);
    }
  }

  SourceLine Find(uint64_t address) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto next = std::upper_bound(
        sequences_.begin(), sequences_.end(), address,
        [](uint64_t value, const Sequence& sequence) { return value < sequence.start; });
    if (next == sequences_.begin() || address >= std::prev(next)->end) return {};
    const uint64_t offset = std::prev(next)->program;
    const std::vector<LineProgram::Row>& rows = RowsOf(*std::prev(next));
    const auto behind = std::upper_bound(
        rows.begin(), rows.end(), address,
        [](uint64_t value, const LineProgram::Row& row) { return value < row.address; });
    if (behind == rows.begin() || std::prev(behind)->line == 0) return {};
    const auto folder = folders_.find(offset);
    const LineProgram program(lines_.view(), offset, format_);
    std::string name =
        program.FileName(std::prev(behind)->file, folder == folders_.end() ? "" : folder->second);
    if (name.empty()) return {};
    return {std::move(name), std::prev(behind)->line};
  }

 private:
  // A piece of code without a gap.
  struct Sequence {
    uint64_t start;
    uint64_t end;
    uint64_t program;  // offset in .debug_line
  };

  // Returns whether a program needs the folder of its unit.
  bool ListSequences() {
    bool needs_folders = false;
    uint64_t at = 0;
    do {
      const LineProgram program(lines_.view(), at, format_);
      needs_folders = needs_folders || program.version() < 5;
      program.Run([&](const std::vector<LineProgram::Row>& rows, uint64_t end) {
        // Linkers leave 0 where they removed the code.
        if (rows.front().address != 0) sequences_.push_back({rows.front().address, end, at});
      });
      at = program.next();
    } while (at != 0);
    std::sort(sequences_.begin(), sequences_.end(),
              [](const Sequence& x, const Sequence& y) { return x.start < y.start; });
    return needs_folders;
  }

  const std::vector<LineProgram::Row>& RowsOf(const Sequence& wanted) {
    const auto key = std::make_pair(wanted.program, wanted.start);
    if (const auto found = rows_.find(key); found != rows_.end()) return found->second;
    if (kept_ > kMostKeptRows) {
      rows_.clear();
      kept_ = 0;
    }
    const LineProgram program(lines_.view(), wanted.program, format_);
    program.Run([&](const std::vector<LineProgram::Row>& rows, uint64_t) {
      std::vector<LineProgram::Row>& kept =
          rows_[std::make_pair(wanted.program, rows.front().address)];
      kept_ += rows.size();
      kept = rows;
    });
    return rows_[key];
  }

  std::mutex mutex_;
  SectionBytes lines_, texts_, line_texts_;
  DwarfFormat format_;
  std::vector<Sequence> sequences_;          // by start
  std::map<uint64_t, std::string> folders_;  // by program
  // By program and start of the sequence.
  std::map<std::pair<uint64_t, uint64_t>, std::vector<LineProgram::Row>> rows_;
  size_t kept_ = 0;
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
