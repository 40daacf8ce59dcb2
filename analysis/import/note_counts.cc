// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See note_counts.h.

#include "analysis/import/note_counts.h"

namespace gpuprof::analysis::import {

void NoteCounts::Add(ImportNoteKind kind, std::string_view example, uint64_t count) {
  constexpr size_t kMostChars = 120;
  Note& note = notes_[static_cast<int>(kind)];
  if (!note.is_there) note.example = example.substr(0, kMostChars);
  note.is_there = true;
  note.count += count;
}

std::vector<ImportNote> NoteCounts::Take() const {
  std::vector<ImportNote> out;
  for (int i = 0; i < kImportNoteKinds; ++i) {
    if (notes_[i].is_there)
      out.push_back({static_cast<ImportNoteKind>(i), notes_[i].count, notes_[i].example});
  }
  return out;
}

}  // namespace gpuprof::analysis::import
