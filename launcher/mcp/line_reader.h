// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Lines of standard input, for `gpuprof mcp`. A line has a limit, so that a client that never ends
// a line takes no memory. One thread.

#pragma once

#include <cstddef>
#include <string>

namespace gpuprof::launcher {

class LineReader {
 public:
  // kTooLong: the line was longer than the limit, and is passed over. kEnd: the file has ended, or
  // cannot be read.
  enum class Got { kLine, kTooLong, kEnd };

  // Reads from a descriptor, which stays open. `most_bytes` is the limit of a line.
  LineReader(int fd, size_t most_bytes) : fd_(fd), most_bytes_(most_bytes) {}

  // Waits for a line, without its end. The last line may lack an end.
  Got Next(std::string* line);

 private:
  const int fd_;
  const size_t most_bytes_;
  std::string buffer_;
  size_t at_ = 0;  // of what was not handed out
  bool has_ended_ = false;
};

}  // namespace gpuprof::launcher
