// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See line_reader.h.

#include "launcher/mcp/line_reader.h"

#include <unistd.h>

#include <cerrno>

namespace gpuprof::launcher {

LineReader::Got LineReader::Next(std::string* line) {
  bool is_too_long = false;
  line->clear();
  for (size_t looked = 0;;) {
    const size_t end = buffer_.find('\n', at_ + looked);
    const bool is_last = end == std::string::npos && has_ended_;
    if (end != std::string::npos || (is_last && (at_ < buffer_.size() || is_too_long))) {
      const size_t stop = is_last ? buffer_.size() : end;
      is_too_long = is_too_long || stop - at_ > most_bytes_;
      if (!is_too_long) line->assign(buffer_, at_, stop - at_);
      at_ = is_last ? stop : end + 1;
      return is_too_long ? Got::kTooLong : Got::kLine;
    }
    if (has_ended_) return Got::kEnd;
    buffer_.erase(0, at_);
    at_ = 0;
    if (buffer_.size() > most_bytes_) {
      is_too_long = true;
      buffer_.clear();
    }
    looked = buffer_.size();
    char bytes[1 << 16];
    const ssize_t got = read(fd_, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) buffer_.append(bytes, static_cast<size_t>(got));
    has_ended_ = got <= 0;
  }
}

}  // namespace gpuprof::launcher
