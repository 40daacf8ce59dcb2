// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_sums.h. FindMedians is in kernel_medians.cc.

#include "analysis/passes/kernels/kernel_sums.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "analysis/base/parallel.h"
#include "analysis/passes/kernels/kernel_pieces.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kNoTrack = ~size_t{0};

void Join(const SignatureSums& from, SignatureSums* to) {
  to->first_row = std::min(to->first_row, from.first_row);
  to->rows += from.rows;
  to->count += from.count;
  to->total_ns += from.total_ns;
  to->min_ns = std::min(to->min_ns, from.min_ns);
  to->max_ns = std::max(to->max_ns, from.max_ns);
  to->in_graphs += from.in_graphs;
  to->launched += from.launched;
}

// The sums of all threads, by track.
class AllSums {
 public:
  explicit AllSums(size_t tracks) : tracks_(tracks) {}

  void Add(size_t track, const std::vector<SignatureSums>& sums, bool is_in_order) {
    std::lock_guard<std::mutex> lock(mutex_);
    tracks_[track].is_in_order &= is_in_order;
    for (const SignatureSums& each : sums) {
      const auto [at, is_new] = tracks_[track].by_signature.try_emplace(each.signature, each);
      if (!is_new) Join(each, &at->second);
    }
  }

  TrackSums Take(size_t track) const {
    TrackSums sums;
    sums.is_in_order = tracks_[track].is_in_order;
    for (const auto& [id, each] : tracks_[track].by_signature) sums.signatures.push_back(each);
    std::sort(
        sums.signatures.begin(), sums.signatures.end(),
        [](const SignatureSums& x, const SignatureSums& y) { return x.first_row < y.first_row; });
    return sums;
  }

 private:
  struct OfTrack {
    std::unordered_map<uint32_t, SignatureSums> by_signature;
    bool is_in_order = true;
  };
  std::mutex mutex_;
  std::vector<OfTrack> tracks_;
};

// What one thread sums: pieces of one track after the other.
class Summer {
 public:
  Summer(const CallIds& calls, const std::unordered_set<uint32_t>* only, AllSums* all)
      : calls_(calls), only_(only), all_(all) {}

  void Add(const KernelPiece& piece) {
    if (piece.track != track_) Flush();
    track_ = piece.track;
    for (size_t row = piece.first; row < piece.end; row += rows_.count) {
      rows_.Load(*piece.table, row, piece.end, true);
      AddRows(*piece.table, row);
      CheckOrder(*piece.table, row);
    }
  }
  void Flush() {
    if (track_ != kNoTrack) all_->Add(track_, sums_, is_in_order_);
    sums_.clear();
    places_.Clear();
    is_in_order_ = true;
  }

 private:
  SignatureSums& Of(uint32_t signature, size_t row) {
    const uint32_t place = places_.Find(signature);
    if (place != SignaturePlaces::kNone) [[likely]]
      return sums_[place];
    places_.Add(signature);
    SignatureSums& sums = sums_.emplace_back();
    sums.signature = signature;
    sums.first_row = row;
    sums.min_ns = std::numeric_limits<int64_t>::max();
    sums.max_ns = std::numeric_limits<int64_t>::min();
    return sums;
  }

  void AddRows(const KernelTable& table, size_t first) {
    const bool has_graphs = !table.graph.IsAll(first, rows_.count, 0);
    if (has_graphs) table.graph.Copy(first, rows_.count, graphs_);
    for (size_t i = 0; i < rows_.count; ++i) {
      const uint32_t correlation = rows_.correlation[i];
      if (only_ != nullptr && only_->count(correlation) == 0) continue;
      SignatureSums& sums = Of(rows_.signature[i], first + i);
      const int64_t duration_ns = rows_.duration_ns[i];
      const uint32_t weight = rows_.weight[i];
      ++sums.rows;
      sums.count += weight;
      sums.total_ns += duration_ns * weight;
      sums.min_ns = std::min(sums.min_ns, duration_ns);
      sums.max_ns = std::max(sums.max_ns, duration_ns);
      sums.launched += calls_.Has(correlation) ? weight : 0;
      if (has_graphs) sums.in_graphs += graphs_[i] != 0 ? weight : 0;
    }
  }

  // The row before the first one counts, too: it may be another piece's.
  void CheckOrder(const KernelTable& table, size_t first) {
    table.end_ns.Copy(first, rows_.count, ends_);
    int64_t end_before = std::numeric_limits<int64_t>::min(), start_before = end_before;
    if (first != 0) {
      end_before = table.end_ns[first - 1];
      start_before = end_before - table.duration_ns[first - 1];
    }
    bool is_in_order = true;
    for (size_t i = 0; i < rows_.count; ++i) {
      const int64_t start = ends_[i] - rows_.duration_ns[i];
      is_in_order &= start_before <= start && end_before <= ends_[i];
      start_before = start;
      end_before = ends_[i];
    }
    is_in_order_ &= is_in_order;
  }

  const CallIds& calls_;
  const std::unordered_set<uint32_t>* only_;
  AllSums* all_;
  size_t track_ = kNoTrack;
  std::vector<SignatureSums> sums_;
  SignaturePlaces places_;
  bool is_in_order_ = true;
  KernelRows rows_;
  int64_t ends_[KernelRows::kMost];
  uint32_t graphs_[KernelRows::kMost];
};

}  // namespace

std::vector<TrackSums> SumKernels(const Process& process, const CallIds& calls,
                                  const std::unordered_set<uint32_t>* only, int threads) {
  std::vector<KernelPiece> pieces;
  for (size_t i = 0; i < process.tracks.size(); ++i)
    AddPieces(i, process.tracks[i].kernel, &pieces);
  AllSums all(process.tracks.size());
  threads = ThreadCount(threads);
  std::vector<std::unique_ptr<Summer>> summers(static_cast<size_t>(threads));
  ParallelFor(pieces.size(), threads, [&](size_t index, int worker) {
    std::unique_ptr<Summer>& summer = summers[static_cast<size_t>(worker)];
    if (summer == nullptr) summer = std::make_unique<Summer>(calls, only, &all);
    summer->Add(pieces[index]);
  });
  for (const std::unique_ptr<Summer>& summer : summers) {
    if (summer != nullptr) summer->Flush();
  }
  std::vector<TrackSums> sums;
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    if (process.tracks[i].kernel.rows() == 0) continue;
    sums.push_back(all.Take(i));
    sums.back().track = &process.tracks[i];
  }
  return sums;
}

}  // namespace gpuprof::analysis
