// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See loader_record.h.

#include "analysis/derived/loader_record.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/derived/host_samples.h"
#include "analysis/derived/loader_stacks.h"
#include "analysis/derived/processor_shares.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kNext = "enumerate(DataLoader)#";

// A sample of Python: it stands for all of its thread's time.
struct Row {
  Interval span;
  uint32_t stack;
  bool runs;
};

// Returns the rows of a thread in the order of time.
std::vector<Row> RowsOf(const Process& process, int32_t tid) {
  std::vector<Row> rows;
  for (const Track& track : process.tracks) {
    const SampleTable& table = track.sample;
    for (size_t i = 0; i < table.rows(); ++i) {
      const uint32_t state = table.state[i];
      if (table.thread[i] != tid || (state & proto::kSamplePython) == 0 || IsJoinedSample(state))
        continue;
      const int64_t end = table.end_ns[i], duration = std::max<int64_t>(table.duration_ns[i], 0);
      rows.push_back({{end - duration, end},
                      process.stacks.Canonical(table.stack[i]),
                      (state & proto::kSampleRuns) != 0});
    }
  }
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.span.start < b.span.start; });
  return rows;
}

void AddStretch(Interval span, LoaderWork work, std::vector<LoaderStretch>* stretches) {
  if (span.length() <= 0) return;
  if (!stretches->empty()) {
    LoaderStretch& last = stretches->back();
    span.start = std::max(span.start, last.span.end);
    if (span.length() <= 0) return;
    if (last.work == work && last.span.end == span.start) {
      last.span.end = span.end;
      return;
    }
  }
  stretches->push_back({span, work});
}

// Returns the thread that asked most often.
std::optional<size_t> AskingTrack(const Process& process) {
  std::optional<size_t> most;
  uint64_t most_count = 0;
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    const OpTable& ops = process.tracks[i].op;
    uint64_t count = 0;
    for (size_t row = 0; row < ops.rows(); ++row)
      count += process.String(ops.name[row]).starts_with(kNext) ? 1 : 0;
    if (count <= most_count) continue;
    most = i;
    most_count = count;
  }
  return most;
}

// Finds calls of the loader, and where its epochs begin.
class EpochFinder {
 public:
  EpochFinder(ProcessOps& ops, size_t track, const std::vector<LoaderWorker>& workers)
      : ops_(ops), track_(track) {
    for (const LoaderWorker& worker : workers) marks_.push_back(worker.life.start);
  }

  void Find(LoaderRecord* record) {
    ReadOps(record);
    std::sort(nexts_.begin(), nexts_.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    std::sort(starts_.begin(), starts_.end());
    std::sort(marks_.begin(), marks_.end());
    // Programs whose steps have no operations have them in no gap.
    size_t bare = 0;
    for (size_t i = 1; i < nexts_.size(); ++i)
      bare += Has(starts_, nexts_[i - 1].end, nexts_[i].start) ? 0 : 1;
    const bool bare_tells = bare * 2 < nexts_.size();
    for (size_t i = 0; i < nexts_.size(); ++i) {
      const int64_t before = i == 0 ? INT64_MIN : nexts_[i - 1].end;
      const auto mark = std::lower_bound(marks_.begin(), marks_.end(), before);
      const bool is_marked = mark != marks_.end() && *mark < nexts_[i].start;
      const bool is_first =
          i == 0 || is_marked || (bare_tells && !Has(starts_, before, nexts_[i].start));
      // The call before an epoch found that there are no more batches.
      if (is_first && i != 0 && !record->nexts.empty()) record->nexts.pop_back();
      // What came long before the first call is not the loader's.
      const int64_t begin = is_marked ? *mark : nexts_[i].start;
      record->nexts.push_back({nexts_[i], is_first, begin});
    }
    // No step follows the last of all, only what ends the program.
    if (nexts_.size() > 1 && bare_tells && 2 * CountOf(nexts_.back().end, INT64_MAX) < UsualCount())
      record->nexts.pop_back();
  }

 private:
  static bool Has(const std::vector<int64_t>& times, int64_t from, int64_t to) {
    const auto at = std::lower_bound(times.begin(), times.end(), from);
    return at != times.end() && *at < to;
  }

  int64_t CountOf(int64_t from, int64_t to) const {
    return std::lower_bound(starts_.begin(), starts_.end(), to) -
           std::lower_bound(starts_.begin(), starts_.end(), from);
  }

  // Returns the median number of operations between two calls.
  int64_t UsualCount() const {
    std::vector<int64_t> counts;
    for (size_t i = 1; i < nexts_.size(); ++i)
      counts.push_back(CountOf(nexts_[i - 1].end, nexts_[i].start));
    return Samples(std::move(counts)).median();
  }

  void ReadOps(LoaderRecord* record) {
    const Process& process = ops_.process();
    const OpTable& table = process.tracks[track_].op;
    const OpTree& tree = ops_.tree(track_);
    for (size_t row = 0; row < table.rows(); ++row) {
      const std::string& name = process.String(table.name[row]);
      if (name.starts_with(kNext)) {
        nexts_.push_back({tree.start(row), tree.end(row)});
        std::string loader = name.substr(kNext.size());
        loader = loader.substr(0, loader.find('.'));
        if (record->name.empty() || loader < record->name) record->name = loader;
        continue;
      }
      const uint32_t parent = tree.parent(row);
      if (parent != OpTree::kNone && !IsUserRange(table, parent)) continue;
      if (parent != OpTree::kNone && process.String(table.name[parent]).starts_with(kNext))
        continue;
      starts_.push_back(tree.start(row));
      // Each new iterator draws its seed.
      if (name == "aten::random_") marks_.push_back(tree.start(row));
    }
  }

  ProcessOps& ops_;
  size_t track_;
  std::vector<Interval> nexts_;
  std::vector<int64_t> starts_, marks_;
};

// Says for how much of its time a thread was on a processor.
double CpuRatioOf(const Track& track) {
  if (track.samples.size() < 2) return -1;
  const ThreadSample &first = track.samples.front(), &last = track.samples.back();
  if (last.time_ns <= first.time_ns || last.cpu_ns < first.cpu_ns) return -1;
  return static_cast<double>(last.cpu_ns - first.cpu_ns) /
         static_cast<double>(last.time_ns - first.time_ns);
}

// Returns what the thread did at a moment.
std::optional<LoaderWork> WorkAt(const std::vector<LoaderStretch>& stretches, int64_t time) {
  const auto at = std::upper_bound(
      stretches.begin(), stretches.end(), time,
      [](int64_t moment, const LoaderStretch& each) { return moment < each.span.end; });
  if (at == stretches.end() || at->span.start > time) return std::nullopt;
  return at->work;
}

void ReadWaits(const Track& track, LoaderStacks& stacks, LoaderWorker* worker) {
  const WaitTable& table = track.wait;
  for (size_t i = 0; i < table.rows(); ++i) {
    const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
    const std::optional<LoaderWork> work =
        stacks.IsInLoop(table.stack[i]) ? stacks.WorkOf(table.stack[i])
                                        : WorkAt(worker->stretches, span.start + span.length() / 2);
    if (work != LoaderWork::kSample) continue;
    switch (proto::WaitKindOf(table.operation[i])) {
      case proto::WaitKind::kInput:
      case proto::WaitKind::kEvents:
        worker->reads.push_back(span);
        break;
      case proto::WaitKind::kMutex:
      case proto::WaitKind::kRwlockRead:
      case proto::WaitKind::kRwlockWrite:
      case proto::WaitKind::kSemaphore:
      case proto::WaitKind::kFutex:
        worker->lock_ns += span.length();
        break;
      default:
        break;
    }
  }
}

// Finds when the thread that sends batches was given one.
void ReadPuts(const Track& track, LoaderStacks& stacks, LoaderWorker* worker) {
  const WaitTable& table = track.wait;
  for (size_t i = 0; i < table.rows(); ++i) {
    // After its wait it may wait for the interpreter's lock.
    if (proto::WaitKindOf(table.operation[i]) != proto::WaitKind::kGil &&
        stacks.IsWaitForBatch(table.stack[i]))
      worker->puts_ns.push_back(table.end_ns[i]);
  }
}

LoaderWorker ReadWorker(const Process& process) {
  LoaderWorker worker;
  worker.pid = process.pid;
  worker.life = {process.LifeStart(), process.LifeEnd()};
  LoaderStacks stacks(process);
  const std::vector<Row> rows = RowsOf(process, process.pid);
  for (const Row& row : rows) stacks.Look(row.stack);
  for (const Row& row : rows) {
    const std::optional<LoaderWork> work = stacks.WorkOf(row.stack);
    if (stacks.IsInLoop(row.stack) && work) AddStretch(row.span, *work, &worker.stretches);
  }
  for (const Track& track : process.tracks) {
    if (track.tool || track.is_stream) continue;
    if (track.tid != process.pid) {
      ReadPuts(track, stacks, &worker);
      continue;
    }
    ReadWaits(track, stacks, &worker);
    if (!track.samples.empty()) worker.cpu_ratio = CpuRatioOf(track);
  }
  std::sort(worker.puts_ns.begin(), worker.puts_ns.end());
  return worker;
}

// Reads what a thread without workers did in its calls.
void ReadMain(const Process& process, int32_t tid, LoaderRecord* record) {
  LoaderStacks stacks(process);
  ProcessorShares shares(process);
  const std::vector<Row> rows = RowsOf(process, tid);
  for (const Row& row : rows) {
    stacks.Look(row.stack);
    shares.Note(tid, row.span,
                row.runs ? ProcessorShares::Piece::kRuns : ProcessorShares::Piece::kRests);
  }
  auto row = rows.begin();
  double cpu = 0, all = 0;
  for (const LoaderRecord::Next& next : record->nexts) {
    while (row != rows.end() && row->span.end <= next.span.start) ++row;
    for (auto at = row; at != rows.end() && at->span.start < next.span.end; ++at) {
      const Interval part = {std::max(at->span.start, next.span.start),
                             std::min(at->span.end, next.span.end)};
      const auto length = static_cast<double>(part.length());
      all += length;
      if (at->runs) cpu += length * shares.ShareOf(tid, at->span, ProcessorShares::Piece::kRuns);
      const std::optional<LoaderWork> work = stacks.WorkOf(at->stack);
      // Samples are coarse: one that ends in a call may have seen the step before it.
      if (work) AddStretch(part, *work, &record->main);
    }
  }
  if (all > 0) record->main_cpu_ratio = cpu / all;
}

}  // namespace

std::optional<LoaderRecord> ReadLoader(ProcessOps& ops,
                                       const std::vector<const Process*>& workers) {
  const Process& process = ops.process();
  const std::optional<size_t> track = AskingTrack(process);
  if (!track) return std::nullopt;
  LoaderRecord record;
  record.processors = process.cores;
  for (const Process* each : workers) record.workers.push_back(ReadWorker(*each));
  // Other children of the program are no workers: those are known by their loop.
  const auto has_loop = [](const LoaderWorker& worker) { return !worker.stretches.empty(); };
  if (std::any_of(record.workers.begin(), record.workers.end(), has_loop))
    std::erase_if(record.workers, [&](const LoaderWorker& worker) { return !has_loop(worker); });
  EpochFinder(ops, *track, record.workers).Find(&record);
  if (record.nexts.empty()) return std::nullopt;
  if (record.name.starts_with("_SingleProcess")) record.workers.clear();
  if (record.workers.empty()) ReadMain(process, process.tracks[*track].tid, &record);
  return record;
}

}  // namespace gpuprof::analysis
