// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See column_memory.h.

#include "analysis/base/column_memory.h"

#include <sys/mman.h>

#include <algorithm>

namespace gpuprof::analysis {
namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr size_t kLeastChunk = 4 << 10;
constexpr size_t kMostChunk = 16 << 20;
// A part of the last huge page stays unused. A column of this size can bear the loss.
constexpr size_t kLeastHugeChunk = 4 << 20;

}  // namespace

ColumnMemory::~ColumnMemory() {
  for (const Chunk& chunk : chunks_) ::operator delete(chunk.bytes, chunk.alignment);
}

uint8_t* ColumnMemory::Take(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > left_) AddChunk(bytes);
  uint8_t* const taken = next_;
  next_ += bytes;
  left_ -= bytes;
  return taken;
}

// A chunk is as large as all before it, so that a small column takes little.
void ColumnMemory::AddChunk(size_t least) {
  size_t size = std::clamp(total_, kLeastChunk, kMostChunk);
  // A column of one segment needs no more than that.
  size = chunks_.empty() ? least : std::max(size, least);
  const bool is_huge = size >= kLeastHugeChunk;
  const auto alignment = static_cast<std::align_val_t>(is_huge ? kHugePage : sizeof(uint64_t));
  if (is_huge) size = (size + kHugePage - 1) / kHugePage * kHugePage;
  chunks_.reserve(chunks_.size() + 1);
  next_ = static_cast<uint8_t*>(::operator new(size, alignment));
  chunks_.push_back({next_, alignment});
  // Where the kernel has no huge pages, small ones do.
  if (is_huge) static_cast<void>(madvise(next_, size, MADV_HUGEPAGE));
  left_ = size;
  total_ += size;
}

}  // namespace gpuprof::analysis
