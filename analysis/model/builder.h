// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The only way to make a Process. Importers and tests add it row by row, in any order. Finish()
// then sorts the rows and finds the depth of spans that lie in each other. It also sets the
// process's first and last moment and its number of rows. The reader of bundles fills whole blocks
// of columns: it knows these facts from headers, and ends with FinishBlocks().
//
// Times are nanoseconds. Those of rows are on the source's own clock: Finish() moves them to the
// origin of the bundle. One thread at a time; blocks of different segments may be filled at once
// (analysis/model/table_rows.h). Throws only for lack of memory.

#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/base/text_map.h"
#include "analysis/base/text_numbers.h"
#include "analysis/model/span_order.h"
#include "analysis/model/table_columns.h"
#include "analysis/model/trace.h"
#include "proto/record.h"

namespace gpuprof::analysis {

struct OpRow {
  SpanNs span;
  uint32_t name = 0;  // of Intern(); so are the other names
  proto::OpScope scope = proto::OpScope::kFunction;
  uint8_t flags = 0;
  uint64_t external = 0;
  uint32_t detail = 0;
  uint64_t sequence = 0;
};

struct PythonRow {
  SpanNs span;
  uint32_t name = 0;
  int64_t id = -1;      // the source's number of the call; -1: none
  int64_t parent = -1;  // the number of the calling function's call; -1: none
};

struct RangeRow {
  SpanNs span;
  uint32_t name = 0;
  uint32_t domain = 0;
  proto::RangeKind kind = proto::RangeKind::kPushPop;
  uint8_t flags = 0;
};

struct CallRow {
  SpanNs span;
  uint32_t function = 0;  // of Function()
  uint32_t correlation = 0;
  uint32_t result = 0;
  uint64_t external = 0;
  bool launches = false;  // work on a device: the Python stack of the call is kept
};

// A row of work on a device. Which of the fields count depends on the table.
struct WorkRow {
  SpanNs span;
  uint32_t correlation = 0;
  uint32_t signature = 0;  // kernels: of Signature()
  uint32_t operation = 0;  // copies and memsets: proto::CopyOperation()
  uint64_t bytes = kUnknownBytes;
  uint64_t peer = 0;
  uint32_t graph = 0;
  uint64_t graph_node = 0;
  uint64_t external = 0;
  uint32_t detail = 0;  // kernels
  uint16_t capture = 1;
};

struct SyncRow {
  SpanNs span;
  uint32_t kind = 0;  // CUpti_ActivitySynchronizationType
  uint32_t correlation = 0;
  uint32_t event = 0;
  uint64_t event_record = 0;
};

struct TensorRow {
  int64_t time = 0;
  uint32_t device = 0;
  uint64_t address = 0;
  int64_t bytes = 0;
  uint64_t total_allocated = 0;
  uint64_t total_reserved = 0;
  uint16_t capture = 1;
};

// What rows of some tables have in common with the other rows of their block.
struct BlockFacts {
  uint16_t capture = 1;
  uint32_t weight = 1;  // how many pieces of work the row stands for
};

class ProcessBuilder {
 public:
  ProcessBuilder() = default;
  ProcessBuilder(int32_t pid, std::string host);

  // Gives access to facts that are not rows: names, devices, environment and so on. The facts of a
  // timeline are in Process::tracks.
  Process& process() { return process_; }
  const Process& process() const { return process_; }

  // Returns the id of a text. 0: the text is empty.
  uint32_t Intern(std::string_view text);
  // Returns the id of a launch signature; `signature.id` is ignored.
  uint32_t Signature(const proto::Signature& signature);
  // Returns the code of an API function. `domain`: CUpti_CallbackDomain (1 driver, 2 runtime).
  uint32_t Function(uint32_t domain, std::string_view name);

  // Returns the number of a timeline: the same number for the same thread or stream. `tid` may be
  // too large for a thread of Linux.
  uint32_t Thread(int64_t tid);
  uint32_t Stream(uint32_t device, uint32_t context, uint32_t stream);
  // Finds the timeline of a thread that has rows. None: the thread has no row.
  std::optional<uint32_t> FindThread(int64_t tid) const;
  void NameThread(uint32_t timeline, std::string_view name);
  // Returns the number of a new timeline.
  uint32_t AddTimeline();

  // Adds a row to a table: a value for each column of proto/schema.h, in its order. A span is its
  // end and its duration. Ops and ranges come with their depth.
  template <proto::ChunkKind kKind, typename... Values>
  void Append(uint32_t timeline, const BlockFacts& facts, Values... values) {
    RowAppender<kKind, Values...> appender{facts, std::tuple<Values...>(values...)};
    VisitTable(&process_.tracks[timeline], kKind, &appender);
  }

  // Moves calls and ranges of a thread to another one, which gets its number. Each source counted
  // one thread as two.
  void JoinThreads(uint32_t from, uint32_t to);
  // Takes room for further rows of a thread or stream, which may be of any table: memory that no
  // row fills is not touched.
  void Reserve(uint32_t timeline, size_t rows);

  void Add(uint32_t timeline, const OpRow& row) { Keep(row, &Rows(timeline).ops); }
  void Add(uint32_t timeline, const PythonRow& row) { Keep(row, &Rows(timeline).python); }
  void Add(uint32_t timeline, const RangeRow& row) { Keep(row, &Rows(timeline).ranges); }
  void Add(uint32_t timeline, const CallRow& row) { Keep(row, &Rows(timeline).calls); }
  void Add(uint32_t timeline, const SyncRow& row) { Keep(row, &Rows(timeline).syncs); }
  void Add(uint32_t timeline, const TensorRow& row) { Keep(row, &Rows(timeline).tensors); }
  void AddKernel(uint32_t timeline, const WorkRow& row) { Keep(row, &Rows(timeline).kernels); }
  void AddCopy(uint32_t timeline, const WorkRow& row) { Keep(row, &Rows(timeline).copies); }
  void AddSet(uint32_t timeline, const WorkRow& row) { Keep(row, &Rows(timeline).sets); }
  // Adds a launch of a graph that was recorded as a whole.
  void AddGraphLaunch(uint32_t timeline, const WorkRow& row) { Keep(row, &Rows(timeline).graphs); }
  void AddOverhead(uint32_t timeline, SpanNs span, uint32_t operation);
  // Returns the number of a new counter; `counter.id` is ignored.
  uint32_t AddCounter(proto::Counter counter);
  // Adds a value of a counter. Counters on the timeline of a stream are of its device.
  void AddCounterValue(uint32_t timeline, int64_t time, uint32_t counter, int64_t value);
  void AddEventRecord(uint32_t timeline, int64_t time, uint32_t correlation, uint64_t record);

  // Gives access to the rows so far: importers clip and join them after the last row.
  const std::vector<OpRow>& ops(uint32_t timeline) const { return Rows(timeline).ops; }
  const std::vector<CallRow>& calls(uint32_t timeline) const { return Rows(timeline).calls; }
  std::vector<PythonRow>& python(uint32_t timeline) { return Rows(timeline).python; }
  std::vector<WorkRow>& kernels(uint32_t timeline) { return Rows(timeline).kernels; }
  std::vector<WorkRow>& copies(uint32_t timeline) { return Rows(timeline).copies; }
  std::vector<WorkRow>& sets(uint32_t timeline) { return Rows(timeline).sets; }
  const std::vector<TensorRow>& tensors(uint32_t timeline) const { return Rows(timeline).tensors; }
  uint32_t timelines() const { return static_cast<uint32_t>(process_.tracks.size()); }

  // Returns about how much memory the rows and names so far take until Finish() has ended.
  uint64_t held_bytes() const { return held_bytes_; }

  // Adds a note for people: something that the source has is not shown as it is.
  void AddNote(std::string text);

  // Returns the first and last moment of any row. False: there is no row.
  bool Bounds(SpanNs* bounds) const;

  // Takes the rows of a later recording of the same process: they are a further capture. Numbers of
  // calls must not occur in both. `shift_ns` is added to its times. `later` is empty afterwards.
  void Follow(ProcessBuilder* later, int64_t shift_ns);

  // Makes the process. `origin`: the source's time that becomes 0. Call it once.
  Process Finish(int64_t origin);
  // Ends a process whose tables were filled by blocks. The process stays here. `threads`: how many
  // may sort; 0: as many as cores.
  void FinishBlocks(int threads);

 private:
  template <proto::ChunkKind kWanted, typename... Values>
  struct RowAppender {
    const BlockFacts& facts;
    std::tuple<Values...> values;

    template <proto::ChunkKind kKind, typename... Columns>
    void Rows(Columns&... columns) {
      if constexpr (kKind == kWanted) {
        static_assert(sizeof...(Values) == sizeof...(Columns));
        std::apply([&](auto... value) { (Push(&columns, value), ...); }, values);
      }
    }
    void Capture(Column<uint16_t>& column) { column.push_back(facts.capture); }
    void Weight(Column<uint32_t>& column) { column.push_back(facts.weight); }

    template <typename T, typename Value>
    static void Push(Column<T>* column, Value value) {
      column->push_back(static_cast<T>(value));
    }
  };
  struct OverheadRow {
    SpanNs span;
    uint32_t operation;
  };
  struct EventRow {
    int64_t time;
    uint32_t correlation;
    uint64_t record;
  };
  struct CounterRow {
    int64_t time;
    uint32_t counter;
    int64_t value;
  };
  struct TimelineRows {
    std::vector<OpRow> ops;
    std::vector<PythonRow> python;
    std::vector<RangeRow> ranges;
    std::vector<CallRow> calls;
    std::vector<WorkRow> kernels, copies, sets, graphs;
    std::vector<SyncRow> syncs;
    std::vector<TensorRow> tensors;
    std::vector<OverheadRow> overheads;
    std::vector<EventRow> events;
    std::vector<CounterRow> counters;
  };

  // While rows become columns, a row also has its place in the order and its values in the columns.
  static constexpr uint64_t kColumnBytes = 32;
  // What a name takes apart from its characters, which are kept twice.
  static constexpr uint64_t kNameBytes = 160;
  template <typename Row>
  void Keep(const Row& row, std::vector<Row>* rows) {
    rows->push_back(row);
    held_bytes_ += sizeof(Row) + kColumnBytes;
  }
  static void FillOps(std::vector<OpRow>* rows, int64_t origin, OpTable* table);
  void FillPython(TimelineRows* rows, int64_t origin, Track* track);
  void AddLaunches(const std::vector<PythonRow>& python, const std::vector<uint32_t>& stacks,
                   std::vector<CallRow>* calls, int64_t origin, LaunchTable* table);
  static void FillRanges(std::vector<RangeRow>* rows, int64_t origin, RangeTable* table);
  static void FillCalls(std::vector<CallRow>* rows, int64_t origin, ApiTable* table);
  static void FillKernels(std::vector<WorkRow>* rows, int64_t origin, KernelTable* table);
  static void FillCopies(std::vector<WorkRow>* rows, int64_t origin, MemcpyTable* table);
  static void FillSets(std::vector<WorkRow>* rows, int64_t origin, MemsetTable* table);
  static void FillGraphLaunches(std::vector<WorkRow>* rows, int64_t origin,
                                GraphLaunchTable* table);
  static void FillSyncs(std::vector<SyncRow>* rows, uint32_t stream, int64_t origin,
                        SyncTable* table);
  static void FillTensors(std::vector<TensorRow>* rows, int64_t origin, TensorTable* table);
  static void FillRest(TimelineRows* rows, int64_t origin, Track* track);
  void FillCounters(std::vector<CounterRow>* rows, int64_t origin, Track* track);
  const TimelineRows& Rows(uint32_t timeline) const {
    static const TimelineRows kNone;
    return timeline < rows_.size() ? rows_[timeline] : kNone;
  }
  TimelineRows& Rows(uint32_t timeline) {
    if (timeline >= rows_.size()) rows_.resize(timelines());
    return rows_[timeline];
  }
  void FillTables(int64_t origin);
  void CountRows(const Track& track);
  void FindBounds();
  uint32_t FurtherThreads();
  uint32_t FurtherStreams();
  uint32_t TimelineLike(const Track& track);
  void AddCaptures(int64_t origin);
  void CountNumbers();

  Process process_;
  std::vector<SpanNs> recordings_;  // of each recording that was joined; none: there is only one
  // The first numbers of Python calls and of operations that no joined recording has.
  int64_t free_python_ = 0;
  uint64_t free_external_ = 0;
  std::deque<TimelineRows> rows_;  // by timeline; of rows that Add() took
  std::map<int64_t, uint32_t> threads_;
  std::optional<uint32_t> further_threads_, further_streams_;
  std::set<uint32_t> joined_;  // timelines whose rows are on others
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> streams_;
  TextNumbers ids_;
  std::map<std::string, uint32_t> signatures_;  // by their bytes
  std::map<uint32_t, TextMap> functions_;       // by domain
  uint32_t function_count_ = 0;
  uint64_t held_bytes_ = 0;
};

}  // namespace gpuprof::analysis
