// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// MappedMemory against a plain array of pages that knows for each who mapped it.

#include "analysis/passes/memory/mapped_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kPage = 4096;

struct Owner {
  MappingKind kind;
  uint32_t group;
  bool operator==(const Owner&) const = default;
  bool operator<(const Owner& other) const {
    return kind != other.kind ? kind < other.kind : group < other.group;
  }
};
using Bytes = std::map<Owner, uint64_t>;

Bytes LiveAtEnd(const MappedMemory& memory) {
  Bytes live;
  for (const MappedMemory::Piece& piece : memory.pieces()) {
    if (memory.LiveAtEnd(piece)) live[{piece.kind, piece.group}] += piece.bytes;
  }
  return live;
}

TEST(MappedMemoryTest, AgreesWithAnArrayOfPages) {
  constexpr uint64_t kPages = 200;
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    MappedMemory memory;
    std::vector<const Owner*> pages(kPages + 50, nullptr);
    std::vector<Owner> owners(300);
    uint64_t live[kMappingKinds] = {}, peak[kMappingKinds] = {}, unmatched = 0;
    int64_t peak_time[kMappingKinds] = {};
    Bytes at_peak[kMappingKinds];
    for (int i = 0; i < 300; ++i) {
      const uint64_t first = random() % kPages, count = 1 + random() % 40;
      const auto drop = [&](uint64_t page) {
        if (pages[page] == nullptr) return false;
        live[static_cast<int>(pages[page]->kind)] -= kPage;
        pages[page] = nullptr;
        return true;
      };
      if (random() % 2 == 0) {
        MappingKind kind = MappingKind::kMemory;
        for (uint64_t page = first; page < first + count; ++page) {
          if (pages[page] == nullptr) continue;
          kind = pages[page]->kind;
          break;
        }
        EXPECT_EQ(memory.Unmap(first * kPage, count * kPage - random() % kPage), kind);
        for (uint64_t page = first; page < first + count; ++page)
          unmatched += drop(page) ? 0 : kPage;
        continue;
      }
      Owner& owner = owners[static_cast<size_t>(i)];
      owner = {static_cast<MappingKind>(random() % kMappingKinds),
               static_cast<uint32_t>(random() % 5)};
      const int kind = static_cast<int>(owner.kind);
      memory.Map(i, first * kPage, count * kPage - random() % kPage, owner.kind, owner.group);
      for (uint64_t page = first; page < first + count; ++page) {
        drop(page);
        pages[page] = &owner;
        live[kind] += kPage;
      }
      if (live[kind] <= peak[kind]) continue;
      peak[kind] = live[kind];
      peak_time[kind] = i;
      at_peak[kind].clear();
      for (const Owner* page : pages) {
        if (page != nullptr && page->kind == owner.kind) at_peak[kind][*page] += kPage;
      }
    }
    Bytes end;
    for (const Owner* page : pages) {
      if (page != nullptr) end[*page] += kPage;
    }
    ASSERT_EQ(LiveAtEnd(memory), end);
    ASSERT_EQ(memory.unmatched_bytes(), unmatched);
    Bytes peaks;
    for (const MappedMemory::Piece& piece : memory.pieces()) {
      if (memory.LiveAtPeak(piece)) peaks[{piece.kind, piece.group}] += piece.bytes;
    }
    Bytes wanted;
    for (int kind = 0; kind < kMappingKinds; ++kind) {
      wanted.merge(at_peak[kind]);
      EXPECT_EQ(memory.peak_bytes(static_cast<MappingKind>(kind)), peak[kind]);
      EXPECT_EQ(memory.peak_time(static_cast<MappingKind>(kind)), peak_time[kind]);
    }
    ASSERT_EQ(peaks, wanted);
  }
}

TEST(MappedMemoryTest, ANewCaptureKnowsNothingOfTheOldRanges) {
  MappedMemory memory;
  memory.Map(1, 10 * kPage, 5 * kPage, MappingKind::kMemory, 1);
  memory.NewCapture();
  EXPECT_TRUE(LiveAtEnd(memory).empty());
  memory.Unmap(10 * kPage, 5 * kPage);
  EXPECT_EQ(memory.unmatched_bytes(), 5 * kPage);
  EXPECT_EQ(memory.peak_bytes(MappingKind::kMemory), 5 * kPage);
}

TEST(MappedMemoryTest, RangesAtTheEndOfTheAddresses) {
  MappedMemory memory;
  memory.Map(1, ~uint64_t{0} - 10, 100, MappingKind::kMemory, 1);
  memory.Map(2, 0, ~uint64_t{0}, MappingKind::kFile, 2);
  memory.Map(3, 8 * kPage, 0, MappingKind::kFile, 3);
  memory.Unmap(~uint64_t{0} - kPage, ~uint64_t{0});
  EXPECT_EQ(memory.peak_bytes(MappingKind::kFile), ~uint64_t{0} / kPage * kPage);
}

}  // namespace
}  // namespace gpuprof::analysis
