// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The medians of groups of kernels. The durations of a group with few rows are kept and sorted,
// those of the others are counted in rounds (steps/rank_search.h).

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/passes/kernels/kernel_pieces.h"
#include "analysis/passes/kernels/kernel_sums.h"
#include "analysis/steps/rank_search.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kFewRows = 4096;
constexpr size_t kNoTrack = ~size_t{0};

// A group, and how its median is found.
struct Group {
  uint64_t rows = 0;
  uint64_t count = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();
  int64_t max_ns = std::numeric_limits<int64_t>::min();
  std::optional<RankSearch> search;  // none: its durations are kept
  bool is_open = true;               // the median is not known yet
};

struct PlacedTrack {
  const TrackSums* sums;
  const std::unordered_set<uint32_t>* only;
};

// What one thread counted or kept of a group in a round.
struct Part {
  RankSearch::Counts counts;
  SampleList durations;
};

// One thread of a round.
class Counter {
 public:
  Counter(const std::vector<PlacedTrack>& tracks, const std::vector<Group>& groups)
      : tracks_(tracks), groups_(groups), parts_(groups.size()) {}

  std::vector<Part>& parts() { return parts_; }

  void Add(const KernelPiece& piece) {
    const PlacedTrack& track = tracks_[piece.track];
    if (piece.track != track_) Enter(piece.track);
    for (size_t row = piece.first; row < piece.end; row += rows_.count) {
      rows_.Load(*piece.table, row, piece.end, track.only != nullptr);
      for (size_t i = 0; i < rows_.count; ++i) {
        if (track.only != nullptr && track.only->count(rows_.correlation[i]) == 0) continue;
        AddRow(targets_[places_.Find(rows_.signature[i])], i);
      }
    }
  }

 private:
  void Enter(size_t track) {
    track_ = track;
    places_.Clear();
    targets_.clear();
    for (const SignatureSums& each : tracks_[track].sums->signatures) {
      places_.Add(each.signature);
      targets_.push_back(TargetOf(each.group));
    }
  }

  // Where a signature's rows go.
  struct Target {
    const RankSearch* search = nullptr;
    RankSearch::Counts* counts = nullptr;
    SampleList* durations = nullptr;
  };
  Target TargetOf(size_t index) {
    const Group& group = groups_[index];
    Part& part = parts_[index];
    if (!group.is_open) return {};
    if (!group.search) return {nullptr, nullptr, &part.durations};
    part.counts.resize(RankSearch::kCounts);
    return {&*group.search, &part.counts, nullptr};
  }

  void AddRow(const Target& target, size_t i) {
    if (target.search != nullptr) [[likely]] {
      target.search->Count(rows_.duration_ns[i], rows_.weight[i], target.counts);
    } else if (target.durations != nullptr) {
      target.durations->Add(rows_.duration_ns[i], rows_.weight[i]);
    }
  }

  const std::vector<PlacedTrack>& tracks_;
  const std::vector<Group>& groups_;
  std::vector<Part> parts_;
  size_t track_ = kNoTrack;
  SignaturePlaces places_;
  std::vector<Target> targets_;  // by the signature's place
  KernelRows rows_;
};

class MedianFinder {
 public:
  MedianFinder(const std::vector<SummedKernels>& processes, size_t groups)
      : groups_(groups), medians_(groups) {
    for (const SummedKernels& process : processes) {
      for (const TrackSums& track : process.tracks) {
        for (const SignatureSums& each : track.signatures) Note(each);
        AddPieces(tracks_.size(), track.track->kernel, &pieces_);
        tracks_.push_back({&track, process.only});
      }
    }
    for (Group& group : groups_) {
      if (group.rows > kFewRows) Begin(&group);
    }
  }

  std::vector<int64_t> Find(int threads) {
    CloseFound();
    while (std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.is_open; }))
      Round(threads);
    return std::move(medians_);
  }

 private:
  void Note(const SignatureSums& sums) {
    Group& group = groups_[sums.group];
    group.rows += sums.rows;
    group.count += sums.count;
    group.min_ns = std::min(group.min_ns, sums.min_ns);
    group.max_ns = std::max(group.max_ns, sums.max_ns);
  }

  // As Samples::median() has it: the smallest value that at least half of all do not exceed.
  static void Begin(Group* group) {
    const uint64_t rank = (std::max<uint64_t>(group->count, 1) - 1) / 2;
    group->search.emplace(group->min_ns, group->max_ns, rank);
  }

  void CloseFound() {
    for (size_t i = 0; i < groups_.size(); ++i) {
      Group& group = groups_[i];
      if (!group.is_open || !group.search || !group.search->is_found()) continue;
      medians_[i] = group.search->value();
      group.is_open = false;
    }
  }

  // Counts of all groups take no more memory than a few bytes for each row, whatever the threads.
  int ThreadsFor(int threads) const {
    constexpr size_t kLeast = 64u << 20, kBytesOfRow = 2;
    const auto open =
        static_cast<size_t>(std::count_if(groups_.begin(), groups_.end(), [](const Group& group) {
          return group.is_open && group.search.has_value();
        }));
    size_t rows = 0;
    for (const Group& group : groups_) rows += group.rows;
    const size_t bytes = std::max<size_t>(open, 1) * RankSearch::kCounts * sizeof(uint64_t);
    const size_t room = std::max(kLeast, rows * kBytesOfRow);
    return static_cast<int>(
        std::clamp<size_t>(room / bytes, 1, static_cast<size_t>(ThreadCount(threads))));
  }

  void Round(int threads) {
    threads = ThreadsFor(threads);
    std::vector<std::unique_ptr<Counter>> counters(static_cast<size_t>(threads));
    ParallelFor(pieces_.size(), threads, [&](size_t index, int worker) {
      std::unique_ptr<Counter>& counter = counters[static_cast<size_t>(worker)];
      if (counter == nullptr) counter = std::make_unique<Counter>(tracks_, groups_);
      counter->Add(pieces_[index]);
    });
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].is_open) EndRound(i, counters);
    }
    CloseFound();
  }

  void EndRound(size_t index, const std::vector<std::unique_ptr<Counter>>& counters) {
    Group& group = groups_[index];
    Part all;
    all.counts.resize(group.search ? RankSearch::kCounts : 0);
    for (const std::unique_ptr<Counter>& counter : counters) {
      if (counter == nullptr) continue;
      const Part& part = counter->parts()[index];
      for (size_t i = 0; i < part.counts.size(); ++i) all.counts[i] += part.counts[i];
      for (size_t i = 0; i < part.durations.values().size(); ++i)
        all.durations.Add(part.durations.values()[i], part.durations.Weight(i));
    }
    if (group.search) return group.search->Narrow(all.counts);
    medians_[index] = all.durations.Take().median();
    group.is_open = false;
  }

  std::vector<PlacedTrack> tracks_;
  std::vector<KernelPiece> pieces_;
  std::vector<Group> groups_;
  std::vector<int64_t> medians_;
};

}  // namespace

std::vector<int64_t> FindMedians(const std::vector<SummedKernels>& processes, size_t groups,
                                 int threads) {
  return MedianFinder(processes, groups).Find(threads);
}

}  // namespace gpuprof::analysis
