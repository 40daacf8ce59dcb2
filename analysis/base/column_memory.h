// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The memory of one column's segments. It comes in chunks that grow with the column. Large chunks
// ask the kernel for huge pages: with small ones, the first touch of a big table takes longer than
// its decoding.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace gpuprof::analysis {

class ColumnMemory {
 public:
  ColumnMemory() = default;
  ColumnMemory(const ColumnMemory&) = delete;
  ColumnMemory& operator=(const ColumnMemory&) = delete;
  ~ColumnMemory();

  // Returns room for so many bytes. It lives as long as this object. Any thread.
  uint8_t* Take(size_t bytes);

 private:
  struct Chunk {
    uint8_t* bytes;
    std::align_val_t alignment;
  };

  void AddChunk(size_t least);

  std::mutex mutex_;
  std::vector<Chunk> chunks_;
  size_t total_ = 0;  // bytes of all chunks
  uint8_t* next_ = nullptr;
  size_t left_ = 0;  // bytes behind `next_`
};

}  // namespace gpuprof::analysis
