// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See lazy_rows.h.

#include "analysis/read/lazy_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/base/column.h"
#include "analysis/model/table_rows.h"
#include "analysis/read/block_worker.h"
#include "analysis/read/track_columns.h"

namespace gpuprof::analysis {

// What all tables of a trace share.
struct LazyRows::Shared {
  struct Worker {
    BlockWorker blocks;
    codec::EventColumns columns;
  };

  std::unique_ptr<Worker> TakeWorker() {
    std::lock_guard<std::mutex> lock(mutex);
    if (workers.empty()) return std::make_unique<Worker>();
    std::unique_ptr<Worker> worker = std::move(workers.back());
    workers.pop_back();
    return worker;
  }
  void Return(std::unique_ptr<Worker> worker) {
    std::lock_guard<std::mutex> lock(mutex);
    workers.push_back(std::move(worker));
  }
  void NoteUnordered(proto::ChunkKind kind) {
    std::lock_guard<std::mutex> lock(mutex);
    unordered = unordered | TableSet{kind};
  }

  std::vector<TraceFiles> files;
  std::atomic<uint32_t> now{1};
  std::atomic<bool> is_damaged{false};
  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> workers;  // that nobody uses
  TableSet unordered;
};

class LazyTable : public SegmentSource {
 public:
  LazyTable(std::shared_ptr<LazyRows::Shared> shared, const TraceFile* file,
            std::vector<PlannedBlock> blocks)
      : SegmentSource(&shared->now),
        shared_(std::move(shared)),
        file_(file),
        blocks_(std::move(blocks)),
        table_(proto::FindTable(blocks_.front().kind)) {}

  // Makes the columns of `track`, which have this table as their source.
  static void Plan(const std::shared_ptr<LazyTable>& table, Track* track) {
    std::vector<uint32_t> rows;
    for (const PlannedBlock& block : table->blocks_) rows.push_back(block.rows);
    VisitColumns(track, table->kind(), [&](auto& column) {
      const int number = static_cast<int>(table->columns_.size());
      table->columns_.push_back(column.PlanLazy(table, number, rows));
    });
    table->SetZones();
  }

  proto::ChunkKind kind() const { return blocks_.front().kind; }
  size_t blocks() const { return blocks_.size(); }
  uint64_t BytesOf(size_t block) const {
    uint64_t bytes = 0;
    ForEachColumn([&](int, ColumnSegments* column) { bytes += column->BytesOf(block); });
    return bytes;
  }
  // Returns when a column of the block was last read.
  uint32_t LastUse(size_t block) const {
    uint32_t last = 0;
    ForEachColumn(
        [&](int, ColumnSegments* column) { last = std::max(last, column->LastUse(block)); });
    return last;
  }
  void LetGo(size_t block) {
    ForEachColumn([&](int, ColumnSegments* column) { column->LetGo(block); });
  }
  void EndQuestion() { wanted_ = 0; }

  void Bring(int number, size_t block) override {
    const std::lock_guard<std::mutex> lock(mutexes_[block % kMutexes]);
    const uint32_t wanted = wanted_.fetch_or(1u << number) | 1u << number;
    uint32_t missing = 0;
    ForEachColumn([&](int each, ColumnSegments* column) {
      const bool is_wanted = (wanted >> each & 1) != 0 || each >= static_cast<int>(table_->columns);
      if (is_wanted && !column->Has(block)) missing |= 1u << each;
    });
    if ((missing >> number & 1) == 0) return;  // it came meanwhile
    std::unique_ptr<LazyRows::Shared::Worker> worker = shared_->TakeWorker();
    Track decoded;
    PlanTable(&decoded, kind(), 1);
    Decode(block, missing, worker.get(), &decoded);
    FinishTable(&decoded, kind());
    shared_->Return(std::move(worker));
    int at = 0;
    VisitColumns(&decoded, kind(), [&](auto& column) {
      const int each = at++;
      if ((missing >> each & 1) == 0) return;
      const std::shared_ptr<ColumnSegments> to = columns_[static_cast<size_t>(each)].lock();
      if (to != nullptr) column.GiveTo(to.get(), block);
    });
  }

 private:
  static constexpr size_t kMutexes = 16;

  template <typename Visit>
  void ForEachColumn(const Visit& visit) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::shared_ptr<ColumnSegments> column = columns_[i].lock();
      if (column != nullptr) visit(static_cast<int>(i), column.get());
    }
  }

  bool HasDurations() const { return table_->column[1].type == proto::ColumnType::kDuration; }

  // All times of a block lie between those of its header, starts of spans too.
  void SetZones() {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const PlannedBlock& block = blocks_[i];
      const auto length = static_cast<uint64_t>(block.last_ns - block.first_ns);
      const proto::BlockHeader& header = block.block->header;
      ClockMap::Line line;
      if (!file_->clock_of(kind()).FindLine(header.first_time, header.last_time, &line)) continue;
      ForEachColumn([&](int number, ColumnSegments* column) {
        if (number == 0) column->SetZone(i, static_cast<uint64_t>(block.first_ns), length);
        if (number == 1 && HasDurations()) column->SetZone(i, 0, length);
      });
    }
  }

  void Decode(size_t number, uint32_t missing, LazyRows::Shared::Worker* worker, Track* decoded) {
    const PlannedBlock& block = blocks_[number];
    codec::ColumnMask mask = missing & ((1u << table_->columns) - 1);
    // Times are converted together.
    const codec::ColumnMask times = HasDurations() ? 3 : 1;
    if ((mask & times) != 0) mask |= times;
    codec::Fault fault;
    if (!worker->blocks.Read(file_, *block.block, mask, &worker->columns, &fault)) {
      shared_->is_damaged = true;
      VisitColumns(decoded, kind(), [&](auto& column) { column.StoreOne(0, 0, block.rows); });
      return;
    }
    StoreRows(block.block->header, file_->clock_of(kind()), decoded, 0, &worker->columns);
    if ((mask & 1) != 0 && table_->order == proto::RowOrder::kAny) CheckOrder(number, *worker);
  }

  void CheckOrder(size_t number, const LazyRows::Shared::Worker& worker) {
    const std::vector<uint64_t>& times = worker.columns.column[0];
    const auto is_less = [](uint64_t x, uint64_t y) {
      return static_cast<int64_t>(x) < static_cast<int64_t>(y);
    };
    const bool is_behind =
        number == 0 || static_cast<int64_t>(times.front()) >= blocks_[number - 1].last_ns;
    if (!is_behind || !std::is_sorted(times.begin(), times.end(), is_less))
      shared_->NoteUnordered(kind());
  }

  const std::shared_ptr<LazyRows::Shared> shared_;
  const TraceFile* const file_;
  const std::vector<PlannedBlock> blocks_;
  const proto::TableSpec* const table_;
  std::vector<std::weak_ptr<ColumnSegments>> columns_;  // as VisitColumns() has them
  std::atomic<uint32_t> wanted_{0};                     // columns that were read; a bit each
  std::array<std::mutex, kMutexes> mutexes_;            // of blocks
};

LazyRows::LazyRows() : shared_(std::make_shared<Shared>()) {}

LazyRows::~LazyRows() = default;

void LazyRows::AddTable(const TraceFile* file, std::vector<PlannedBlock> blocks, Track* track) {
  tables_.push_back(std::make_shared<LazyTable>(shared_, file, std::move(blocks)));
  LazyTable::Plan(tables_.back(), track);
}

void LazyRows::Keep(TraceFiles files) { shared_->files.push_back(std::move(files)); }

uint64_t LazyRows::bytes() const {
  uint64_t bytes = 0;
  for (const std::shared_ptr<LazyTable>& table : tables_) {
    for (size_t block = 0; block < table->blocks(); ++block) bytes += table->BytesOf(block);
  }
  return bytes;
}

void LazyRows::LetGo(uint64_t most_bytes) {
  struct Entry {
    uint32_t last_use;
    uint64_t bytes;
    LazyTable* table;
    size_t block;
  };
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  for (const std::shared_ptr<LazyTable>& table : tables_) {
    table->EndQuestion();
    for (size_t block = 0; block < table->blocks(); ++block) {
      const uint64_t own = table->BytesOf(block);
      if (own != 0) entries.push_back({table->LastUse(block), own, table.get(), block});
      bytes += own;
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& x, const Entry& y) { return x.last_use < y.last_use; });
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes) break;
    entry.table->LetGo(entry.block);
    bytes -= entry.bytes;
  }
  ++shared_->now;
}

bool LazyRows::IsDamaged() const { return shared_->is_damaged; }

TableSet LazyRows::Unordered() const {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  return shared_->unordered;
}

}  // namespace gpuprof::analysis
