// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See work_sums.h. Durations are summed in ticks. The sums of a table are converted by the mean
// rate of the clock while the table had work. So the sums that a file has and those of its rows are
// the same.

#include "analysis/read/work_sums.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/read/block_worker.h"
#include "proto/codec/span_sums.h"
#include "proto/codec/work_sums_reader.h"

namespace gpuprof::analysis {
namespace {

using proto::ChunkKind;

// A chained table's first columns.
constexpr int kEnd = 0, kDuration = 1, kKey = 2;
constexpr codec::ColumnMask kSpanMask = 1u << kEnd | 1u << kDuration | 1u << kKey;

// A block with work.
struct WorkBlock {
  const codec::BlockRef* block;
  size_t track;
  ChunkKind kind;
  bool is_summed = false;
};

struct Task {
  TraceFile* file;
  WorkBlock work;
};

struct Worker {
  BlockWorker blocks;
  codec::EventColumns columns;
  codec::SpanSums sums{proto::kMaxRowsPerChunk};
};

// Converts durations of one block.
class BlockClock {
 public:
  BlockClock(const ClockMap& clock, const proto::BlockHeader& header)
      : first_ns_(clock.Convert(header.first_time)),
        last_ns_(std::max(first_ns_, clock.Convert(header.last_time))) {
    const uint64_t ticks = header.last_time - header.first_time;
    if (ticks != 0) rate_ = static_cast<double>(last_ns_ - first_ns_) / static_cast<double>(ticks);
  }
  int64_t first_ns() const { return first_ns_; }
  int64_t last_ns() const { return last_ns_; }
  int64_t Duration(uint64_t ticks) const { return ToNs(ticks, rate_); }

  static int64_t ToNs(uint64_t ticks, double rate) {
    constexpr double kMost = static_cast<double>(ClockMap::kTimeLimit);
    return static_cast<int64_t>(std::min(static_cast<double>(ticks) * rate + 0.5, kMost));
  }

 private:
  int64_t first_ns_, last_ns_;
  double rate_ = 1;
};

// The work of one table on one track. All of it is whole numbers, so that neither the order of the
// blocks makes a difference, nor who summed them.
struct OfTable {
  struct Key {
    uint64_t rows = 0;
    uint64_t count = 0;
    // In ticks. The total is that of all that the rows stand for.
    uint64_t total = 0;
    uint64_t least = ~uint64_t{0};
    uint64_t most = 0;
    uint64_t bytes = 0;
  };
  std::map<uint32_t, Key> keys;
  bool lacks_bytes = false;
  uint64_t busy_ticks = 0, busy_ns = 0;

  void Add(const codec::KeyedSums::Key& from, uint64_t weight);
  TableSums Converted(ChunkKind kind) const;
};

void OfTable::Add(const codec::KeyedSums::Key& from, uint64_t weight) {
  Key& to = keys[static_cast<uint32_t>(from.key)];
  to.rows += from.rows;
  to.count += from.rows * weight;
  to.total += from.total * weight;
  to.least = std::min(to.least, from.least);
  to.most = std::max(to.most, from.most);
  to.bytes += from.value * weight;
}

TableSums OfTable::Converted(ChunkKind kind) const {
  TableSums table;
  table.kind = kind;
  table.lacks_bytes = lacks_bytes;
  const double rate =
      busy_ticks == 0 ? 1 : static_cast<double>(busy_ns) / static_cast<double>(busy_ticks);
  for (const auto& [key, from] : keys) {
    KeySums& sums = table.keys.emplace_back();
    sums.key = key;
    sums.rows = from.rows;
    sums.count = from.count;
    sums.total_ns = BlockClock::ToNs(from.total, rate);
    sums.min_ns = BlockClock::ToNs(from.least, rate);
    sums.max_ns = BlockClock::ToNs(from.most, rate);
    sums.bytes = from.bytes;
  }
  return table;
}

class SumLoad {
 public:
  // Plans the blocks of a file, and takes the sums that it has.
  void Plan(TraceFile* file, bool trusts_sums);
  // Sums the other blocks.
  void Sum(int threads);
  void Finish();

 private:
  struct OfTrack {
    std::map<ChunkKind, OfTable> tables;
    std::vector<BusyStretch> stretches;
  };

  void Take(TraceFile* file, const codec::BlockRef& table, std::vector<WorkBlock>* blocks);
  const char* TakeGroup(TraceFile* file, uint32_t sequence, const codec::WorkGroup& group,
                        std::vector<WorkBlock>* blocks);
  void SumBlock(const Task& task, Worker* worker);
  void Add(const Task& task, const Worker& worker);
  OfTable* AddStretch(TraceFile* file, const WorkBlock& work, uint64_t busy);

  std::vector<Task> tasks_;
  std::mutex mutex_;
  std::map<std::pair<TraceFile*, size_t>, OfTrack> sums_;
  std::vector<std::pair<TraceFile*, codec::Fault>> failures_;
};

void SumLoad::Plan(TraceFile* file, bool trusts_sums) {
  std::vector<WorkBlock> blocks;
  for (const PlannedBlock& planned : file->Plan()) {
    if (!proto::IsSummedWork(planned.kind)) continue;
    Track* track = file->TrackOf(planned.track, 0);
    if (track == nullptr) continue;
    const auto index = static_cast<size_t>(track - file->process().tracks.data());
    blocks.push_back({planned.block, index, planned.kind});
  }
  for (const codec::BlockRef& table : file->scan().blocks) {
    if (trusts_sums && static_cast<ChunkKind>(table.header.kind) == ChunkKind::kWorkSums)
      Take(file, table, &blocks);
  }
  for (const WorkBlock& block : blocks) {
    if (!block.is_summed) tasks_.push_back({file, block});
  }
}

void SumLoad::Take(TraceFile* file, const codec::BlockRef& table, std::vector<WorkBlock>* blocks) {
  codec::Fault fault{table.offset, ""};
  std::vector<codec::WorkGroup> groups;
  const uint8_t* message = nullptr;
  uint64_t bytes = 0;
  BlockReader reader;
  file->input().Show(&reader.view);
  if (table.header.raw_bytes > proto::kMaxRawSumsBytes) {
    fault.what = "sums of work are beyond the format's limits";
  } else if (reader.Decompress(table, &message, &bytes, &fault)) {
    const char* what = codec::ReadWorkSums(message, bytes, &groups);
    for (size_t i = 0; i < groups.size() && what == nullptr; ++i)
      what = TakeGroup(file, table.header.sequence, groups[i], blocks);
    if (what != nullptr) fault.what = what;
  }
  if (!fault.what.empty()) failures_.emplace_back(file, std::move(fault));
}

// The blocks are in the order of their numbers, unless the file is made for it. Then some are not
// found, and are decoded.
const char* SumLoad::TakeGroup(TraceFile* file, uint32_t sequence, const codec::WorkGroup& group,
                               std::vector<WorkBlock>* blocks) {
  std::vector<WorkBlock*> summed;
  uint64_t rows = 0, longest = 0;
  for (size_t i = 0; i < group.blocks_back.size(); ++i) {
    const uint64_t number = sequence - group.blocks_back[i];
    const auto found = std::lower_bound(
        blocks->begin(), blocks->end(), number,
        [](const WorkBlock& x, uint64_t y) { return x.block->header.sequence < y; });
    if (found == blocks->end() || found->block->header.sequence != number)
      return "sums of a block that is not there";
    const proto::BlockHeader& header = found->block->header;
    if (header.kind != group.kind || header.track != group.track)
      return "sums of a block of another table or track";
    const uint64_t length = header.last_time - header.first_time;
    if (group.busy[i] > length) return "sums of work cannot be true";
    if (found->is_summed || (!summed.empty() && &*found <= summed.back()))
      return "sums of a block twice";
    rows += header.count;
    longest = std::max(longest, length);
    summed.push_back(&*found);
  }
  for (const codec::KeyedSums::Key& key : group.keys) {
    if (key.most > longest) return "sums of work cannot be true";
  }
  if (rows != group.rows) return "sums of other rows than the blocks have";
  OfTable* table = nullptr;
  for (size_t i = 0; i < summed.size(); ++i) {
    summed[i]->is_summed = true;
    table = AddStretch(file, *summed[i], group.busy[i]);
  }
  for (const codec::KeyedSums::Key& key : group.keys) table->Add(key, group.sampled_one_in);
  table->lacks_bytes |= group.lacks_bytes;
  return nullptr;
}

void SumLoad::SumBlock(const Task& task, Worker* worker) {
  const int value_column = proto::SummedColumn(*proto::FindTable(task.work.kind));
  const codec::ColumnMask mask = kSpanMask | (value_column != 0 ? 1u << value_column : 0);
  codec::EventColumns& columns = worker->columns;
  codec::Fault fault;
  if (!worker->blocks.Read(task.file, *task.work.block, mask, &columns, &fault)) {
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
  const uint64_t* const ends = column(kEnd);
  const uint64_t* const durations = column(kDuration);
  const uint64_t* const keys = column(kKey);
  const uint64_t* const values = value_column != 0 ? column(value_column) : nullptr;
  constexpr uint32_t kAtOnce = 64;
  uint64_t starts[kAtOnce];
  worker->sums.Clear();
  for (uint32_t first = 0; first < columns.count; first += kAtOnce) {
    const uint32_t some = std::min(columns.count - first, kAtOnce);
    for (uint32_t i = 0; i < some; ++i) {
      const uint64_t end = ends[first + i];
      starts[i] = end - std::min(durations[first + i], end);
    }
    worker->sums.Add(some, keys + first, starts, ends + first,
                     values != nullptr ? values + first : nullptr);
  }
  Add(task, *worker);
}

void SumLoad::Add(const Task& task, const Worker& worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  OfTable* const table = AddStretch(task.file, task.work, worker.sums.busy());
  for (const codec::KeyedSums::Key& key : worker.sums.keys())
    table->Add(key, worker.columns.sampled_one_in);
  table->lacks_bytes |= worker.sums.lacks_values();
}

// Returns the table of the block.
OfTable* SumLoad::AddStretch(TraceFile* file, const WorkBlock& work, uint64_t busy) {
  const BlockClock clock(file->clock_of(work.kind), work.block->header);
  OfTrack& track = sums_[{file, work.track}];
  const int64_t busy_ns = clock.Duration(busy);
  track.stretches.push_back({clock.first_ns(), clock.last_ns(), busy_ns, work.kind});
  OfTable& table = track.tables[work.kind];
  table.busy_ticks += busy;
  table.busy_ns += static_cast<uint64_t>(busy_ns);
  return &table;
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
    for (const auto& [kind, table] : sums.tables) work.tables.push_back(table.Converted(kind));
    work.stretches = std::move(sums.stretches);
    std::stable_sort(work.stretches.begin(), work.stretches.end(),
                     [](const BusyStretch& x, const BusyStretch& y) {
                       return std::tie(x.first_ns, x.last_ns, x.kind, x.busy_ns) <
                              std::tie(y.first_ns, y.last_ns, y.kind, y.busy_ns);
                     });
  }
  std::stable_sort(failures_.begin(), failures_.end(), [](const auto& x, const auto& y) {
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
      if (proto::IsSummedWork(static_cast<ChunkKind>(totals.kind))) rows += totals.rows;
    }
  }
  return rows;
}

void LoadWorkSums(const std::vector<std::unique_ptr<TraceFile>>& files, int threads,
                  bool trusts_sums) {
  SumLoad load;
  for (const std::unique_ptr<TraceFile>& file : files) load.Plan(file.get(), trusts_sums);
  load.Sum(threads);
  load.Finish();
}

}  // namespace gpuprof::analysis
