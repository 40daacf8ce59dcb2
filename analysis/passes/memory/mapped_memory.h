// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Mapped address ranges over time, from the calls of the mmap family in order of time. Other than
// blocks of a heap, ranges are taken back in parts and mapped over one another. One object per
// address space, one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gpuprof::analysis {

enum class MappingKind : uint8_t { kMemory = 0, kFile = 1, kReserved = 2 };
inline constexpr int kMappingKinds = 3;

class MappedMemory {
 public:
  // A range, or what was left of one, from one change to the next.
  struct Piece {
    uint64_t bytes;
    uint32_t group;
    MappingKind kind;
    uint32_t born;  // number of the change that made it
    uint32_t died;  // and that ended it; kNever
  };
  static constexpr uint32_t kNever = 0xffffffffu;

  void Map(int64_t time, uint64_t address, uint64_t bytes, MappingKind kind, uint32_t group);
  // Returns the kind of the range's first part that was known, kMemory if none was.
  MappingKind Unmap(uint64_t address, uint64_t bytes);
  // Forgets all earlier ranges.
  void NewCapture();

  const std::vector<Piece>& pieces() const { return pieces_; }
  // Returns whether the piece was mapped when its kind had most bytes mapped.
  bool LiveAtPeak(const Piece& piece) const;
  bool LiveAtEnd(const Piece& piece) const { return piece.died == kNever; }
  uint64_t peak_bytes(MappingKind kind) const { return peak_[Index(kind)].bytes; }
  int64_t peak_time(MappingKind kind) const { return peak_[Index(kind)].time_ns; }
  // Returns the bytes that were unmapped although their mapping was not recorded.
  uint64_t unmatched_bytes() const { return unmatched_bytes_; }

 private:
  struct Range {
    uint64_t end;
    uint32_t piece;
  };
  struct Peak {
    uint64_t bytes = 0;
    int64_t time_ns = 0;
    uint32_t change = 0;
  };
  static size_t Index(MappingKind kind) { return static_cast<size_t>(kind); }

  void AddPiece(uint64_t begin, uint64_t end, uint32_t group, MappingKind kind);
  uint64_t Cut(uint64_t begin, uint64_t end, MappingKind* kind);

  std::vector<Piece> pieces_;
  std::map<uint64_t, Range> ranges_;  // by first address
  uint64_t live_[kMappingKinds] = {};
  Peak peak_[kMappingKinds];
  uint32_t change_ = 0;
  uint64_t unmatched_bytes_ = 0;
};

}  // namespace gpuprof::analysis
