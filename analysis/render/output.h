// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Takes a rendered result piece by piece: a result may be longer than memory. For the files
// of this folder; one thread.

#pragma once

#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

class Output {
 public:
  Output(Sink sink, void* context) : sink_(sink), context_(context) {}
  ~Output() { Flush(); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void Put(std::string_view text) {
    if (is_stopped_) return;
    buffer_ += text;
    if (buffer_.size() >= kPieceBytes) Flush();
  }

  void Flush() {
    if (!is_stopped_ && !buffer_.empty()) is_stopped_ = !sink_(context_, buffer_);
    buffer_.clear();
  }

  // Returns whether the sink wants no more: the rest need not be made.
  bool is_stopped() const { return is_stopped_; }

 private:
  static constexpr size_t kPieceBytes = 64 << 10;

  Sink sink_;
  void* context_;
  std::string buffer_;
  bool is_stopped_ = false;
};

// Appends to a std::string.
inline bool AppendToString(void* context, std::string_view text) {
  *static_cast<std::string*>(context) += text;
  return true;
}

}  // namespace gpuprof::analysis
