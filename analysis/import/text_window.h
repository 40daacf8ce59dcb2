// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of a text that is in memory. It moves forward over the text. It is larger than usual
// only while a single element needs the room.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "analysis/import/byte_source.h"

namespace gpuprof::analysis::import {

class TextWindow {
 public:
  // A window of this size fits the second level of the processor's cache.
  static constexpr size_t kBytes = 256 << 10;
  // Bytes around the text that may be read. The byte before and two bytes behind may be written.
  static constexpr size_t kPadding = 64;

  explicit TextWindow(ByteSource* source, size_t bytes = kBytes) : source_(source), bytes_(bytes) {}

  char* data() { return buffer_.get() + kPadding + begin_; }
  size_t size() const { return end_ - begin_; }
  std::string_view view() { return {data(), size()}; }
  // Returns the place of data() in the text.
  uint64_t offset() const { return offset_; }
  bool has_ended() const { return has_ended_; }

  // Reads until the window is full, or until twice as many are there as before, or up to the end. A
  // source that fails has ended, with an error(). Pointers into the window are invalid afterwards.
  void Fill();
  const Error& error() const { return error_; }
  // Forgets bytes at the front.
  void Drop(size_t bytes);

  // Ends the text with `error` when more than `bytes` pass without a call of MarkProgress().
  void LimitPatience(uint64_t bytes, Error error);
  void MarkProgress() { progress_at_ = offset_ + size(); }

 private:
  void Resize(size_t capacity);

  ByteSource* source_;
  size_t bytes_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0, end_ = 0;
  uint64_t offset_ = 0;
  bool has_ended_ = false;
  Error error_, impatience_;
  uint64_t patience_ = UINT64_MAX, progress_at_ = 0;
};

}  // namespace gpuprof::analysis::import
