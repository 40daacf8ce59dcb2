// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See builder.h. The tables are filled in builder_tables.cc.

#include "analysis/model/builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/model/table_extents.h"
#include "analysis/model/table_rows.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kFirstStringId = 2;  // 0: none, 1: not kept
constexpr size_t kMostThreads = 65'536;
constexpr size_t kMostStreams = 16'384;

void Cover(SpanNs span, SpanNs* all) {
  all->start = std::min(all->start, span.start);
  all->end = std::max(all->end, span.end);
}

template <typename Row>
void CoverSpans(const std::vector<Row>& rows, SpanNs* all) {
  for (const Row& row : rows) Cover(row.span, all);
}

// Threads that no table names may have named themselves.
void NameTracks(Process* process) {
  for (Track& track : process->tracks) {
    if (!track.name.empty()) continue;
    const ThreadEventTable& events = track.thread_event;
    for (size_t i = 0; i < events.rows(); ++i) {
      if (events.event[i] != static_cast<uint32_t>(proto::ThreadEvent::kName)) continue;
      char name[17] = {};
      const uint64_t letters[] = {events.a[i], events.b[i]};
      std::memcpy(name, letters, sizeof letters);
      track.name = name;
    }
  }
}

// Gives rows with equal stacks one id.
struct StackUnifier {
  const StackTree& stacks;

  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(Columns&... columns) {
    int i = 0;
    (Unify(proto::FindTable(kKind)->column[i++].type, &columns), ...);
  }
  void Capture(Column<uint16_t>&) {}
  void Weight(Column<uint32_t>&) {}

  template <typename T>
  void Unify(proto::ColumnType type, Column<T>* column) const {
    if (type != proto::ColumnType::kStack) return;
    column->Rewrite(
        [&](size_t, T id) { return static_cast<T>(stacks.Canonical(static_cast<uint32_t>(id))); });
  }
};

void UnifyStacks(Process* process) {
  if (!process->stacks.has_equal()) return;
  StackUnifier unifier{process->stacks};
  for (Track& track : process->tracks) {
    for (const proto::TableSpec& table : proto::kTables) VisitTable(&track, table.kind, &unifier);
  }
}

}  // namespace

ProcessBuilder::ProcessBuilder(int32_t pid, std::string host) {
  process_.pid = pid;
  process_.host = std::move(host);
  process_.has_end = true;
}

uint32_t ProcessBuilder::Intern(std::string_view text) {
  if (text.empty()) return 0;
  bool is_new = false;
  const uint32_t id = ids_.NumberOf(text, &is_new) + kFirstStringId;
  if (is_new) {
    process_.strings.emplace(id, text);
    held_bytes_ += kNameBytes + 2 * text.size();
  }
  return id;
}

uint32_t ProcessBuilder::Signature(const proto::Signature& signature) {
  proto::Signature kept = signature;
  kept.clear_id();
  const auto next = static_cast<uint32_t>(signatures_.size()) + 1;
  const auto [at, is_new] = signatures_.try_emplace(kept.SerializeAsString(), next);
  if (is_new) {
    kept.set_id(next);
    held_bytes_ += kNameBytes + sizeof kept + 2 * at->first.size();
    process_.signatures.emplace(next, std::move(kept));
  }
  return at->second;
}

uint32_t ProcessBuilder::Function(uint32_t domain, std::string_view name) {
  bool is_new = false;
  const uint32_t code =
      NumberOf(name, proto::ApiFunction(domain, function_count_ + 1), &functions_[domain], &is_new);
  if (!is_new) return code;
  ++function_count_;
  process_.functions.emplace(code, Intern(name));
  return code;
}

uint32_t ProcessBuilder::Thread(int64_t tid) {
  const auto known = threads_.find(tid);
  if (known != threads_.end()) return known->second;
  if (threads_.size() >= kMostThreads) return FurtherThreads();
  const auto [at, is_new] = threads_.try_emplace(tid, timelines());
  if (is_new) {
    process_.tracks[AddTimeline()].tid = static_cast<int32_t>(tid & 0x7fffffff);
  }
  return at->second;
}

// A timeline without rows takes kilobytes: a file of a stranger must not fill the memory by names.
uint32_t ProcessBuilder::FurtherThreads() {
  if (!further_threads_) {
    further_threads_ = AddTimeline();
    process_.tracks[*further_threads_].name = "(further threads)";
    AddNote("the process has more than " + std::to_string(kMostThreads) +
            " threads; rows of the other threads are on one timeline");
  }
  return *further_threads_;
}

uint32_t ProcessBuilder::FurtherStreams() {
  if (!further_streams_) {
    further_streams_ = AddTimeline();
    Track& track = process_.tracks[*further_streams_];
    track.name = "(further streams)";
    track.is_stream = true;
    track.device = track.stream = kNoCudaId;
    AddNote("the process has more than " + std::to_string(kMostStreams) +
            " streams; rows of the other streams are on one timeline");
  }
  return *further_streams_;
}

void ProcessBuilder::AddNote(std::string text) {
  proto::Note* note = process_.health.add_note();
  note->set_source("import");
  note->set_text(std::move(text));
}

uint32_t ProcessBuilder::Stream(uint32_t device, uint32_t context, uint32_t stream) {
  const auto known = streams_.find({device, context, stream});
  if (known != streams_.end()) return known->second;
  if (streams_.size() >= kMostStreams) return FurtherStreams();
  const uint32_t timeline = AddTimeline();
  streams_.emplace(std::tuple(device, context, stream), timeline);
  Track& track = process_.tracks[timeline];
  track.is_stream = true;
  track.device = device;
  track.context = context;
  track.stream = stream;
  return timeline;
}

uint32_t ProcessBuilder::AddTimeline() {
  process_.tracks.emplace_back();
  held_bytes_ += sizeof(Track) + sizeof(TimelineRows);
  return timelines() - 1;
}

std::optional<uint32_t> ProcessBuilder::FindThread(int64_t tid) const {
  const auto at = threads_.find(tid);
  return at == threads_.end() ? std::nullopt : std::optional(at->second);
}

void ProcessBuilder::NameThread(uint32_t timeline, std::string_view name) {
  process_.tracks[timeline].name = name;
}

void ProcessBuilder::JoinThreads(uint32_t from, uint32_t to) {
  const auto move = [](auto* source, auto* target) {
    target->insert(target->end(), source->begin(), source->end());
    source->clear();
    source->shrink_to_fit();
  };
  move(&Rows(from).calls, &Rows(to).calls);
  move(&Rows(from).ranges, &Rows(to).ranges);
  process_.tracks[to].tid = process_.tracks[from].tid;
  joined_.insert(from);
}

void ProcessBuilder::Reserve(uint32_t timeline, size_t rows) {
  // A small step would undo the growth by factors.
  const auto reserve = [&](auto* table) {
    if (rows > table->size()) table->reserve(table->size() + rows);
  };
  TimelineRows& to = Rows(timeline);
  if (process_.tracks[timeline].is_stream) {
    reserve(&to.kernels);
    return;
  }
  reserve(&to.ops);
  reserve(&to.python);
  reserve(&to.calls);
}

void ProcessBuilder::AddOverhead(uint32_t timeline, SpanNs span, uint32_t operation) {
  Keep(OverheadRow{span, operation}, &Rows(timeline).overheads);
}

uint32_t ProcessBuilder::AddCounter(proto::Counter counter) {
  const auto id = static_cast<uint32_t>(process_.counters.size()) + 1;
  counter.set_id(id);
  process_.counters.emplace(id, std::move(counter));
  return id;
}

void ProcessBuilder::AddCounterValue(uint32_t timeline, int64_t time, uint32_t counter,
                                     int64_t value) {
  Keep(CounterRow{time, counter, value}, &Rows(timeline).counters);
}

void ProcessBuilder::AddEventRecord(uint32_t timeline, int64_t time, uint32_t correlation,
                                    uint64_t record) {
  Keep(EventRow{time, correlation, record}, &Rows(timeline).events);
}

bool ProcessBuilder::Bounds(SpanNs* bounds) const {
  SpanNs all{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const TimelineRows& rows : rows_) {
    CoverSpans(rows.ops, &all);
    CoverSpans(rows.python, &all);
    CoverSpans(rows.ranges, &all);
    CoverSpans(rows.calls, &all);
    CoverSpans(rows.kernels, &all);
    CoverSpans(rows.copies, &all);
    CoverSpans(rows.sets, &all);
    CoverSpans(rows.graphs, &all);
    CoverSpans(rows.syncs, &all);
    CoverSpans(rows.overheads, &all);
    for (const TensorRow& row : rows.tensors) Cover({row.time, row.time}, &all);
    for (const CounterRow& row : rows.counters) Cover({row.time, row.time}, &all);
  }
  if (all.start > all.end) return false;
  *bounds = all;
  return true;
}

void ProcessBuilder::CountRows(const Track& track) {
  for (const TableExtent& extent : track.extents) {
    // Made here, not in the source; or a part of other rows.
    if (extent.kind == proto::ChunkKind::kLaunch || extent.kind == proto::ChunkKind::kRowDetail)
      continue;
    const auto code = static_cast<uint16_t>(extent.kind);
    auto at = std::lower_bound(process_.kinds.begin(), process_.kinds.end(), code,
                               [](const KindTotals& x, uint16_t y) { return x.kind < y; });
    if (at == process_.kinds.end() || at->kind != code)
      at = process_.kinds.insert(at, {code, 0, 0, 0, 0});
    at->rows += extent.rows;
    process_.rows += extent.rows;
  }
}

void ProcessBuilder::FindBounds() {
  SpanNs all{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (const Track& track : process_.tracks) {
    for (const TableExtent& extent : track.extents) Cover({extent.first_ns, extent.last_ns}, &all);
  }
  if (all.start > all.end) return;
  process_.first_ns = all.start;
  process_.last_ns = all.end;
}

void ProcessBuilder::FillTables(int64_t origin) {
  for (uint32_t i = 0; i < rows_.size(); ++i) {
    Track& track = process_.tracks[i];
    TimelineRows& rows = rows_[i];
    FillOps(&rows.ops, origin, &track.op);
    FillPython(&rows, origin, &track);
    FillRanges(&rows.ranges, origin, &track.range);
    FillCalls(&rows.calls, origin, &track.api);
    FillKernels(&rows.kernels, origin, &track.kernel);
    FillCopies(&rows.copies, origin, &track.memcpy);
    FillSets(&rows.sets, origin, &track.memset);
    FillGraphLaunches(&rows.graphs, origin, &track.graph_launch);
    FillSyncs(&rows.syncs, track.stream, origin, &track.sync);
    FillTensors(&rows.tensors, origin, &track.tensor);
    FillRest(&rows, origin, &track);
    FillCounters(&rows.counters, origin, &track);
    rows = TimelineRows();
  }
}

Process ProcessBuilder::Finish(int64_t origin) {
  uint32_t id = 0;
  for (uint32_t i = 0; i < timelines(); ++i) {
    if (joined_.count(i) != 0) continue;
    ++id;
    if (process_.tracks[i].id == 0) process_.tracks[i].id = id;
  }
  FillTables(origin);
  for (auto i = joined_.rbegin(); i != joined_.rend(); ++i)
    process_.tracks.erase(process_.tracks.begin() + *i);
  for (Track& track : process_.tracks) {
    SortTables(&track, 1);
    FillExtents(&track);
    CountRows(track);
  }
  FindBounds();
  NameTracks(&process_);
  UnifyStacks(&process_);
  AddCaptures(origin);
  for (const CaptureWindow& window : process_.captures)
    process_.recorded_ns += window.end_ns - window.start_ns;
  return std::move(process_);
}

void ProcessBuilder::FinishBlocks(int threads) {
  for (Track& track : process_.tracks) SortLateTables(&track, threads);
  NameTracks(&process_);
  UnifyStacks(&process_);
}

}  // namespace gpuprof::analysis
