// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A bundle in memory: per process, per track, tables of columns (base/column.h). Tracks are kept
// apart: nothing is merged globally. Built by analysis/read and analysis/import, read by every
// pass; immutable once built, so passes may run on any thread. Trace::tables says which tables were
// read.
//
// All times are int64 nanoseconds since the bundle's origin (the earliest event of any process, by
// CLOCK_REALTIME at the process's clock snapshots). Rows of a track are in the order in which the
// thread wrote them: spans by their END.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/base/column.h"
#include "analysis/base/shared.h"
#include "analysis/model/graphs.h"
#include "analysis/model/hlo_module.h"
#include "analysis/model/import_note.h"
#include "analysis/model/process_parts.h"
#include "analysis/model/python_tables.h"
#include "analysis/model/row_counts.h"
#include "analysis/model/sample_table.h"
#include "analysis/model/stack_tree.h"
#include "analysis/model/table_set.h"
#include "analysis/model/work_summary.h"
#include "proto/bundle.pb.h"
#include "proto/record.h"
#include "proto/schema.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {

struct HeapTable {
  Column<int64_t> time_ns;
  Column<uint32_t> operation;  // proto::HeapOperation
  Column<uint64_t> address;
  Column<uint64_t> size;   // bytes asked for; 0 for frees
  Column<uint32_t> stack;  // stack id; 0: none
  Column<uint16_t> capture;
  size_t rows() const { return time_ns.size(); }
};

struct WaitTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> operation;  // WaitKind | flags << 8
  Column<uint64_t> object;
  Column<uint64_t> caller;  // program counter
  Column<uint32_t> stack;
  Column<int32_t> owner;  // tid of who held the lock when the wait began; 0: not known
  size_t rows() const { return end_ns.size(); }
};

struct OpTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> name;       // string id
  Column<uint32_t> operation;  // OpScope | flags << 8 | depth << 16
  Column<uint64_t> sequence;   // autograd's number of the operation, plus 1; 0: none
  // Imported operations alone have these columns; otherwise they are empty.
  Column<uint64_t> external;  // the id by which GPU work and calls name the operation; 0: none
  Column<uint32_t> detail;    // string id: a JSON object of shapes and types; 0: none
  size_t rows() const { return end_ns.size(); }
};

struct TensorTable {
  Column<int64_t> time_ns;
  Column<uint32_t> device;  // type << 8 | index
  Column<uint64_t> address;
  Column<int64_t> bytes;  // negative: returned; proto::kReturnedOfUnknownSize
  Column<uint64_t> total_allocated;
  Column<uint64_t> total_reserved;
  Column<uint16_t> capture;
  size_t rows() const { return time_ns.size(); }
};

struct ThreadEventTable {
  Column<int64_t> time_ns;
  Column<uint32_t> event;  // proto::ThreadEvent
  Column<uint64_t> a, b;
  size_t rows() const { return time_ns.size(); }
};

struct ProcessEventTable {
  Column<int64_t> time_ns;
  Column<uint32_t> event;  // proto::ProcessEvent
  Column<uint64_t> a, b;
  Column<uint32_t> text;  // string id
  size_t rows() const { return time_ns.size(); }
};

struct MappingTable {
  Column<int64_t> time_ns;
  Column<uint32_t> operation;  // MapEvent | flags << 8
  Column<uint64_t> address;
  Column<uint64_t> size;
  Column<uint32_t> stack;
  Column<uint16_t> capture;
  size_t rows() const { return time_ns.size(); }
};

// NVTX. On the track of the thread that ended the range, made the mark or gave the name.
struct RangeTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> name;       // string id; 0: none was given
  Column<uint32_t> operation;  // RangeKind | NvtxPayload << 4 | flags << 8 | depth << 16
  Column<uint32_t> domain;     // string id; 0: the default domain
  Column<uint64_t> style;      // category | colour (ARGB) << 32
  Column<uint64_t> payload;
  Column<int32_t> begin_thread;  // tid of who began it, where it is another thread; else 0
  size_t rows() const { return end_ns.size(); }
};

// Further values of rows of imported traces, as a bundle has them: apart from the rows' tables.
// analysis/read gives the values to the rows, and empties this table.
struct RowDetailTable {
  Column<int64_t> time_ns;
  Column<uint16_t> table;     // proto::ChunkKind
  Column<uint32_t> row;       // of the same track
  Column<uint64_t> external;  // OpTable::external and so on
  Column<uint32_t> detail;
  Column<uint64_t> sequence;
  size_t rows() const { return time_ns.size(); }
};

// Extended payloads of NVTX as they are recorded: bytes. analysis/read makes a RangeValueTable of
// these rows, and empties this table.
struct RangePayloadTable {
  Column<int64_t> time_ns;
  Column<uint32_t> operation;   // proto::PayloadOperation() | depth << 16; 0: the bytes go on
  Column<uint32_t> domain;      // string id; 0: the default domain
  Column<uint32_t> definition;  // predefined type, or string id
  Column<uint64_t> value;       // bytes in all, then 8 of them a row
  size_t rows() const { return time_ns.size(); }
};

// How the 64 bits of a value are to be read. Numbers of any width come as the widest.
enum class RangeValue : uint8_t {
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kAddress = 4,
  kText = 5,  // string id; of an enumeration too, whose value has a name
};

// Values of extended payloads of NVTX. On the track of their range, by its end: those of one range
// follow each other, in the order of the ranges.
struct RangeValueTable {
  Column<int64_t> end_ns;
  Column<uint32_t> operation;  // RangeKind | RangeValue << 4 | place << 8 | depth << 16
  Column<uint32_t> domain;     // string id; 0: the default domain
  Column<uint32_t> name;       // string id
  Column<uint64_t> value;
  size_t rows() const { return end_ns.size(); }
};

// Returns the operation of a value. Kind and depth are at the same places as a range's. `place`
// counts the values of the range.
constexpr uint32_t RangeValueOperation(proto::RangeKind kind, RangeValue type, uint32_t place,
                                       uint32_t depth) {
  return static_cast<uint32_t>(kind) | static_cast<uint32_t>(type) << 4 | (place & 0xff) << 8 |
         depth << 16;
}
constexpr RangeValue RangeValueOf(uint32_t operation) {
  return static_cast<RangeValue>(operation >> 4 & 0xf);
}
constexpr uint8_t RangeValuePlaceOf(uint32_t operation) {
  return static_cast<uint8_t>(operation >> 8);
}

// Calls that begin work on the GPU, with the stack they were made from (`--trace launches`).
struct LaunchTable {
  Column<int64_t> time_ns;
  Column<uint32_t> correlation;
  Column<uint32_t> function;  // proto::ApiFunction
  Column<uint32_t> stack;
  size_t rows() const { return time_ns.size(); }
};

// Calls that read files (`--trace files`).
struct FileReadTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> path;  // string id; 0: not known
  Column<int64_t> bytes;  // negative: -errno of a call that failed
  Column<int32_t> descriptor;
  size_t rows() const { return end_ns.size(); }
};

// GPU activity. On a stream's track, except API calls, which are on their thread's track. A row's
// weight is the number of activities that it stands for. It is 1, unless GPUPROF_GPU_RATE recorded
// only a part.
struct KernelTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> signature;    // Process::signatures
  Column<uint32_t> correlation;  // of the call that launched it; 0: not known
  Column<uint32_t> graph;        // executable graph; 0: none
  Column<uint64_t> graph_node;
  Column<uint16_t> capture;
  Column<uint32_t> weight;
  // Imported rows alone have these columns; otherwise they are empty.
  Column<uint64_t> external;  // OpTable::external of their operation; 0: none
  Column<uint32_t> detail;    // string id: a JSON object about a collective; 0: none
  size_t rows() const { return end_ns.size(); }
};

inline constexpr uint64_t kUnknownBytes = ~uint64_t{0};

struct MemcpyTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> operation;  // proto::CopyOperation
  Column<uint32_t> correlation;
  Column<uint64_t> bytes;  // kUnknownBytes: the source does not tell them
  Column<uint32_t> graph;
  Column<uint64_t> graph_node;
  Column<uint64_t> peer;  // devices of a copy between two, each plus 1: from, and << 32 to
  Column<uint32_t> weight;
  // Imported rows alone have this column: OpTable::external of their operation; 0: none.
  Column<uint64_t> external;
  size_t rows() const { return end_ns.size(); }
};

struct MemsetTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> operation;
  Column<uint32_t> correlation;
  Column<uint64_t> bytes;
  Column<uint32_t> graph;
  Column<uint64_t> graph_node;
  Column<uint32_t> value;
  Column<uint32_t> weight;
  // Imported rows alone have this column: OpTable::external of their operation; 0: none.
  Column<uint64_t> external;
  size_t rows() const { return end_ns.size(); }
};

// If a trace was opened for the ids of calls alone, all columns but `correlation` are empty and
// must not be read. Then Track::late_api has some of the calls with all columns.
struct ApiTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> function;  // proto::ApiFunction; Process::functions
  Column<uint32_t> correlation;
  Column<uint32_t> result;  // cudaError_t, CUresult
  Column<uint32_t> weight;
  // Imported rows alone have this column: OpTable::external of their operation; 0: none.
  Column<uint64_t> external;
  size_t rows() const { return correlation.size(); }
  bool has_ids_alone() const { return end_ns.size() != rows(); }
};

struct SyncTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> operation;  // CUpti_ActivitySynchronizationType
  Column<uint32_t> correlation;
  Column<uint32_t> stream;
  Column<uint32_t> event;
  Column<uint32_t> result;
  Column<uint64_t> event_record;  // CudaEventTable::record of the awaited recording; 0: not known
  Column<uint32_t> weight;
  size_t rows() const { return end_ns.size(); }
};

// CUDA events are recorded: on the track of the stream in which they are.
struct CudaEventTable {
  Column<int64_t> time_ns;  // when the call began
  Column<uint32_t> correlation;
  Column<uint32_t> event;
  Column<uint64_t> record;  // this recording's own number; 0: not known
  size_t rows() const { return time_ns.size(); }
};

// What CUDA and CUPTI spend on themselves, on their thread's track or their device's.
struct OverheadTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> operation;  // proto::OverheadOperation, proto::JitOperation
  Column<uint32_t> correlation;
  Column<uint64_t> bytes;
  size_t rows() const { return end_ns.size(); }
};

// CUPTI's counters of unified memory. On a track without a device.
struct UnifiedMemoryTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> operation;  // proto::UnifiedMemoryOperation
  Column<uint64_t> value;
  Column<uint64_t> address;
  Column<uint32_t> source;
  Column<uint32_t> destination;
  size_t rows() const { return end_ns.size(); }
};

// Functions of the program that streams ran on the host (cudaLaunchHostFunc, host nodes of graphs).
// On the track of the stream that waited for the function.
struct HostFunctionTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<int32_t> thread;        // on which the function ran
  Column<uint32_t> correlation;  // of the call that launched the function or graph
  Column<uint32_t> graph;        // executable; 0: none
  Column<uint64_t> graph_node;
  Column<uint32_t> weight;
  size_t rows() const { return end_ns.size(); }
};

// CUDA's allocations and releases. They are on the track of their stream, or of their context if
// they have no stream (stream kNoCudaId).
struct DeviceMemoryTable {
  Column<int64_t> time_ns;
  Column<uint32_t> operation;  // proto::MemoryOperation
  Column<uint64_t> address;
  Column<uint64_t> bytes;
  Column<uint32_t> correlation;
  Column<uint64_t> pool;    // its address; 0: none
  Column<uint64_t> pc;      // where in the program; 0: not known
  Column<uint32_t> origin;  // string id; 0: not known
  Column<uint16_t> capture;
  size_t rows() const { return time_ns.size(); }
};

// How memory pools were, after each allocation from them too. On a track of their device.
struct MemoryPoolTable {
  Column<int64_t> time_ns;
  Column<uint32_t> operation;  // proto::PoolOperation
  Column<uint64_t> pool;       // its address
  Column<uint64_t> size;       // bytes taken from the device
  Column<uint64_t> utilized;   // bytes handed out
  Column<uint64_t> threshold;
  Column<uint64_t> kept;
  Column<uint32_t> correlation;
  size_t rows() const { return time_ns.size(); }
};

// Counters. On a device's track, of a sampler. An imported file has them on tracks of its
// processes, too: those of a device on a stream's track.
struct CounterTable {
  Column<int64_t> time_ns;   // when the device was read
  Column<uint32_t> counter;  // Process::counters
  Column<int64_t> value;     // in the counter's unit times its divisor
  size_t rows() const { return time_ns.size(); }
};

// Launches of graphs that were recorded as a whole: from the begin of the first node to the end of
// the last node.
struct GraphLaunchTable {
  Column<int64_t> end_ns;
  Column<int64_t> duration_ns;
  Column<uint32_t> graph;  // executable
  Column<uint32_t> correlation;
  Column<uint32_t> weight;
  size_t rows() const { return end_ns.size(); }
};

// One moment of a thread's accumulated CPU use.
struct ThreadSample {
  int64_t time_ns;
  uint64_t cpu_ns;
  uint64_t runqueue_wait_ns;
};

// One thread's timeline.
struct Track {
  uint32_t id = 0;  // 0: a thread without events (only samples)
  int32_t tid = 0;
  std::string name;
  bool tool = false;  // one of gpuprof's threads
  uint64_t dropped = 0;
  HeapTable heap;
  WaitTable wait;
  OpTable op;
  PythonTable python;
  GcPauseTable gc_pause;
  TensorTable tensor;
  ThreadEventTable thread_event;
  ProcessEventTable process_event;
  MappingTable mapping;
  RangeTable range;
  RangePayloadTable range_payload;
  RangeValueTable range_value;
  RowDetailTable row_detail;
  LaunchTable launch;
  FileReadTable file_read;
  OpValueTable op_value;
  SampleTable sample;
  std::vector<ThreadSample> samples;
  std::vector<TableExtent> extents;   // of tables with rows, also of those that were not read
  std::vector<LeftOutRows> left_out;  // in the order of rows (OpenOptions::parts)
  bool is_stream = false;             // a stream's, of these:
  uint32_t device = 0, context = 0, stream = 0;
  bool is_described = false;  // CUPTI described the stream itself:
  int32_t priority = 0;
  uint32_t stream_flag = 0;  // CUpti_ActivityStreamFlag
  // The program's CUstream for this stream, 0: not known, and the time from which the handle is
  // this stream's, until a later stream has it. `name` is the NVTX name of the handle in that time.
  uint64_t handle = 0;
  int64_t handle_since_ns = 0;
  KernelTable kernel;
  MemcpyTable memcpy;
  MemsetTable memset;
  ApiTable api;
  // Only if `api` has ids alone: the calls of the last second before each capture's last call, with
  // all columns. Calls before them may be among them.
  ApiTable late_api;
  SyncTable sync;
  DeviceMemoryTable device_memory;
  MemoryPoolTable memory_pool;
  CounterTable counter;
  GraphLaunchTable graph_launch;
  OverheadTable overhead;
  CudaEventTable cuda_event;
  UnifiedMemoryTable unified_memory;
  HostFunctionTable host_function;
  // Only if the trace was opened for sums (Trace::has_sums): the stream's work, whose tables have
  // no rows then.
  WorkSummary work;

  // Finds how much a table holds. Null: it has no rows.
  const TableExtent* Extent(proto::ChunkKind kind) const {
    const auto found = std::find_if(extents.begin(), extents.end(),
                                    [kind](const TableExtent& each) { return each.kind == kind; });
    return found == extents.end() ? nullptr : &*found;
  }
  // Returns how many rows a table has, whether they were read or not.
  uint64_t Rows(proto::ChunkKind kind) const {
    const TableExtent* extent = Extent(kind);
    return extent == nullptr ? 0 : extent->rows;
  }
};

// The number that CUPTI uses for no context or no stream.
inline constexpr uint32_t kNoCudaId = 0xffffffff;

// No process: Process::parent of a process whose parent was not recorded.
inline constexpr size_t kNoProcess = static_cast<size_t>(-1);

class KernelRules;      // symbols/kernel_rule_file.h
class RowStore;         // model/row_store.h
struct MemorySnapshot;  // model/memory_snapshot.h

struct Process {
  int32_t pid = 0;
  int32_t ppid = 0;
  size_t parent = kNoProcess;  // index in Trace::processes
  uint64_t start_id = 0;
  bool is_forked =
      false;         // and ended before its recorder noted its own modules: it has its parent's
  std::string file;  // base name of the .gpt, or of the file of another tool that it was made of
  std::string host;
  std::string executable;
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::vector<std::string> frameworks;
  uint32_t heap_mode = 0;  // proto::HeapMode
  uint32_t heap_period = 0;
  uint32_t sources = 0;
  uint32_t clock_kind = 0;
  uint64_t ticks_per_second = 0;
  // A flight recorder let events before this go; INT64_MIN: none.
  int64_t kept_from_ns = INT64_MIN;
  // The time of all captures, also of the part that a flight recorder discarded. Cumulated costs
  // are shares of this time.
  int64_t recorded_ns = 0;
  bool has_end = false;    // an end marker was found
  bool recovered = false;  // the end was written by recovery
  uint32_t exit_way = 0;   // proto::ExitWay
  int32_t exit_status = 0;
  int64_t first_ns = 0;  // of any event
  int64_t last_ns = 0;
  // When the process, or the program that it executes, began, and when it ended. INT64_MAX and
  // INT64_MIN: not known.
  int64_t started_ns = INT64_MAX;
  int64_t ended_ns = INT64_MIN;
  std::string title;             // what the process calls itself; empty: as its command line
  bool has_cupti_clock = false;  // the clock was read at some moments: GPU times are exact
  CuptiClockFacts cupti_clock;
  double clock_residual_ns =
      0;  // worst distance of a snapshot from the line through its neighbours
  int64_t realtime_step_ns =
      0;  // how far the wall clock was set against the monotonic one meanwhile
  std::vector<CaptureWindow> captures;
  std::vector<Track> tracks;
  // Shared, as parts of a trace are copies of its processes. So are stacks and signatures.
  SharedMap<uint32_t, std::string> strings;
  StackTree stacks;
  SharedMap<uint32_t, proto::Signature> signatures;
  SharedMap<uint32_t, uint32_t> functions;  // string ids of API functions' names
  std::vector<proto::Device> devices;
  std::vector<ContextLife> contexts;  // by id; nothing is known about other contexts
  // This is gpuprof's sampler of hardware counters: it is in Trace::samplers and not a process of
  // the program.
  bool is_sampler = false;
  std::unordered_map<uint32_t, proto::Counter> counters;
  std::map<uint32_t, proto::SampledDevice> sampled_devices;  // by track
  Graphs graphs;
  std::vector<std::shared_ptr<const HloModule>> hlo_modules;
  // What PyTorch's allocator wrote of itself; null: the recording is not a snapshot.
  std::shared_ptr<const MemorySnapshot> memory_snapshot;
  // first_seen and last_seen, of the last time that it was loaded, still in ticks. With second
  // entries, at the end, of some that shared addresses with others: see model/modules.h.
  std::vector<proto::Module> modules;
  proto::Health health;  // the last one
  // What users call the families of kernels; null: they do not.
  std::shared_ptr<const KernelRules> kernel_rules;
  uint64_t rows = 0;  // of event blocks, by their headers
  uint64_t file_bytes = 0;
  uint64_t gpu_tick_ns = 0;       // times on the GPU are multiples of this; 0: no times on the GPU
  std::vector<KindTotals> kinds;  // ascending
  uint64_t unknown_blocks = 0;    // of kinds this reader does not know: skipped
  uint64_t unknown_rows = 0;
  uint64_t dropped = 0;  // records lost, over all tracks
  bool alive = false;    // still running when it was read: more may come
  // It still runs as a flight recorder: its events are not in its file, but in segments that
  // change.
  bool in_segments = false;
  // Returns whether the last records are missing: the file was cut, or its ring file is gone.
  bool lacks_end() const { return !has_end && !alive; }
  // Returns the number of the last capture; 0: no capture.
  // The life of the process as far as it is known: at least from its first event to its last.
  int64_t LifeStart() const { return std::min(started_ns, first_ns); }
  int64_t LifeEnd() const { return std::max(ended_ns, last_ns); }
  int last_capture() const {
    return captures.empty() ? 0 : static_cast<int>(captures.back().number);
  }
  std::string writer_version;
  uint32_t stack_depth = 0;
  uint32_t uid = 0;
  uint32_t cores = 0;
  uint64_t memory_bytes = 0;
  // Returns the text of a string id. Empty for 0. A marked placeholder for the overflow id and for
  // ids that do not exist.
  std::string String(uint32_t id) const;
  // Finds a device. Null: CUPTI did not describe it.
  const proto::Device* FindDevice(uint32_t id) const;
  // Returns the number of the program's own threads, without the recorder's threads and tracks of
  // GPU streams.
  uint32_t ProgramThreads() const;
};

// Something wrong with an input file; everything before it was read.
struct InputFault {
  std::string file;
  uint64_t offset = 0;
  std::string what;
};

// Trace::importer of XSpaces of TensorFlow and JAX.
inline constexpr char kXSpaceImporter[] = "XSpace";

struct Trace {
  std::string path;
  bool has_manifest = false;  // what the launcher knows about a run
  proto::Bundle manifest;
  std::vector<Process> processes;  // by start time; children after parents
  std::vector<Process> samplers;   // of hardware counters, one each run and host
  std::vector<InputFault> faults;
  int64_t origin_realtime_ns = 0;     // what time 0 is
  TableSet tables = TableSet::All();  // those whose rows were read
  // Has the rows of lazy tables; null: all rows are in memory.
  std::shared_ptr<RowStore> row_store;
  // There was too much work to read it row by row. The tables of work and of calls are empty, and
  // Track::work has the sums.
  bool has_sums = false;
  // "Kineto JSON", also of a bundle that `gpuprof import` made; empty: gpuprof's own traces.
  std::string importer;
  std::vector<ImportNote> import_notes;
};

}  // namespace gpuprof::analysis
