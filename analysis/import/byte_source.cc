// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See byte_source.h.

#include "analysis/import/byte_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gpuprof::analysis::import {

Result<size_t> MemorySource::Read(char* to, size_t most) {
  const size_t bytes = std::min({most, piece_, bytes_.size()});
  if (bytes != 0) std::memcpy(to, bytes_.data(), bytes);
  bytes_.remove_prefix(bytes);
  return bytes;
}

Result<std::unique_ptr<FileSource>> FileSource::Open(const codec::InputPath& path) {
  Result<std::unique_ptr<RandomBytes>> file = FileBytesAt::Open(path);
  if (!file.ok()) return file.error();
  return std::unique_ptr<FileSource>(new FileSource(std::move(*file)));
}

Result<size_t> FileSource::Read(char* to, size_t most) {
  Result<size_t> got = file_->ReadAt(at_, to, most);
  if (got.ok()) at_ += *got;
  return got;
}

}  // namespace gpuprof::analysis::import
