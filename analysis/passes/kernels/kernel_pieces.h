// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rows of kernel tables, cut into pieces that threads take one after the other. Also the places
// that a thread keeps for the signatures of a track.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct KernelPiece {
  size_t track = 0;  // in the caller's list
  const KernelTable* table = nullptr;
  size_t first = 0;  // row
  size_t end = 0;
};

inline void AddPieces(size_t track, const KernelTable& table, std::vector<KernelPiece>* pieces) {
  constexpr size_t kPieceRows = 1u << 16;
  for (size_t row = 0; row < table.rows(); row += kPieceRows)
    pieces->push_back({track, &table, row, std::min(table.rows(), row + kPieceRows)});
}

// Some rows of a piece, unpacked.
struct KernelRows {
  static constexpr size_t kMost = 1024;
  size_t count = 0;
  int64_t duration_ns[kMost];
  uint32_t signature[kMost];
  uint32_t correlation[kMost];
  uint32_t weight[kMost];

  void Load(const KernelTable& table, size_t first, size_t end, bool with_correlations) {
    count = std::min(kMost, end - first);
    table.duration_ns.Copy(first, count, duration_ns);
    table.signature.Copy(first, count, signature);
    if (with_correlations) table.correlation.Copy(first, count, correlation);
    LoadWeights(table, first);
  }

 private:
  // Keeps the last weights if all of them and of the new ones are 1, as nearly all weights are.
  void LoadWeights(const KernelTable& table, size_t first) {
    if (!table.weight.IsAll(first, count, 1)) {
      table.weight.Copy(first, count, weight);
      are_ones_ = false;
    } else if (!are_ones_) {
      std::fill(weight, weight + kMost, 1);
      are_ones_ = true;
    }
  }

  bool are_ones_ = false;  // all of `weight`
};

// Numbers signatures in the order in which they come. Ids are small numbers in practice, but a
// damaged or hostile trace may have any.
class SignaturePlaces {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // Returns the signature's number, or kNone.
  uint32_t Find(uint32_t signature) const {
    if (signature < near_.size()) return near_[signature];
    if (signature < kMostNear || far_.empty()) return kNone;
    const auto found = far_.find(signature);
    return found == far_.end() ? kNone : found->second;
  }
  // Gives the next number to a new signature.
  void Add(uint32_t signature) {
    if (signature >= kMostNear) {
      far_.emplace(signature, static_cast<uint32_t>(known_.size()));
    } else {
      if (signature >= near_.size()) near_.resize(signature + 1, kNone);
      near_[signature] = static_cast<uint32_t>(known_.size());
    }
    known_.push_back(signature);
  }
  size_t size() const { return known_.size(); }
  void Clear() {
    for (const uint32_t signature : known_) {
      if (signature < kMostNear) near_[signature] = kNone;
    }
    known_.clear();
    far_.clear();
  }

 private:
  static constexpr uint32_t kMostNear = 1u << 20;
  std::vector<uint32_t> near_;
  std::unordered_map<uint32_t, uint32_t> far_;
  std::vector<uint32_t> known_;
};

}  // namespace gpuprof::analysis
