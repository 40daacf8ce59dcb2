// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The memory of another process, read while the process runs. What is read of code and tables stays
// as it is, so pages of those may be kept. Linux asks for the right to trace the process.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuprof::launcher {

class TargetMemory {
 public:
  explicit TargetMemory(pid_t pid) : pid_(pid) {}
  pid_t pid() const { return pid_; }

  // Reads exactly `bytes`. False: not all of them can be read.
  bool Read(uint64_t address, void* to, size_t bytes) const;
  template <typename T>
  bool Read(uint64_t address, T* to) const {
    return Read(address, to, sizeof(T));
  }
  // Reads through kept pages: for code and tables.
  bool ReadKept(uint64_t address, void* to, size_t bytes);
  // Writes to memory that the process itself can write.
  bool Write(uint64_t address, const void* from, size_t bytes) const;
  // Reads a text that ends with a zero byte; cut at `most` bytes.
  std::string ReadText(uint64_t address, size_t most) const;

 private:
  static constexpr uint64_t kPage = 4096;

  pid_t pid_;
  std::unordered_map<uint64_t, std::vector<uint8_t>> pages_;  // empty: cannot be read
};

}  // namespace gpuprof::launcher
