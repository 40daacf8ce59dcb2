// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much memory the events of imported files may take. A compressed file of a stranger can hold a
// thousand times its size, and each byte of an event becomes many.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "analysis/base/result.h"

namespace gpuprof::analysis::import {

// What all files of an import take together. Any thread.
class ImportMemory {
 public:
  // Takes a limit as OpenOptions::memory_limit_bytes.
  explicit ImportMemory(uint64_t limit);

  // Returns the bytes that the contents of a file of this size may take in memory.
  uint64_t MostOf(uint64_t file_bytes) const;
  uint64_t limit() const { return limit_; }
  // Counts bytes that were taken. Returns all that are taken.
  uint64_t Take(uint64_t bytes) { return taken_ += bytes; }

 private:
  uint64_t limit_;
  std::atomic<uint64_t> taken_{0};
};

// The memory of one file's events. One thread.
class MemoryMeter {
 public:
  // Counts within `all`, which outlives this object. `name` is for errors.
  MemoryMeter(ImportMemory* all, std::string name, uint64_t file_bytes)
      : all_(all), name_(std::move(name)), most_(all->MostOf(file_bytes)) {}

  // Takes what the file's events take so far. Returns why no more of them may be read.
  Error Check(uint64_t bytes);

 private:
  ImportMemory* all_;
  std::string name_;
  uint64_t most_;
  uint64_t counted_ = 0;
};

// What a text takes apart from its characters.
inline constexpr uint64_t kTextBytes = 160;

}  // namespace gpuprof::analysis::import
