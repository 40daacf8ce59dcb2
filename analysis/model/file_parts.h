// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is there of the files of a bundle. A report carries parts of a bundle that is too large:
// all tables and headers, and some blocks of rows.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuprof::analysis {

struct FilePart {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct FileParts {
  // No row is read: blocks are known by their headers.
  bool has_no_rows = false;
  // By the file's name, by offset. A file without an entry is whole.
  std::map<std::string, std::vector<FilePart>> files;

  // Returns whether a stretch of a file is there as a whole.
  bool Has(const std::string& file, uint64_t offset, uint64_t bytes) const {
    const auto found = files.find(file);
    if (found == files.end()) return true;
    const std::vector<FilePart>& parts = found->second;
    const auto after =
        std::upper_bound(parts.begin(), parts.end(), offset,
                         [](uint64_t at, const FilePart& part) { return at < part.offset; });
    if (after == parts.begin()) return false;
    const FilePart& part = *(after - 1);
    return offset - part.offset <= part.bytes && bytes <= part.bytes - (offset - part.offset);
  }
};

}  // namespace gpuprof::analysis
