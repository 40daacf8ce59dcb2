// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sources of the text of an imported file.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/import/random_bytes.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads the next bytes, at most `most`, and at least one before the end. 0: the end.
  virtual Result<size_t> Read(char* to, size_t most) = 0;
};

// Gives bytes that somebody else holds as long as this object lives, at most `piece` in a call.
class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes, size_t piece = SIZE_MAX)
      : bytes_(bytes), piece_(piece) {}
  Result<size_t> Read(char* to, size_t most) override;

 private:
  std::string_view bytes_;
  size_t piece_;
};

// Reads a regular file from its beginning, as long as it was when it was opened.
class FileSource : public ByteSource {
 public:
  static Result<std::unique_ptr<FileSource>> Open(const codec::InputPath& path);
  Result<size_t> Read(char* to, size_t most) override;

 private:
  explicit FileSource(std::unique_ptr<RandomBytes> file) : file_(std::move(file)) {}

  std::unique_ptr<RandomBytes> file_;
  uint64_t at_ = 0;
};

}  // namespace gpuprof::analysis::import
