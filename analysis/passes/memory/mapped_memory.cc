// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See mapped_memory.h.

#include "analysis/passes/memory/mapped_memory.h"

#include <algorithm>
#include <iterator>

namespace gpuprof::analysis {
namespace {

// The kernel maps and unmaps whole pages. Larger pages make ranges of this size no less right.
constexpr uint64_t kPage = 4096;

uint64_t RoundUp(uint64_t value) {
  return value > ~uint64_t{0} - kPage ? ~uint64_t{0} / kPage * kPage
                                      : (value + kPage - 1) / kPage * kPage;
}

uint64_t EndOf(uint64_t address, uint64_t bytes) {
  const uint64_t size = RoundUp(bytes);
  return address > ~uint64_t{0} - size ? ~uint64_t{0} : address + size;
}

}  // namespace

void MappedMemory::AddPiece(uint64_t begin, uint64_t end, uint32_t group, MappingKind kind) {
  ranges_[begin] = {end, static_cast<uint32_t>(pieces_.size())};
  pieces_.push_back({end - begin, group, kind, change_, kNever});
  live_[Index(kind)] += end - begin;
}

// Takes [begin, end) out of all ranges; what sticks out on either side lives on as a piece of its
// own. Returns how many bytes of it were mapped.
uint64_t MappedMemory::Cut(uint64_t begin, uint64_t end, MappingKind* kind) {
  uint64_t cut = 0;
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != ranges_.end() && at->first < end) {
    const uint64_t from = at->first;
    const Range range = at->second;
    at = ranges_.erase(at);
    const Piece old = pieces_[range.piece];
    pieces_[range.piece].died = change_;
    live_[Index(old.kind)] -= old.bytes;
    if (cut == 0) *kind = old.kind;
    cut += std::min(range.end, end) - std::max(from, begin);
    if (from < begin) AddPiece(from, begin, old.group, old.kind);
    if (range.end > end) AddPiece(end, range.end, old.group, old.kind);
  }
  return cut;
}

void MappedMemory::Map(int64_t time, uint64_t address, uint64_t bytes, MappingKind kind,
                       uint32_t group) {
  const uint64_t end = EndOf(address, bytes);
  if (end <= address) return;
  ++change_;
  MappingKind before;
  Cut(address, end, &before);
  AddPiece(address, end, group, kind);
  Peak& peak = peak_[Index(kind)];
  if (live_[Index(kind)] > peak.bytes) peak = {live_[Index(kind)], time, change_};
}

MappingKind MappedMemory::Unmap(uint64_t address, uint64_t bytes) {
  const uint64_t end = EndOf(address, bytes);
  MappingKind kind = MappingKind::kMemory;
  if (end <= address) return kind;
  ++change_;
  unmatched_bytes_ += end - address - Cut(address, end, &kind);
  return kind;
}

void MappedMemory::NewCapture() {
  ++change_;
  for (const auto& [begin, range] : ranges_) pieces_[range.piece].died = change_;
  ranges_.clear();
  for (uint64_t& live : live_) live = 0;
}

bool MappedMemory::LiveAtPeak(const Piece& piece) const {
  const Peak& peak = peak_[Index(piece.kind)];
  return piece.born <= peak.change && piece.died > peak.change;
}

}  // namespace gpuprof::analysis
