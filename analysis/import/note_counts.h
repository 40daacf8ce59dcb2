// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counts what an importer could not read or join, with the first example of each kind.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/import_note.h"

namespace gpuprof::analysis::import {

class NoteCounts {
 public:
  // Adds to a note. A note with the count 0 is shown, too: no event was lost.
  void Add(ImportNoteKind kind, std::string_view example, uint64_t count = 1);
  uint64_t count(ImportNoteKind kind) const { return notes_[static_cast<int>(kind)].count; }
  std::vector<ImportNote> Take() const;

 private:
  struct Note {
    bool is_there = false;
    uint64_t count = 0;
    std::string example;
  };
  std::array<Note, kImportNoteKinds> notes_;
};

}  // namespace gpuprof::analysis::import
