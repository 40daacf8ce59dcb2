// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bytes of an imported file whose parts are read in any order. Files are not mapped: somebody
// may cut them meanwhile. A window shows a part of a file at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/result.h"
#include "proto/codec/input_path.h"

namespace gpuprof::analysis::import {

class RandomBytes {
 public:
  virtual ~RandomBytes() = default;
  virtual uint64_t size() const = 0;
  // Reads the bytes from `at` on, at most `most`, and fewer only at the end.
  virtual Result<size_t> ReadAt(uint64_t at, char* to, size_t most) const = 0;
  virtual bool is_in_memory() const { return false; }
};

// A regular file, as long as it was when it was opened.
class FileBytesAt : public RandomBytes {
 public:
  static Result<std::unique_ptr<RandomBytes>> Open(const codec::InputPath& path);
  uint64_t size() const override { return size_; }
  Result<size_t> ReadAt(uint64_t at, char* to, size_t most) const override;

 private:
  FileBytesAt(codec::OwnedFile file, std::string path, uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}

  codec::OwnedFile file_;
  std::string path_;
  uint64_t size_;
};

// Bytes in memory.
class HeldBytes : public RandomBytes {
 public:
  explicit HeldBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return bytes_.size(); }
  Result<size_t> ReadAt(uint64_t at, char* to, size_t most) const override;
  bool is_in_memory() const override { return true; }

 private:
  std::string bytes_;
};

// Shows parts of a file. Views are valid until the next call of At().
class ByteWindow {
 public:
  static constexpr size_t kBytes = 1 << 20;
  // Shows `file`, which outlives this object. `bytes`: how much is read at once.
  explicit ByteWindow(const RandomBytes* file, size_t bytes = kBytes);

  // Returns bytes from `at` on: at least `least`, unless the file ends before, or cannot be read.
  // `least` is at most kBytes.
  std::string_view At(uint64_t at, size_t least) {
    const uint64_t end = begin_ + size_;
    if (at < begin_ || at > end || end - at < least) return Move(at, least);
    return {buffer_.get() + (at - begin_), end - at};
  }
  // Returns why bytes could not be read, if so.
  const Error& error() const { return error_; }

 private:
  std::string_view Move(uint64_t at, size_t least);

  const RandomBytes* file_;
  size_t room_;  // of the buffer
  std::unique_ptr<char[]> buffer_;
  uint64_t begin_ = 0;
  size_t size_ = 0;
  Error error_;
};

}  // namespace gpuprof::analysis::import
