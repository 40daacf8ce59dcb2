// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_loader.h.

#include "analysis/read/event_loader.h"
#include "analysis/read/joined_samples.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/model/table_rows.h"
#include "analysis/read/block_worker.h"
#include "analysis/read/late_calls.h"
#include "analysis/read/lazy_rows.h"
#include "analysis/read/operation_inputs.h"
#include "analysis/read/range_payloads.h"
#include "analysis/read/reused_addresses.h"
#include "analysis/read/row_details.h"
#include "analysis/read/stream_names.h"
#include "analysis/read/track_columns.h"

namespace gpuprof::analysis {
namespace {

// One block and the segments of the model that it fills.
struct Task {
  TraceFile* file;
  const codec::BlockRef* block;
  size_t track;             // index into the process's tracks
  size_t segment;           // in the track's table
  bool is_of_ids = false;   // of calls, whose other columns stay empty
  Track* late = nullptr;    // whose table of calls takes the whole rows too; null: none
  size_t late_segment = 0;  // in that table
};

// The calls near the ends of captures, in the table of a track that has nothing else.
struct LateTable {
  Track track;
  size_t segments = 0;
};

struct Worker {
  BlockWorker blocks;
  codec::EventColumns columns;
  codec::EventColumns ids;  // of blocks that are read for them alone; the others keep their size
};

struct Failure {
  size_t task;
  codec::Fault fault;
};

// No writer packs more rows into a byte: a block of the recorder's largest size whose rows are all
// alike takes over a hundred bytes. Keeps a small file that lies from taking all the memory there
// is.
constexpr uint64_t kMostRowsPerByte = 1024;
constexpr uint64_t kRowsOfAnyFile = 1 << 20;

// Rows of one file that are not in the model.
struct LeftOut {
  uint64_t rows = 0;
  uint64_t from = 0;  // byte in the file

  void Add(const codec::BlockRef& block) {
    from = rows == 0 ? block.offset : std::min(from, block.offset);
    rows += block.header.count;
  }
  void Tell(const char* why, TraceFile* file) const {
    if (rows == 0) return;
    file->faults().push_back(
        {file->name(), from, std::to_string(rows) + " rows from here on " + why});
  }
};

// One load of the events of several files.
class EventLoad {
 public:
  EventLoad(const TableSet& wanted, uint64_t memory_limit_bytes, LazyRows* lazy,
            const TableSet& eager)
      : wanted_(wanted), memory_limit_bytes_(memory_limit_bytes), lazy_(lazy), eager_(eager) {}

  void Plan(TraceFile* file);
  void Decode(int threads);
  void Finish();

 private:
  using Slot = std::pair<size_t, proto::ChunkKind>;  // track and table
  // The tables of a file, with their segments.
  struct FileTables {
    TraceFile* file;
    std::map<Slot, size_t> segments;
    bool has_call_ids = false;         // of calls, only the ids
    std::map<size_t, LateTable> late;  // and these calls whole, by track
  };

  TableSet LazyTablesOf(const std::vector<PlannedBlock>& plan, const TraceFile& file) const;
  bool WantsCallIds(const std::vector<PlannedBlock>& plan, const TraceFile& file,
                    LateCalls* late) const;
  void DecodeBlock(size_t index, Worker* worker);

  const TableSet wanted_;
  const uint64_t memory_limit_bytes_;
  LazyRows* const lazy_;  // null: no table is lazy
  const TableSet eager_;
  std::vector<Task> tasks_;
  std::list<FileTables> tables_;
  std::atomic<uint64_t> memory_bytes_{0};
  std::mutex mutex_;
  std::vector<Failure> failures_;
  std::map<TraceFile*, LeftOut> without_memory_;
};

// Notes a block whose rows are not there, behind the rows that the track's extent tells of.
void AddLeftOut(const PlannedBlock& block, Track* track) {
  uint64_t before = 0;
  for (const TableExtent& extent : track->extents)
    if (extent.kind == block.kind) before = extent.rows;
  track->left_out.push_back({block.kind, before, block.rows, block.first_ns, block.last_ns});
}

void AddExtent(const PlannedBlock& block, Track* track) {
  auto at = std::find_if(track->extents.begin(), track->extents.end(),
                         [&](const TableExtent& each) { return each.kind == block.kind; });
  if (at == track->extents.end())
    at = track->extents.insert(at, {block.kind, 0, block.first_ns, block.last_ns});
  at->rows += block.rows;
  at->first_ns = std::min(at->first_ns, block.first_ns);
  at->last_ns = std::max(at->last_ns, block.last_ns);
}

// Returns whether ids are enough for the calls of a file. Then `late` knows all its calls. Rows of
// imported files have details, which need whole rows.
bool EventLoad::WantsCallIds(const std::vector<PlannedBlock>& plan, const TraceFile& file,
                             LateCalls* late) const {
  if (!wanted_.HasCallIds() || wanted_.Has(proto::ChunkKind::kApi)) return false;
  if (file.is_imported() || late->NeedsAll()) return false;
  for (const PlannedBlock& planned : plan) {
    if (planned.kind == proto::ChunkKind::kApi) late->Note(planned);
  }
  return true;
}

// Returns the tables that become lazy. Rows of imported files have details, and ranges have
// payloads: both belong to rows of other tables.
TableSet EventLoad::LazyTablesOf(const std::vector<PlannedBlock>& plan,
                                 const TraceFile& file) const {
  if (lazy_ == nullptr || file.is_imported()) return {};
  const bool has_payloads = std::any_of(plan.begin(), plan.end(), [](const PlannedBlock& block) {
    return block.kind == proto::ChunkKind::kRangePayload;
  });
  const TableSet tables = TableSet::All().Without(eager_);
  return has_payloads ? tables.Without({proto::ChunkKind::kRange, proto::ChunkKind::kRangePayload})
                      : tables;
}

void EventLoad::Plan(TraceFile* file) {
  FileTables& tables = tables_.emplace_back();
  tables.file = file;
  Process& process = file->process();
  const std::vector<PlannedBlock> plan = file->Plan();
  LateCalls late(process);
  tables.has_call_ids = WantsCallIds(plan, *file, &late);
  uint64_t rows_left = kRowsOfAnyFile + kMostRowsPerByte * file->input().bytes();
  LeftOut lies;
  const TableSet lazy = LazyTablesOf(plan, *file);
  std::map<Slot, std::vector<PlannedBlock>> lazy_blocks;
  for (const PlannedBlock& planned : plan) {
    if (!HasRows(planned.kind)) continue;
    Track* track = file->TrackOf(planned.track, 0);
    if (track == nullptr) continue;
    const bool is_there = file->HasRows(*planned.block);
    if (!is_there) AddLeftOut(planned, track);
    AddExtent(planned, track);
    if (!is_there) continue;
    const bool is_of_calls = planned.kind == proto::ChunkKind::kApi;
    if (!wanted_.Has(planned.kind) && !(is_of_calls && wanted_.HasCallIds())) continue;
    if (lies.rows != 0 || planned.rows > rows_left) {
      lies.Add(*planned.block);
      continue;
    }
    rows_left -= planned.rows;
    const size_t index = static_cast<size_t>(track - process.tracks.data());
    if (lazy.Has(planned.kind)) {
      lazy_blocks[{index, planned.kind}].push_back(planned);
      continue;
    }
    Task task = {file, planned.block, index, tables.segments[{index, planned.kind}]++};
    task.is_of_ids = is_of_calls && tables.has_call_ids;
    if (task.is_of_ids && late.MayHold(planned)) {
      LateTable& table = tables.late[index];
      task.late = &table.track;
      task.late_segment = table.segments++;
    }
    tasks_.push_back(task);
  }
  for (const auto& [slot, count] : tables.segments) {
    Track* track = &process.tracks[slot.first];
    if (tables.has_call_ids && slot.second == proto::ChunkKind::kApi) {
      track->api.correlation.Plan(count);
    } else {
      PlanTable(track, slot.second, count);
    }
  }
  for (auto& [slot, blocks] : lazy_blocks)
    lazy_->AddTable(file, std::move(blocks), &process.tracks[slot.first]);
  for (auto& [index, table] : tables.late)
    PlanTable(&table.track, proto::ChunkKind::kApi, table.segments);
  lies.Tell("are more rows than a file of this size can hold", file);
}

void EventLoad::DecodeBlock(size_t index, Worker* worker) {
  const Task& task = tasks_[index];
  if (memory_bytes_ > memory_limit_bytes_) {
    std::lock_guard<std::mutex> lock(mutex_);
    without_memory_[task.file].Add(*task.block);
    return;
  }
  const bool has_ids_alone = task.is_of_ids && task.late == nullptr;
  codec::EventColumns* columns = has_ids_alone ? &worker->ids : &worker->columns;
  codec::Fault fault;
  const codec::ColumnMask mask = has_ids_alone ? kCallIdMask : codec::kAllColumns;
  if (!worker->blocks.Read(task.file, *task.block, mask, columns, &fault)) {
    std::lock_guard<std::mutex> lock(mutex_);
    failures_.push_back({index, std::move(fault)});
    return;
  }
  Track* track = &task.file->process().tracks[task.track];
  size_t segment = task.segment;
  if (task.is_of_ids) {
    std::vector<uint64_t> ids;
    if (!has_ids_alone) ids = columns->column[kCallIdColumn];
    memory_bytes_ += StoreCallIds(track, segment, columns);
    if (has_ids_alone) return;
    columns->column[kCallIdColumn] = std::move(ids);
    track = task.late;
    segment = task.late_segment;
  }
  memory_bytes_ +=
      StoreRows(task.block->header, task.file->clock_of(columns->kind), track, segment, columns);
}

void EventLoad::Decode(int threads) {
  threads = ThreadCount(threads);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<size_t>(threads));
  ParallelFor(tasks_.size(), threads, [&](size_t index, int worker_index) {
    std::unique_ptr<Worker>& worker = workers[static_cast<size_t>(worker_index)];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    DecodeBlock(index, worker.get());
  });
}

void EventLoad::Finish() {
  for (FileTables& tables : tables_) {
    std::vector<Track>& tracks = tables.file->process().tracks;
    for (const auto& [slot, count] : tables.segments) {
      Track* track = &tracks[slot.first];
      if (tables.has_call_ids && slot.second == proto::ChunkKind::kApi) {
        track->api.correlation.Finish();
      } else {
        FinishTable(track, slot.second);
      }
    }
    for (auto& [index, table] : tables.late) {
      FinishTable(&table.track, proto::ChunkKind::kApi);
      SortLateTables(&table.track, 1);
      tracks[index].late_api = std::move(table.track.api);
    }
  }
  std::sort(failures_.begin(), failures_.end(),
            [](const Failure& x, const Failure& y) { return x.task < y.task; });
  for (const Failure& failure : failures_) {
    TraceFile* file = tasks_[failure.task].file;
    file->faults().push_back({file->name(), failure.fault.offset, failure.fault.what});
  }
  for (const auto& [file, left_out] : without_memory_) {
    left_out.Tell(
        "do not fit into the memory limit: open fewer files at once, or use a machine with more "
        "memory",
        file);
  }
}

void SeparateModules(TraceFile* file) {
  std::vector<ModuleStay> stays;
  for (const ModuleLife& life : file->lives()) {
    stays.push_back({life.module, life.last_seen == 0 ? std::numeric_limits<int64_t>::max()
                                                      : file->RowTime(life.last_seen)});
  }
  SeparateReusedAddresses(stays, file->has_modules_of_parent(), &file->process());
}

}  // namespace

void LoadEvents(const std::vector<std::unique_ptr<TraceFile>>& files, const TableSet& wanted,
                int threads, uint64_t memory_limit_bytes, LazyRows* lazy, const TableSet& eager) {
  EventLoad load(wanted, memory_limit_bytes, lazy, eager);
  for (const std::unique_ptr<TraceFile>& file : files) load.Plan(file.get());
  load.Decode(threads);
  load.Finish();
  for (const std::unique_ptr<TraceFile>& file : files) {
    file->builder().FinishBlocks(threads);
    JoinRowDetails(file->is_imported(), file->faults().empty(), &file->process());
    JoinOperationInputs(&file->process());
    ReadRangePayloads(&file->process());
    NameStreams(&file->process());
    SeparateModules(file.get());
    JoinSamples(&file->process());
  }
}

}  // namespace gpuprof::analysis
