// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a table of the trace is described with: its kind, its clock, its feed, its columns. The
// tables themselves are in proto/schema.h.

#pragma once

#include <cstdint>

namespace gpuprof::proto {

// Numbers are never used again. The groups have room to grow. Only the rings' group is counted
// from its first kind; whatever else a reader must know of a kind is in kTables.
enum class ChunkKind : uint16_t {
  // 1 to 31, tables: one message field of Chunk, no columns.
  kMeta = 1,
  kStrings = 2,
  kStacks = 3,
  kModules = 4,
  kClocks = 5,
  kThreads = 6,
  kHealth = 7,
  kSignatures = 8,  // of kernel launches
  kStreams = 9,     // which stream a track is
  kDevices = 10,
  kFunctions = 11,   // names of API functions
  kGraphNodes = 12,  // of CUDA graphs: what was made of what, and how launches are recorded
  kCounters = 13,    // what the rows of kCounter are of
  kHloModules = 14,  // XLA's compiled modules, in traces of other tools
  kWorkSums = 15,    // sums of the work in some blocks, which need not be decoded then
  // 32 to 63, events of rings.
  kHeap = 32,
  kWait = 33,
  kOp = 34,
  kTensor = 35,
  kThreadEvent = 36,
  kProcessEvent = 37,
  kMapping = 38,
  kRange = 39,         // NVTX
  kRangePayload = 40,  // extended payloads of NVTX, as the program gave them
  kLaunch = 41,        // the host's side of work on the GPU: its stack
  kFileRead = 42,      // calls that read files
  kOpValue = 43,       // what ops say of themselves: one value a row
  kSample = 44,        // stacks of threads, by time
  kGcPause = 45,       // pauses of CPython's garbage collector
  // 64 to 79, rows of gpuprof's sampler, and of traces of other tools. Rings have calls of Python,
  // too.
  kCounter = 64,    // hardware counters
  kPython = 65,     // calls of Python functions, as gpuprof or another profiler traced them
  kRowDetail = 66,  // values of other tables' rows that only traces of other tools have
  // 80 to 127, events of CUPTI. Their tracks are streams, or threads; an allocation outside of any
  // stream, and a pool, are on a track of their context or device.
  kKernel = 80,
  kMemcpy = 81,
  kMemset = 82,
  kApi = 83,
  kSync = 84,
  kDeviceMemory = 85,  // of CUDA's allocations
  kMemoryPool = 86,
  kGraphLaunch = 87,  // of a graph that is recorded as a whole
  kOverhead = 88,     // what CUDA and CUPTI spend on themselves, on its thread's or device's track
  kCudaEvent = 89,    // a CUDA event is recorded, on the stream it is recorded in
  kUnifiedMemory = 90,  // its migrations and page faults, on a track of no device
  kHostFunction = 91,   // functions of the program that a stream runs on the host
};
inline constexpr uint16_t kMostKinds = 128;

// What the times of a table are read from.
enum class EventClock : uint8_t {
  kTicks,  // the recorder's clock (proto/ticks.h)
  kCupti,  // CUPTI's, in nanoseconds
};

// What hands over the rows of a table.
enum class Feed : uint8_t {
  kRing,     // hooks and observers, by the rings of their threads
  kCupti,    // CUPTI's activity buffers
  kSampler,  // gpuprof's sampler of hardware counters
  kImport,   // a trace of another tool (`gpuprof import`)
};

enum class Encoding : uint8_t {
  kPlain,    // the value
  kDelta,    // value minus the value of the previous row (0 before the first)
  kTime,     // kDelta of the shifted time; the first row is relative to Chunk.base_time
  kSpan,     // a duration in shifted ticks, plain
  kAddress,  // kDelta of the value rotated right by 4 bits, so that 16-byte steps cost one bit less
             // per power of two
  // Describes, with the next two, spans that follow each other on one stream or thread. Column 0 is
  // kGap, column 1 kDuration, and column 2, plain, the key. Gaps and durations are counted in ticks
  // and predicted from the spans before (FORMAT.md, "Predicted spans").
  kGap,       // an end: ticks from the end of the row before to the span's start
  kDuration,  // the span's ticks
  kKeyed,     // the value minus the last one with the same key (0 before); one column a table
};

// What the values of a column mean. Times and durations are in the unit of their table's clock.
enum class ColumnType : uint8_t {
  kTime,
  kDuration,
  kBytes,
  kSignedBytes,
  kNumber,
  kSigned,
  kEnum,         // of Codes
  kBits,         // several values in one: ColumnSpec::field
  kAddress,      // of data
  kPc,           // of code
  kString,       // id in Strings
  kStack,        // id in Stacks
  kSignature,    // id in Signatures
  kFunction,     // id in Functions
  kCounter,      // id in Counters
  kCorrelation,  // CUPTI's, of a call and its work
  kThread,       // tid
  kDevice,       // device type << 8, device index
  kGraph,        // CUPTI's numbers of graphs and of their nodes
  kGraphNode,
  kResult,  // cudaError_t, CUresult; 0: success
  // Types that fields of packed columns have. Columns may have them too.
  kFlag,   // 1 bit
  kFlags,  // several bits that mean one thing each: Codes names them
  kDepth,  // how many of its kind are open around it; 0: outermost
  kColor,  // ARGB; 0: none
  kGpu,    // number of a GPU, plus 1; 0: none
};

// The enumerations of values. analysis/model/names.h has their words.
enum class Codes : uint8_t {
  kNone,
  // Enumerations of proto/record.h:
  kHeapFunction,
  kWaitKind,
  kMapEvent,
  kOpScope,
  kRangeKind,
  kNvtxPayload,
  kThreadEvent,
  kProcessEvent,
  kRecordFlags,
  // Enumerations of proto/operations.h, most of them CUPTI's:
  kCopyKind,
  kMemoryKind,
  kMemoryOperation,
  kPoolOperation,
  kPoolType,
  kSyncKind,
  kOverhead,
  kUnifiedMemoryCounter,
  // The tables:
  kChunkKind,
};

// One of the values in a column of type kBits.
struct BitField {
  const char* name;  // snake_case, as in dumps
  uint8_t first;     // its lowest bit
  uint8_t bits;      // how many
  ColumnType type;
  Codes codes = Codes::kNone;

  constexpr uint64_t Of(uint64_t column) const {
    return column >> first & (bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
  }
};

// A value that a block has once, for all its rows: a field of Chunk.
struct BlockColumnSpec {
  const char* name;
  int field;
  uint8_t since = 0;  // minor version
};

struct ColumnSpec {
  constexpr ColumnSpec(const char* its_name, Encoding its_encoding, ColumnType its_type,
                       uint8_t its_since = 0)
      : name(its_name), encoding(its_encoding), type(its_type), since(its_since) {}
  // Describes a column of values of an enumeration.
  constexpr ColumnSpec(const char* its_name, Encoding its_encoding, Codes its_codes,
                       uint8_t its_since = 0)
      : name(its_name),
        encoding(its_encoding),
        type(ColumnType::kEnum),
        since(its_since),
        codes(its_codes) {}
  // Describes a column of several values in one.
  template <int kCount>
  constexpr ColumnSpec(const char* its_name, Encoding its_encoding,
                       const BitField (&its_fields)[kCount], uint8_t its_since = 0)
      : name(its_name),
        encoding(its_encoding),
        type(ColumnType::kBits),
        since(its_since),
        fields(kCount),
        field(its_fields) {}

  const char* name;  // snake_case, as in dumps
  Encoding encoding;
  ColumnType type;
  uint8_t since;  // minor version
  Codes codes = Codes::kNone;
  int fields = 0;
  const BitField* field = nullptr;
};

// Ids of call stacks in one file, at most.
inline constexpr uint32_t kMostStackIds = 1u << 26;

// Columns that a table may have: Chunk has as many fields for columns.
inline constexpr int kMaxColumns = 32;
inline constexpr int kFirstColumnField = 64;

// How the rows of a table on one track stand.
enum class RowOrder : uint8_t {
  kByTime,  // each no earlier than the one before, spans by their end
  // A ring's: a release carries the time before its call, and a signal handler may have written
  // meanwhile. CUPTI's: as it hands them over, which is when their buffers are full.
  kAny,
};

struct TableSpec {
  template <int kCount>
  constexpr TableSpec(ChunkKind its_kind, const char* its_name, Feed its_feed, EventClock its_clock,
                      RowOrder its_order, const ColumnSpec (&its_columns)[kCount])
      : kind(its_kind),
        name(its_name),
        feed(its_feed),
        clock(its_clock),
        order(its_order),
        columns(kCount),
        column(its_columns) {
    static_assert(kCount <= kMaxColumns);
  }

  ChunkKind kind;
  const char* name;
  Feed feed;
  EventClock clock;
  RowOrder order;
  int columns;
  const ColumnSpec* column;
};

}  // namespace gpuprof::proto
