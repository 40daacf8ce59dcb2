// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Chooses what a report carries of a bundle that is too large: all tables and headers, and the
// blocks of rows in some steps. The page knows the other blocks by their headers: how many rows
// they have, and when. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/file_parts.h"
#include "analysis/read/placed_files.h"
#include "analysis/steps/interval.h"
#include "proto/bundle_parts.pb.h"

namespace gpuprof::analysis {

class KeptParts {
 public:
  // Opens the bundle at a path. Returns an error if it cannot be read any more.
  static Error Open(const codec::InputPath& path, std::unique_ptr<KeptParts>* parts);

  // Returns the first and the last moment of all rows.
  Interval Whole() const;
  // Returns stretches in the middle of this time, each twice as long as the one before.
  std::vector<Interval> MiddleStretches() const;
  // Adds the blocks with rows in a stretch, if the base64 text of all parts is not longer than
  // `room` bytes then. Returns whether it did.
  bool Keep(Interval window, uint64_t room);
  // Returns the parts of a file that are kept, by their offset.
  std::vector<FilePart> PartsOf(std::string_view file) const;
  // Returns what parts.pb has for the page's engine (proto/bundle_parts.proto).
  proto::BundleParts Message() const;
  // Returns the length of the base64 text of all parts.
  uint64_t TextBytes() const;
  // Returns how many rows are in blocks that are not kept.
  uint64_t LeftOutRows() const;

 private:
  struct Block {
    int64_t first_ns = 0, last_ns = 0;
    uint64_t rows = 0;
    FilePart part;
    bool is_kept = false;
  };
  struct File {
    std::string name;
    uint64_t size = 0;
    std::vector<FilePart> always;  // all but the frames of rows
    std::vector<Block> blocks;
  };

  void Add(const TraceFile& file);
  static std::vector<FilePart> PartsOf(const File& file);

  std::vector<File> files_;
};

}  // namespace gpuprof::analysis
