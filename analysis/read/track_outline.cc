// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See track_outline.h.

#include "analysis/read/track_outline.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/base/result.h"
#include "analysis/read/block_worker.h"
#include "proto/operations.h"
#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

constexpr int kEnd = 0, kDuration = 1, kKey = 2, kRangeOperation = 3;
constexpr codec::ColumnMask kSpanMask = 1u << kEnd | 1u << kDuration | 1u << kKey;

// Rows of a stretch, about.
constexpr uint64_t kStretchRows = 131'072;
// Stretches whose blocks are decoded at once, by all threads.
constexpr size_t kBatch = 8;
// Most decoded rows that wait for a later stretch. Others are decoded again.
constexpr uint64_t kMostKeptRows = 1u << 21;
// Blocks that overlap are decoded again and again: not more often than this.
constexpr uint64_t kMostTimes = 6;
// Most rows of the blocks of a batch.
constexpr uint64_t kMostBatchRows = 1u << 23;

// Columns take memory in the page. Where they are too wide, the page decodes what it shows.
uint32_t ColumnsFor(uint64_t rows) {
  constexpr uint64_t kRowsPerColumn = 128, kLeast = 4096, kMost = 131'072;
  return static_cast<uint32_t>(std::clamp(rows / kRowsPerColumn, kLeast, kMost));
}

struct Piece {
  PlannedBlock block;
  uint64_t first_row = 0;
};

// A stretch of the track's time, with the pieces that may have rows in it.
struct Stretch {
  int64_t from = kBeforeAll, to = kAfterAll;
  std::vector<uint32_t> pieces;
};

// Parts the time of a track, so that about so many rows begin in each part.
std::vector<Stretch> PlanStretches(const std::vector<Piece>& pieces) {
  std::vector<const Piece*> by_end;
  for (const Piece& piece : pieces) by_end.push_back(&piece);
  std::stable_sort(by_end.begin(), by_end.end(), [](const Piece* x, const Piece* y) {
    return x->block.last_ns < y->block.last_ns;
  });
  std::vector<Stretch> stretches(1);
  uint64_t rows = 0;
  for (const Piece* piece : by_end) {
    rows += piece->block.rows;
    const int64_t border = piece->block.last_ns;
    if (rows < kStretchRows || border <= stretches.back().from || piece == by_end.back()) continue;
    stretches.back().to = border;
    stretches.emplace_back().from = border;
    rows = 0;
  }
  for (uint32_t i = 0; i < pieces.size(); ++i) {
    const PlannedBlock& block = pieces[i].block;
    const auto first =
        std::partition_point(stretches.begin(), stretches.end(),
                             [&](const Stretch& stretch) { return stretch.to <= block.first_ns; });
    for (auto at = first; at != stretches.end() && at->from <= block.last_ns; ++at)
      at->pieces.push_back(i);
  }
  return stretches;
}

// Numbers what spans are called, in the order in which it is first met.
class NameNumbers {
 public:
  explicit NameNumbers(const OutlineRequest& request) : request_(request) {}

  uint32_t Find(ChunkKind kind, uint32_t key) {
    const uint64_t both = uint64_t{static_cast<uint16_t>(kind)} << 32 | key;
    if (both == last_ && !names_.empty()) return last_number_;
    const auto [at, is_new] = numbers_.try_emplace(both, static_cast<uint32_t>(names_.size()));
    if (is_new) {
      names_.push_back({static_cast<uint16_t>(kind), key});
      classes_.push_back(request_.ClassOf(static_cast<uint16_t>(kind), key));
    }
    last_ = both;
    return last_number_ = at->second;
  }
  const std::vector<uint8_t>& classes() const { return classes_; }
  std::vector<OutlineName> Take() { return std::move(names_); }

 private:
  const OutlineRequest& request_;
  std::unordered_map<uint64_t, uint32_t> numbers_;
  std::vector<OutlineName> names_;
  std::vector<uint8_t> classes_;
  uint64_t last_ = 0;
  uint32_t last_number_ = 0;
};

// A decoded block. `name` of its spans is still a key.
using Spans = std::vector<OutlineSpan>;

class OutlineMaker {
 public:
  OutlineMaker(const TraceFile& file, const OutlineRequest& request)
      : file_(file), names_(request) {}

  Error Make(const std::vector<std::pair<ChunkKind, std::vector<PlannedBlock>>>& tables,
             TrackOutline* made);

 private:
  Error Decode(const std::vector<Stretch>& stretches, size_t first, size_t until);
  bool DecodePiece(const Piece& piece, BlockWorker* worker, codec::EventColumns* columns,
                   Spans* spans, codec::Fault* fault) const;
  void Gather(const Stretch& stretch, Spans* spans);
  void Forget(int64_t before);

  const TraceFile& file_;
  NameNumbers names_;
  std::vector<Piece> pieces_;
  std::vector<std::unique_ptr<Spans>> decoded_;  // by piece
  std::vector<uint32_t> kept_;                   // decoded pieces
  uint64_t decoded_rows_ = 0, rows_ = 0;
};

bool OutlineMaker::DecodePiece(const Piece& piece, BlockWorker* worker,
                               codec::EventColumns* columns, Spans* spans,
                               codec::Fault* fault) const {
  const bool is_range = piece.block.kind == ChunkKind::kRange;
  const codec::ColumnMask mask = kSpanMask | (is_range ? 1u << kRangeOperation : 0);
  if (!worker->Read(&file_, *piece.block.block, mask, columns, fault)) return false;
  const auto value = [&](int column, uint32_t row) {
    // A column that was left out is zero in every row.
    const std::vector<uint64_t>& values = columns->column[column];
    return values.empty() ? 0 : values[row];
  };
  spans->reserve(columns->count);
  ClockMap::Cursor ends(file_.clock_of(piece.block.kind)), starts = ends;
  for (uint32_t i = 0; i < columns->count; ++i) {
    // Names that the program gives to things are rows of ranges, too, but not spans.
    if (is_range && proto::RangeKindOf(static_cast<uint32_t>(value(kRangeOperation, i))) >
                        proto::RangeKind::kMark)
      continue;
    const uint64_t end = value(kEnd, i);
    const int64_t end_ns = ends.Convert(end);
    const int64_t start_ns = starts.Convert(end - std::min(value(kDuration, i), end));
    spans->push_back({std::min(start_ns, end_ns), end_ns, static_cast<uint32_t>(value(kKey, i)),
                      static_cast<uint32_t>(piece.first_row + i),
                      std::max<uint32_t>(columns->sampled_one_in, 1)});
  }
  return true;
}

Error OutlineMaker::Decode(const std::vector<Stretch>& stretches, size_t first, size_t until) {
  std::vector<uint32_t> wanted;
  uint64_t batch_rows = 0;
  for (size_t i = first; i < until; ++i) {
    for (const uint32_t piece : stretches[i].pieces) {
      if (decoded_[piece] != nullptr) continue;
      decoded_[piece] = std::make_unique<Spans>();
      wanted.push_back(piece);
      batch_rows += pieces_[piece].block.rows;
    }
  }
  decoded_rows_ += batch_rows;
  if (batch_rows > kMostBatchRows || decoded_rows_ > kMostTimes * (rows_ + kStretchRows))
    return Unreadable("the blocks of the track overlap too much");
  kept_.insert(kept_.end(), wanted.begin(), wanted.end());
  struct Worker {
    BlockWorker blocks;
    codec::EventColumns columns;
  };
  const int threads = ThreadCount(0);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<size_t>(threads));
  std::mutex mutex;
  Error error;
  ParallelFor(wanted.size(), threads, [&](size_t index, int number) {
    std::unique_ptr<Worker>& worker = workers[static_cast<size_t>(number)];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    codec::Fault fault;
    const uint32_t piece = wanted[index];
    if (DecodePiece(pieces_[piece], &worker->blocks, &worker->columns, decoded_[piece].get(),
                    &fault))
      return;
    std::lock_guard<std::mutex> lock(mutex);
    error = Unreadable(file_.name() + ", byte " + std::to_string(fault.offset) + ": " + fault.what);
  });
  return error;
}

// Takes the spans that begin in the stretch.
void OutlineMaker::Gather(const Stretch& stretch, Spans* spans) {
  spans->clear();
  for (const uint32_t piece : stretch.pieces) {
    const ChunkKind kind = pieces_[piece].block.kind;
    for (const OutlineSpan& span : *decoded_[piece]) {
      if (span.start < stretch.from || span.start >= stretch.to) continue;
      OutlineSpan& taken = spans->emplace_back(span);
      taken.name = names_.Find(kind, span.name);
    }
  }
}

// Forgets blocks that no later stretch needs, and more of them if there are too many.
void OutlineMaker::Forget(int64_t before) {
  uint64_t rows = 0;
  std::vector<uint32_t> kept;
  for (const uint32_t piece : kept_) {
    const PlannedBlock& block = pieces_[piece].block;
    if (block.last_ns < before || rows + block.rows > kMostKeptRows) {
      decoded_[piece] = nullptr;
    } else {
      rows += block.rows;
      kept.push_back(piece);
    }
  }
  kept_ = std::move(kept);
}

Error OutlineMaker::Make(const std::vector<std::pair<ChunkKind, std::vector<PlannedBlock>>>& tables,
                         TrackOutline* made) {
  int64_t first_ns = kAfterAll, last_ns = kBeforeAll;
  for (const auto& [kind, blocks] : tables) {
    for (const PlannedBlock& block : blocks) {
      pieces_.push_back({block, rows_});
      rows_ += block.rows;
      first_ns = std::min(first_ns, block.first_ns);
      last_ns = std::max(last_ns, block.last_ns);
    }
  }
  made->rows = rows_;
  if (pieces_.empty()) return {};
  if (rows_ > UINT32_MAX) return Unreadable("the track has too many rows for one outline");
  decoded_.resize(pieces_.size());
  const std::vector<Stretch> stretches = PlanStretches(pieces_);
  OutlineBuilder builder(first_ns, last_ns, ColumnsFor(rows_));
  Spans spans;
  for (size_t first = 0; first < stretches.size(); first += kBatch) {
    const size_t until = std::min(first + kBatch, stretches.size());
    if (Error error = Decode(stretches, first, until)) return error;
    for (size_t i = first; i < until; ++i) {
      Gather(stretches[i], &spans);
      builder.AddStretch(stretches[i].from, stretches[i].to, &spans, names_.classes());
    }
    if (until < stretches.size()) Forget(stretches[until].from);
  }
  made->names = names_.Take();
  made->outline = builder.Finish();
  return {};
}

}  // namespace

Error MakeTrackOutline(const TraceFile& file, const OutlineRequest& request, TrackOutline* made) {
  std::vector<std::pair<ChunkKind, std::vector<PlannedBlock>>> tables;
  for (const OutlineTable& table : request.tables) {
    const auto kind = static_cast<ChunkKind>(table.kind);
    const proto::TableSpec* spec = proto::FindTable(kind);
    if (spec == nullptr || spec->columns <= kKey ||
        spec->column[kDuration].type != proto::ColumnType::kDuration)
      return Unreadable("table " + std::to_string(table.kind) + " has no spans");
    tables.emplace_back(kind, std::vector<PlannedBlock>());
  }
  for (const PlannedBlock& block : file.Plan()) {
    if (block.track != request.track) continue;
    for (auto& [kind, blocks] : tables) {
      if (kind == block.kind) blocks.push_back(block);
    }
  }
  return OutlineMaker(file, request).Make(tables, made);
}

}  // namespace gpuprof::analysis
