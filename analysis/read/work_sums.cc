// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See work_sums.h. Durations are summed in ticks, and the sums are converted by the mean rate of
// the clock within their block.

#include "analysis/read/work_sums.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/read/block_worker.h"
#include "proto/codec/span_sums.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

constexpr std::array kSummed = {ChunkKind::kKernel, ChunkKind::kMemcpy, ChunkKind::kMemset,
                                ChunkKind::kGraphLaunch};

// A chained table's first columns, and the bytes of copies and memsets.
constexpr int kEnd = 0, kDuration = 1, kKey = 2, kBytes = 4;
constexpr codec::ColumnMask kSpanMask = 1u << kEnd | 1u << kDuration | 1u << kKey;

bool IsSummed(ChunkKind kind) {
  return std::find(kSummed.begin(), kSummed.end(), kind) != kSummed.end();
}

bool HasBytes(ChunkKind kind) { return kind == ChunkKind::kMemcpy || kind == ChunkKind::kMemset; }

struct Task {
  TraceFile* file;
  const codec::BlockRef* block;
  size_t track;
  ChunkKind kind;
};

struct Worker {
  BlockWorker blocks;
  codec::EventColumns columns;
  codec::SpanSums sums;
};

// Converts durations of one block.
class BlockClock {
 public:
  BlockClock(const ClockMap& clock, const proto::BlockHeader& header)
      : first_ns_(clock.Convert(header.first_time)), last_ns_(clock.Convert(header.last_time)) {
    const uint64_t ticks = header.last_time - header.first_time;
    if (ticks != 0) rate_ = static_cast<double>(last_ns_ - first_ns_) / static_cast<double>(ticks);
  }
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }
  int64_t Duration(uint64_t ticks) const {
    constexpr double kMost = static_cast<double>(ClockMap::kTimeLimit);
    return static_cast<int64_t>(std::min(static_cast<double>(ticks) * rate_ + 0.5, kMost));
  }

 private:
  int64_t first_ns_, last_ns_;
  double rate_ = 1;
};

void Join(const KeySums& from, KeySums* to) {
  if (to->rows == 0) {
    *to = from;
    return;
  }
  to->rows += from.rows;
  to->count += from.count;
  to->total_ns += from.total_ns;
  to->min_ns = std::min(to->min_ns, from.min_ns);
  to->max_ns = std::max(to->max_ns, from.max_ns);
  to->bytes += from.bytes;
}

class SumLoad {
 public:
  void Plan(TraceFile* file);
  void Sum(int threads);
  void Finish();

 private:
  struct OfTrack {
    std::map<ChunkKind, std::map<uint32_t, KeySums>> tables;
    std::map<ChunkKind, bool> lacks_bytes;
    std::vector<BusyStretch> stretches;
  };

  void SumBlock(const Task& task, Worker* worker);
  void Add(const Task& task, const Worker& worker, bool lacks_bytes);

  std::vector<Task> tasks_;
  std::mutex mutex_;
  std::map<std::pair<TraceFile*, size_t>, OfTrack> sums_;
  std::vector<std::pair<TraceFile*, codec::Fault>> failures_;
};

void SumLoad::Plan(TraceFile* file) {
  for (const PlannedBlock& planned : file->Plan()) {
    if (!IsSummed(planned.kind)) continue;
    Track* track = file->TrackOf(planned.track, 0);
    if (track == nullptr) continue;
    const auto index = static_cast<size_t>(track - file->process().tracks.data());
    tasks_.push_back({file, planned.block, index, planned.kind});
  }
}

void SumLoad::SumBlock(const Task& task, Worker* worker) {
  const bool has_bytes = HasBytes(task.kind);
  const codec::ColumnMask mask = kSpanMask | (has_bytes ? 1u << kBytes : 0);
  codec::EventColumns& columns = worker->columns;
  codec::Fault fault;
  if (!worker->blocks.Read(task.file, *task.block, mask, &columns, &fault)) {
    std::lock_guard<std::mutex> lock(mutex_);
    failures_.emplace_back(task.file, std::move(fault));
    return;
  }
  // A column that was left out is zero in every row.
  const auto column = [&](int number) -> const uint64_t* {
    std::vector<uint64_t>& values = columns.column[number];
    if (values.empty()) values.assign(columns.count, 0);
    return values.data();
  };
  const uint64_t* ends = column(kEnd);
  const uint64_t* durations = column(kDuration);
  const uint64_t* keys = column(kKey);
  const uint64_t* bytes = has_bytes ? column(kBytes) : nullptr;
  bool lacks_bytes = false;
  worker->sums.Clear();
  for (uint32_t i = 0; i < columns.count; ++i) {
    uint64_t value = bytes == nullptr ? 0 : bytes[i];
    if (value == kUnknownBytes) {
      lacks_bytes = true;
      value = 0;
    }
    worker->sums.Add(keys[i], ends[i] - std::min(durations[i], ends[i]), ends[i], value);
  }
  Add(task, *worker, lacks_bytes);
}

void SumLoad::Add(const Task& task, const Worker& worker, bool lacks_bytes) {
  const BlockClock clock(task.file->clock_of(task.kind), task.block->header);
  const uint64_t weight = worker.columns.sampled_one_in;
  std::lock_guard<std::mutex> lock(mutex_);
  OfTrack& track = sums_[{task.file, task.track}];
  track.stretches.push_back(
      {clock.first_ns(), clock.last_ns(), clock.Duration(worker.sums.busy()), task.kind});
  track.lacks_bytes[task.kind] |= lacks_bytes;
  std::map<uint32_t, KeySums>& table = track.tables[task.kind];
  for (const codec::SpanSums::Key& key : worker.sums.keys()) {
    KeySums sums;
    sums.key = static_cast<uint32_t>(key.key);
    sums.rows = key.rows;
    sums.count = key.rows * weight;
    sums.total_ns = clock.Duration(key.total * weight);
    sums.min_ns = clock.Duration(key.least);
    sums.max_ns = clock.Duration(key.most);
    sums.bytes = key.value * weight;
    Join(sums, &table[sums.key]);
  }
}

void SumLoad::Sum(int threads) {
  threads = ThreadCount(threads);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<size_t>(threads));
  ParallelFor(tasks_.size(), threads, [&](size_t index, int worker_index) {
    std::unique_ptr<Worker>& worker = workers[static_cast<size_t>(worker_index)];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    SumBlock(tasks_[index], worker.get());
  });
}

void SumLoad::Finish() {
  for (auto& [place, sums] : sums_) {
    WorkSummary& work = place.first->process().tracks[place.second].work;
    for (const auto& [kind, keys] : sums.tables) {
      TableSums& table = work.tables.emplace_back();
      table.kind = kind;
      table.lacks_bytes = sums.lacks_bytes[kind];
      for (const auto& [key, each] : keys) table.keys.push_back(each);
    }
    work.stretches = std::move(sums.stretches);
    std::sort(work.stretches.begin(), work.stretches.end(),
              [](const BusyStretch& x, const BusyStretch& y) {
                return std::pair(x.first_ns, x.last_ns) < std::pair(y.first_ns, y.last_ns);
              });
  }
  std::sort(failures_.begin(), failures_.end(), [](const auto& x, const auto& y) {
    return std::pair(x.first->name(), x.second.offset) <
           std::pair(y.first->name(), y.second.offset);
  });
  for (const auto& [file, fault] : failures_)
    file->faults().push_back({file->name(), fault.offset, fault.what});
}

}  // namespace

TableSet SummableTables() {
  return {ChunkKind::kKernel,      ChunkKind::kMemcpy, ChunkKind::kMemset,
          ChunkKind::kGraphLaunch, ChunkKind::kApi,    ChunkKind::kSync,
          ChunkKind::kCudaEvent,   ChunkKind::kLaunch, ChunkKind::kOverhead};
}

uint64_t CountWork(const std::vector<std::unique_ptr<TraceFile>>& files) {
  uint64_t rows = 0;
  for (const std::unique_ptr<TraceFile>& file : files) {
    for (const KindTotals& totals : file->process().kinds) {
      if (IsSummed(static_cast<ChunkKind>(totals.kind))) rows += totals.rows;
    }
  }
  return rows;
}

void LoadWorkSums(const std::vector<std::unique_ptr<TraceFile>>& files, int threads) {
  SumLoad load;
  for (const std::unique_ptr<TraceFile>& file : files) load.Plan(file.get());
  load.Sum(threads);
  load.Finish();
}

}  // namespace gpuprof::analysis
