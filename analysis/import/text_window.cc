// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See text_window.h.

#include "analysis/import/text_window.h"

#include <cstring>
#include <utility>

namespace gpuprof::analysis::import {

void TextWindow::Resize(size_t capacity) {
  // The padding is read, so it is set.
  std::unique_ptr<char[]> buffer(new char[capacity + 2 * kPadding]);
  std::memset(buffer.get(), ' ', kPadding);
  if (size() != 0) std::memcpy(buffer.get() + kPadding, data(), size());
  end_ = size();
  begin_ = 0;
  buffer_ = std::move(buffer);
  capacity_ = capacity;
}

void TextWindow::Fill() {
  const size_t wanted = size() < bytes_ ? bytes_ : 2 * size();
  if (wanted > capacity_ || capacity_ > 4 * wanted) {
    Resize(wanted);
  } else if (begin_ != 0) {
    std::memmove(buffer_.get() + kPadding, data(), size());
    end_ -= begin_;
    begin_ = 0;
  }
  while (!has_ended_ && end_ < wanted) {
    const Result<size_t> got = source_->Read(buffer_.get() + kPadding + end_, wanted - end_);
    if (!got.ok()) error_ = got.error();
    if (got.ok()) end_ += *got;
    has_ended_ = !got.ok() || *got == 0;
  }
  std::memset(buffer_.get() + kPadding + end_, ' ', kPadding);
  if (!has_ended_ && offset_ + size() - progress_at_ > patience_) {
    error_ = impatience_;
    has_ended_ = true;
  }
}

void TextWindow::Drop(size_t bytes) {
  begin_ += bytes;
  offset_ += bytes;
}

void TextWindow::LimitPatience(uint64_t bytes, Error error) {
  patience_ = bytes;
  impatience_ = std::move(error);
}

}  // namespace gpuprof::analysis::import
