// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_loader.h.

#include "analysis/read/event_loader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/read/range_payloads.h"
#include "analysis/read/reused_addresses.h"
#include "analysis/read/row_details.h"
#include "analysis/read/stream_names.h"
#include "analysis/read/track_columns.h"

namespace gpuprof::analysis {
namespace {

// One block and the rows of the model that it fills.
struct Task {
  TraceFile* file;
  const codec::BlockRef* block;
  size_t track;  // index into the process's tracks
  uint64_t row;  // first row in the track's table
};

struct Worker {
  const TraceFile* file = nullptr;  // that `reader` shows
  BlockReader reader;
  codec::EventColumns columns;
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

std::vector<Task> PlanFile(TraceFile* file, uint64_t* memory_left) {
  std::vector<Task> tasks;
  std::map<std::pair<size_t, uint16_t>, uint64_t> rows;  // by track index and kind
  Process& process = file->process();
  uint64_t rows_left = kRowsOfAnyFile + kMostRowsPerByte * file->input().bytes();
  uint64_t left_out = 0;
  uint64_t left_out_from = 0;
  bool was_lie = false;
  for (const PlannedBlock& planned : file->Plan()) {
    const uint64_t row_bytes = RowBytes(planned.kind);
    if (row_bytes == 0) continue;
    Track* track = file->TrackOf(planned.track, 0);
    if (track == nullptr) continue;
    if (left_out != 0 || planned.rows > rows_left || row_bytes * planned.rows > *memory_left) {
      if (left_out == 0) {
        left_out_from = planned.block->offset;
        was_lie = planned.rows > rows_left;
      }
      left_out += planned.rows;
      continue;
    }
    rows_left -= planned.rows;
    *memory_left -= row_bytes * planned.rows;
    const size_t index = static_cast<size_t>(track - process.tracks.data());
    uint64_t& next_row = rows[{index, static_cast<uint16_t>(planned.kind)}];
    tasks.push_back({file, planned.block, index, next_row});
    next_row += planned.rows;
  }
  for (const auto& [slot, count] : rows) {
    ResizeTable(&process.tracks[slot.first], static_cast<proto::ChunkKind>(slot.second), count);
  }
  if (left_out != 0) {
    const std::string rows_text = std::to_string(left_out) + " rows from here on ";
    file->faults().push_back(
        {file->name(), left_out_from,
         rows_text + (was_lie ? "are more rows than a file of this size can hold"
                              : "do not fit into the memory limit: open fewer files at once, or "
                                "use a machine with more memory")});
  }
  return tasks;
}

bool Decode(const Task& task, Worker* worker, codec::Fault* fault) {
  const proto::BlockHeader& header = task.block->header;
  codec::EventColumns& columns = worker->columns;
  BlockReader& reader = worker->reader;
  if (worker->file != task.file) task.file->input().Show(&reader.view);
  worker->file = task.file;
  if (!reader.decoder.DecodeEvents(&reader.view.bytes, *task.block, &columns, fault)) return false;
  if (columns.count != header.count || columns.track != header.track ||
      static_cast<uint16_t>(columns.kind) != header.kind) {
    *fault = {task.block->offset, "block is not what its header says"};
    return false;
  }
  columns.capture = header.capture;
  StoreRows(columns, header, task.file->clock_of(columns.kind),
            &task.file->process().tracks[task.track], task.row);
  return true;
}

// Takes the rows of blocks that failed out of the columns again, from the back so that positions
// hold.
void RemoveFailed(const std::vector<Task>& tasks, std::vector<Failure>* failures) {
  std::sort(failures->begin(), failures->end(),
            [](const Failure& x, const Failure& y) { return x.task > y.task; });
  for (const Failure& failure : *failures) {
    const Task& task = tasks[failure.task];
    RemoveRows(&task.file->process().tracks[task.track],
               static_cast<proto::ChunkKind>(task.block->header.kind), task.row,
               task.block->header.count);
    task.file->faults().push_back({task.file->name(), failure.fault.offset, failure.fault.what});
  }
}

// Threads that no table names may have named themselves.
void NameTracks(Process* process) {
  for (Track& track : process->tracks) {
    if (!track.name.empty()) continue;
    const ThreadEventTable& events = track.thread_event;
    for (size_t i = 0; i < events.rows(); ++i) {
      if (events.event[i] != static_cast<uint32_t>(proto::ThreadEvent::kName)) continue;
      char name[17] = {};
      std::memcpy(name, &events.a[i], 8);
      std::memcpy(name + 8, &events.b[i], 8);
      track.name = name;
    }
  }
}

// Rows refer to equal stacks by one id.
void UnifyStacks(Process* process) {
  const StackTree& stacks = process->stacks;
  if (!stacks.has_equal()) return;
  for (Track& track : process->tracks) {
    for (Column<uint32_t>* column : {&track.heap.stack, &track.wait.stack, &track.mapping.stack,
                                     &track.launch.stack, &track.python.stack}) {
      for (uint32_t& id : *column) id = stacks.Canonical(id);
    }
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

void LoadEvents(const std::vector<std::unique_ptr<TraceFile>>& files, int threads,
                uint64_t memory_limit_bytes) {
  std::vector<Task> tasks;
  for (const std::unique_ptr<TraceFile>& file : files) {
    std::vector<Task> of_file = PlanFile(file.get(), &memory_limit_bytes);
    tasks.insert(tasks.end(), of_file.begin(), of_file.end());
  }
  threads = ThreadCount(threads);
  std::vector<std::unique_ptr<Worker>> workers(static_cast<size_t>(threads));
  std::mutex mutex;
  std::vector<Failure> failures;
  ParallelFor(tasks.size(), threads, [&](size_t index, int worker_index) {
    std::unique_ptr<Worker>& worker = workers[static_cast<size_t>(worker_index)];
    if (worker == nullptr) worker = std::make_unique<Worker>();
    codec::Fault fault;
    if (Decode(tasks[index], worker.get(), &fault)) return;
    std::lock_guard<std::mutex> lock(mutex);
    failures.push_back({index, std::move(fault)});
  });
  RemoveFailed(tasks, &failures);
  for (const std::unique_ptr<TraceFile>& file : files) {
    for (Track& track : file->process().tracks) SortLateRows(&track);
  }
  for (const std::unique_ptr<TraceFile>& file : files)
    JoinRowDetails(file->is_imported(), file->faults().empty(), &file->process());
  for (const std::unique_ptr<TraceFile>& file : files) NameTracks(&file->process());
  for (const std::unique_ptr<TraceFile>& file : files) ReadRangePayloads(&file->process());
  for (const std::unique_ptr<TraceFile>& file : files) NameStreams(&file->process());
  for (const std::unique_ptr<TraceFile>& file : files) UnifyStacks(&file->process());
  for (const std::unique_ptr<TraceFile>& file : files) SeparateModules(file.get());
}

}  // namespace gpuprof::analysis
