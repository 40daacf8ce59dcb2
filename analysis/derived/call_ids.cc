// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_ids.h.

#include "analysis/derived/call_ids.h"

#include <algorithm>
#include <memory>

#include "analysis/base/parallel.h"

namespace gpuprof::analysis {

CallIds::CallIds(const Process& process, int threads) : pages_(1u << (32 - kPageBits)) {
  constexpr size_t kPiece = 1024;
  std::vector<const ColumnSegment*> segments;
  for (const Track& track : process.tracks) {
    for (const ColumnSegment& segment : track.api.correlation.segments())
      segments.push_back(&segment);
  }
  ParallelFor(segments.size(), segments.size() < 16 ? 1 : threads, [&](size_t index, int) {
    const ColumnSegment& segment = *segments[index];
    uint32_t ids[kPiece];
    for (size_t row = segment.first; row < segment.end; row += kPiece) {
      const size_t count = std::min(kPiece, segment.end - row);
      segment.Copy(row, count, ids);
      Add({ids, count});
    }
  });
  if (uint64_t* first = pages_[0].load()) first[0] &= ~uint64_t{1};
}

CallIds::~CallIds() {
  for (std::atomic<uint64_t*>& page : pages_) delete[] page.load();
}

// Ids that follow each other share a word, which is written once then.
void CallIds::Add(std::span<const uint32_t> ids) {
  uint32_t word = ids[0] / kWord;
  uint64_t bits = 0;
  for (const uint32_t id : ids) {
    if (id / kWord != word) {
      AddWord(word * kWord, bits);
      word = id / kWord;
      bits = 0;
    }
    bits |= uint64_t{1} << id % kWord;
  }
  AddWord(word * kWord, bits);
}

void CallIds::AddWord(uint32_t first_id, uint64_t bits) {
  std::atomic<uint64_t*>& page = pages_[first_id >> kPageBits];
  uint64_t* words = page.load(std::memory_order_acquire);
  if (words == nullptr) {
    auto made = std::make_unique<uint64_t[]>(kPageIds / kWord);
    // Another thread may have been faster: then `words` is its page.
    if (page.compare_exchange_strong(words, made.get(), std::memory_order_acq_rel))
      words = made.release();
  }
  std::atomic_ref<uint64_t>(words[first_id % kPageIds / kWord])
      .fetch_or(bits, std::memory_order_relaxed);
}

}  // namespace gpuprof::analysis
