// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The bytes of a trace, from memory or from a file. A file is read by windows: it is not mapped,
// because whoever cuts a mapped file ends its readers by SIGBUS. It is not read as a whole either,
// because a file with a hole may be larger than the memory.
//
// For readers outside the recorded process. One thread an object.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace gpuprof::codec {

class TraceBytes {
 public:
  TraceBytes() = default;
  TraceBytes(const uint8_t* data, uint64_t bytes) { Use(data, bytes); }
  // Leaves the descriptor to the caller.
  TraceBytes(int fd, uint64_t bytes) { Use(fd, bytes); }

  // Goes over to other bytes. Keeps the memory of its window.
  void Use(const uint8_t* data, uint64_t bytes);
  void Use(int fd, uint64_t bytes);

  uint64_t size() const { return size_; }

  // Returns the `bytes` bytes at `offset`, valid until the next call. Null: they are not there.
  const uint8_t* At(uint64_t offset, uint64_t bytes) {
    if (Has(offset, bytes)) return window_ + (offset - begin_);
    return Fetch(offset, bytes);
  }

  // Call before At with the same arguments to save the reading of holes, whose bytes are 0. Returns
  // `offset`, or where the hole that `offset` is in ends.
  uint64_t BehindHole(uint64_t offset, uint64_t bytes) const;

  // Returns why bytes could not be read: an errno value, ESTALE if the file became shorter. 0: all
  // reading went well.
  int error() const { return error_; }

 private:
  bool Has(uint64_t offset, uint64_t bytes) const {
    return offset >= begin_ && offset <= end_ && bytes <= end_ - offset;
  }
  const uint8_t* Fetch(uint64_t offset, uint64_t bytes);

  int fd_ = -1;
  uint64_t size_ = 0;
  const uint8_t* window_ = nullptr;
  // The window in the file. At first it ends before it begins: nothing is in it.
  uint64_t begin_ = 1;
  uint64_t end_ = 0;
  std::unique_ptr<uint8_t[]> buffer_;
  uint64_t capacity_ = 0;
  int error_ = 0;
};

// Returns the words for an error().
std::string ReadErrorText(int error);

}  // namespace gpuprof::codec
