// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See foreign_file.h.

#include "analysis/import/foreign_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "analysis/base/units.h"
#include "analysis/import/inflating_source.h"

namespace gpuprof::analysis::import {
namespace {

Result<std::unique_ptr<RandomBytes>> Inflate(const ForeignFile& file, uint64_t most,
                                             bool* is_damaged) {
  Result<std::unique_ptr<ByteSource>> inner = OpenSource(file);
  if (!inner.ok()) return inner.error();
  InflatingSource source(inner->get(), file.Title());
  std::string bytes;
  while (true) {
    constexpr size_t kPiece = 4 << 20;
    const size_t before = bytes.size();
    if (before > most) {
      return Unreadable(file.Title() + ": inflated, it takes more memory than " +
                        FormatBytes(most) + ", the most for a file of this size. If you trust " +
                        "it, inflate it yourself and read the result");
    }
    bytes.resize(before + kPiece);
    Result<size_t> got = source.Read(bytes.data() + before, kPiece);
    if (!got.ok()) return got.error();
    bytes.resize(before + *got);
    if (*got == 0) break;
  }
  bytes.shrink_to_fit();
  *is_damaged = source.is_damaged();
  return std::unique_ptr<RandomBytes>(new HeldBytes(std::move(bytes)));
}

}  // namespace

ForeignFile FileAt(const codec::InputPath& path) {
  return {path, std::filesystem::path(path.path).filename().string(), {}};
}

ForeignFile MemberOf(const codec::InputPath& path, ZipMember member) {
  std::string shown = member.name;
  return {path, std::move(shown), std::move(member)};
}

uint64_t SizeOf(const ForeignFile& file) {
  struct stat status {};
  const bool is_file = codec::StatInput(file.path, &status) && S_ISREG(status.st_mode);
  return is_file ? static_cast<uint64_t>(status.st_size) : 0;
}

Result<std::unique_ptr<ByteSource>> OpenSource(const ForeignFile& file) {
  if (file.is_member()) return OpenZipMember(file.path, file.member);
  Result<std::unique_ptr<FileSource>> source = FileSource::Open(file.path);
  if (!source.ok()) return source.error();
  return std::unique_ptr<ByteSource>(std::move(*source));
}

std::string BeginningOf(const ForeignFile& file, size_t most, Error* error) {
  const Result<std::unique_ptr<ByteSource>> inner = OpenSource(file);
  if (!inner.ok()) {
    if (error != nullptr) *error = inner.error();
    return "";
  }
  InflatingSource source(inner->get(), file.Title());
  std::string text(most, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const Result<size_t> got = source.Read(text.data() + size, text.size() - size);
    if (!got.ok() && error != nullptr) *error = got.error();
    if (!got.ok() || *got == 0) break;
    size += *got;
  }
  text.resize(size);
  return text;
}

Result<std::unique_ptr<RandomBytes>> OpenRandomBytes(const ForeignFile& file, uint64_t most,
                                                     bool* is_damaged) {
  *is_damaged = false;
  if (file.is_member()) return Inflate(file, most, is_damaged);
  Result<std::unique_ptr<RandomBytes>> bytes = FileBytesAt::Open(file.path);
  if (!bytes.ok()) return bytes.error();
  char first[4] = {};
  const Result<size_t> got = (*bytes)->ReadAt(0, first, sizeof first);
  if (!got.ok()) return got.error();
  if (InflatingSource::IsCompressed({first, *got})) return Inflate(file, most, is_damaged);
  return std::move(*bytes);
}

}  // namespace gpuprof::analysis::import
