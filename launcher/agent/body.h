// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What goes out as the answer of a call: pieces of memory and parts of files, one behind another. A
// file is read while it is sent, so an answer of a gigabyte takes no memory. One thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

class Body {
 public:
  void Add(std::string bytes);
  // Adds the first `length` bytes of a file.
  void AddFile(std::shared_ptr<const codec::OwnedFile> file, uint64_t length);
  // Puts bytes before all others.
  void AddInFront(std::string bytes);
  void Append(Body other);

  uint64_t size() const { return size_; }
  // Takes the next bytes out, at most `most`. Returns their number; 0: all went out; -1: a file
  // cannot be read.
  int64_t Take(char* room, size_t most);

 private:
  struct Part {
    std::string bytes;
    std::shared_ptr<const codec::OwnedFile> file;  // null: `bytes` are meant
    uint64_t length = 0;
  };
  std::vector<Part> parts_;
  uint64_t size_ = 0;
  size_t part_ = 0;      // the next part
  uint64_t offset_ = 0;  // in it
};

}  // namespace gpuprof::launcher
