// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One file of another tool: a file itself, or a member of a zip archive. Any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/import/byte_source.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/zip_file.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

struct ForeignFile {
  codec::InputPath path;
  std::string shown;  // tells the file from others of its recording
  ZipMember member;   // without a name: the file itself

  bool is_member() const { return !member.name.empty(); }
  // Returns how errors name the file.
  std::string Title() const { return is_member() ? path.path + ": " + member.name : path.path; }
};

// Returns a file by its path, shown by its name alone.
ForeignFile FileAt(const codec::InputPath& path);
// Returns a member of an archive, shown by its name.
ForeignFile MemberOf(const codec::InputPath& path, ZipMember member);

// Returns the size of the file, or of its archive; 0: it is not known.
uint64_t SizeOf(const ForeignFile& file);

// Opens the bytes of the file as they are.
Result<std::unique_ptr<ByteSource>> OpenSource(const ForeignFile& file);

// Returns the beginning of the file, inflated: at most `most` bytes. `error`: why there are no
// more; may be null.
std::string BeginningOf(const ForeignFile& file, size_t most, Error* error = nullptr);

// Opens a file whose parts are read in any order. A compressed one, and a member of an archive, is
// inflated into memory, to at most `most` bytes. `is_damaged`: its end is missing or cannot be
// inflated.
Result<std::unique_ptr<RandomBytes>> OpenRandomBytes(const ForeignFile& file, uint64_t most,
                                                     bool* is_damaged);

}  // namespace gpuprof::analysis::import
