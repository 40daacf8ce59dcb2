// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Members of a zip archive, listed and inflated by minizip. One thread an object.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/import/byte_source.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

struct ZipMember {
  std::string name;  // with folders before it
  uint64_t at = 0;   // its place in the archive's list
  uint64_t bytes = 0;
  bool is_encrypted = false;
};

// Returns whether a file begins as a zip archive does.
bool BeginsAsZip(std::string_view bytes);

// Lists the files in an archive, without folders and what file managers add. Error: this is not a
// zip archive, or its list is damaged.
Result<std::vector<ZipMember>> ListZip(const codec::InputPath& path);

// Opens a member of an archive. The source fails if the member is cut, damaged or much larger than
// its compressed bytes.
Result<std::unique_ptr<ByteSource>> OpenZipMember(const codec::InputPath& path,
                                                  const ZipMember& member);

}  // namespace gpuprof::analysis::import
