// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The fixed 32-byte record that hooks write into per-thread rings, and every code that may stand in
// it.
//
// Written by inject/ and tracer/ inside hooks and signal handlers; read by the drain thread and,
// for dead processes, by recovery. Plain data, no functions that allocate or lock. Numbers are
// never reused: ring files outlive the process that wrote them, and the on-disk columns carry the
// same codes.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::proto {

// What a record says. `a`, `b` and `detail` are described per kind.
enum class RecordKind : uint8_t {
  kNone = 0,
  // a = address, b = size in bytes asked for, detail = HeapFunction.
  kHeapAlloc = 1,
  // a = address, detail = HeapFunction. Written before the real free.
  kHeapFree = 2,
  // Span. a = address of the object, b = return address of the caller, detail = WaitKind.
  kWait = 3,
  // Span. a = string id of the name, b = OpPlace(), detail = OpScope.
  kOp = 4,
  // a = address, b = bytes as int64 (positive: handed out, negative: returned,
  // kReturnedOfUnknownSize), detail = device type << 8 | device index (index 0xff: none).
  kTensor = 5,
  // detail = ThreadEvent; a, b as described there.
  kThread = 6,
  // detail = ProcessEvent; a, b as described there.
  kProcess = 7,
  // a = address, b = bytes, detail = MapEvent.
  kMapping = 8,
  // Span of an NVTX range, or a moment (a mark, a name given to something). a = string id of the
  // message, string id of the domain << 32; b = tid of the thread that began it where another one
  // ended it, depth among the open ranges of thread and domain << 32 (0 = outermost), detail =
  // RangeKind | NvtxPayload << 4.
  kRange = 9,
  // A call that begins work on the GPU, with the caller's stack. a = CUPTI's correlation id, b =
  // ApiFunction() of proto/schema.h.
  kLaunch = 10,
  // Payload: bytes of an extended payload of NVTX, then the texts of its handles. It is of the
  // range or mark that begins at this time, or ends at it. a = predefined type or string id of the
  // definition, string id of the domain << 32; b = payload bytes, duration = the range's depth,
  // detail = PayloadOperation() of proto/schema.h.
  kRangePayload = 11,
  // Span of a call that read a file. a = string id of the file's path (0: not known), descriptor <<
  // 32; b = bytes read as int64 (negative: -errno of the call that failed).
  kFileRead = 12,
  // Payload: bytes of "key=value,key=value", which say more of the kOp that follows on the ring. b
  // = payload bytes. Its time is that of the kOp.
  kOpValues = 13,
  // Span, behind a kStack: what a thread did at the end of the span. The sampler's own thread
  // writes it. a = sampled thread, thread that holds the awaited lock << 32; detail =
  // SampleState.
  kSample = 14,
  // Span of a call of a Python function. a = string id of its frame, b = depth among the thread's
  // recorded calls (0 = outermost).
  kPythonCall = 15,
  // Span of a pause of CPython's garbage collector. a = objects that it collected, b = objects that
  // it found and could not collect, detail = generation.
  kGcPause = 16,

  // Prefix records: they qualify the next event record of the same ring.
  // Payload: program counters as uint64, innermost first. detail = number of payload frames, a =
  // how many outermost frames of the ring's previous stack follow them unchanged, b = payload
  // bytes.
  kStack = 32,
  // Payload: bytes of a text that belongs to the next record (an executable's path). b = payload
  // bytes.
  kText = 33,
  // b = full duration in ticks of the next span, whose own field holds kLongDuration.
  kDuration = 34,
  // a = total bytes allocated, b = total bytes reserved, as the framework told them with the next
  // kTensor.
  kTensorTotals = 35,
  // a = thread that held what the next kWait waits for, as the lock itself told when the wait
  // began; of a join the thread that is joined.
  kWaitOwner = 36,
  // a = category, colour (ARGB) << 32, b = payload of the next kRange.
  kRangeAttributes = 37,

  // Stand-alone bookkeeping records.
  // Payload: bytes of the string a; b = payload bytes. Defines string id a for the whole process.
  kString = 48,
  // a = number of records that did not fit just before this place in the ring.
  kDropped = 49,
};

// b of a kTensor that was returned, and how large it was not told.
inline constexpr int64_t kReturnedOfUnknownSize = INT64_MIN;

// Record::flags.
inline constexpr uint8_t kFlagSampled = 1;  // stands for more events than itself (heap sampling)
// On a kStack record: of a wait that begins now, and not of the next event.
inline constexpr uint8_t kFlagAhead = 1;
// On a kRange record of a name: it was given at some time before this capture.
inline constexpr uint8_t kFlagEarlier = 1;
inline constexpr uint8_t kFlagHasStack = 2;  // a kStack record precedes
inline constexpr uint8_t kFlagCoarseTime =
    4;  // time from the coarse clock line, ordered but not exact
inline constexpr uint8_t kFlagTimedOut = 8;  // a timed wait that gave up
inline constexpr uint8_t kFlagIncomplete =
    16;  // span still open when capture ended, the process died or the thread was cancelled
inline constexpr uint8_t kFlagNoUnwinder = 32;  // a stack was wanted before the unwinder was loaded
inline constexpr uint8_t kFlagFile = 64;        // a mapping of a file or a device, not of memory
// On a wait that had not ended: its call gives up by itself, at some moment.
inline constexpr uint8_t kFlagLimited = 64;
inline constexpr uint8_t kFlagNoAccess = 128;  // a mapping that only reserves addresses (PROT_NONE)

inline constexpr uint32_t kLongDuration = 0xffffffffu;

// Makes b of a kOp. depth: in the thread's op stack, 0 is the outermost, at most 255. sequence:
// autograd's number of the op, plus 1; 0: none.
constexpr uint64_t OpPlace(uint32_t depth, uint64_t sequence) { return sequence << 8 | depth; }
constexpr uint64_t OpDepthOfPlace(uint64_t place) { return place & 0xff; }
constexpr uint64_t OpSequenceOfPlace(uint64_t place) { return place >> 8; }

struct Record {
  uint64_t time;      // clock ticks (ring file header says which clock); for spans the END
  uint32_t duration;  // ticks; kLongDuration: see the preceding kDuration record
  uint8_t kind;       // RecordKind
  uint8_t flags;
  uint16_t detail;
  uint64_t a;
  uint64_t b;
};
static_assert(sizeof(Record) == 32);
static_assert(offsetof(Record, a) == 16);

inline constexpr uint32_t kRecordBytes = sizeof(Record);

// Slots that `bytes` of payload take behind their header record.
constexpr uint32_t PayloadSlots(uint64_t bytes) {
  return static_cast<uint32_t>((bytes + kRecordBytes - 1) / kRecordBytes);
}
constexpr bool HasPayload(RecordKind kind) {
  return kind == RecordKind::kStack || kind == RecordKind::kText || kind == RecordKind::kString ||
         kind == RecordKind::kRangePayload || kind == RecordKind::kOpValues;
}
// A payload longer than this is corrupt (127 frames of a stack, a path, an op name).
inline constexpr uint32_t kMaxPayloadBytes = 4096;
inline constexpr uint32_t kMaxStackFrames = 127;

enum class HeapFunction : uint8_t {
  kMalloc = 1,
  kCalloc = 2,
  kRealloc = 3,  // as kHeapFree of the old block, then kHeapAlloc of the new one
  kFree = 4,
  kPosixMemalign = 5,
  kAlignedAlloc = 6,
  kMemalign = 7,
  kValloc = 8,
  kPvalloc = 9,
  kReallocarray = 10,
  kFreeSized = 11,
  kFreeAlignedSized = 12,
};

// Whole pages, by address range: an unmapping may take a part of what was mapped, or several.
enum class MapEvent : uint8_t {
  kMmap = 1,
  kMunmap = 2,
  kMremap = 3,      // the new range; the old one comes before it as kMremapFrom
  kMremapFrom = 4,  // the old range is gone
};

enum class WaitKind : uint8_t {
  kMutex = 1,
  kRwlockRead = 2,
  kRwlockWrite = 3,
  kCondition = 4,  // waits by design: never counted as contention
  kSemaphore = 5,
  kBarrier = 6,
  kJoin = 7,
  // System calls that blocked for long; no thread is known to have held anything:
  kSleep = 8,
  kInput = 9,    // a read; the object is the descriptor
  kEvents = 10,  // poll, select, epoll
  kChild = 11,   // the end of a child process; the object is its number
  kFutex = 12,   // a lock or condition of the program's own making
  // CPython's global interpreter lock, a condition and a mutex inside its exported `_PyRuntime`.
  kGil = 13,
};

// Numbering of at::RecordScope where it exists (0 function, 1 backward, 7 user); ours from 128 on.
enum class OpScope : uint8_t {
  kFunction = 0,
  kBackward = 1,
  kTorchScript = 2,
  kUser = 7,
  kTraceMe = 128,  // a mark of TensorFlow or JAX for its own profiler
};

// Bits of what a sampled thread did.
enum SampleState : uint16_t {
  kSampleRuns = 1,         // it was on a processor, or waited for one
  kSampleWaitsForGil = 2,  // for CPython's global interpreter lock
  kSampleHasGil = 4,
  kSamplePython = 8,   // the stack has frames of Python
  kSampleNative = 16,  // the stack has frames of native code
};

// What an NVTX row stands for. Names say what a number means to the program: the number is the
// row's payload.
enum class RangeKind : uint8_t {
  kPushPop = 1,   // of one thread, nested
  kStartEnd = 2,  // of the process: another thread may end it
  kMark = 3,
  kNameThread = 4,    // a thread, by tid
  kNameCategory = 5,  // a category of the row's domain
  kNameDevice = 6,    // by its number (runtime) or handle (driver)
  kNameContext = 7,
  kNameStream = 8,
  kNameEvent = 9,
};

// nvtxPayloadType_t: how the 64 bits of a payload are to be read.
enum class NvtxPayload : uint8_t {
  kNone = 0,
  kUint64 = 1,
  kInt64 = 2,
  kDouble = 3,
  kUint32 = 4,
  kInt32 = 5,
  kFloat = 6,
};

enum class ThreadEvent : uint8_t {
  kStart = 1,  // a = start routine, b = tid of the creator
  kName = 2,   // a, b = 16 bytes of the name, zero-padded
  kExit = 3,   // a = processor time of its life in ns; 0: not known
  kSeen = 4,   // first event of a thread that started before capture
};

enum class ProcessEvent : uint8_t {
  kFork = 1,  // a = child's pid
  kVfork = 2,
  kSpawn = 3,  // a = child's pid; kText: path
  kExec = 4,   // kText: path; b = 0 about to, else errno of the exec that failed
  kExit = 5,   // a = exit status or signal, b = ExitWay
};

enum class ExitWay : uint8_t {
  kUnknown = 0,  // died without passing through us: SIGKILL, a fatal signal, a raw exit system call
  kReturn = 1,   // exit() or return from main
  kUnderscore = 2,  // _exit, _Exit
  kQuick = 3,       // quick_exit
  kAbort = 4,
  kExec = 5,      // the process goes on as another program
  kSnapshot = 6,  // it goes on: what a snapshot ends with
  // It goes on without gpuprof, whose threads it could not bear:
  kFiltered = 7,   // it filters its system calls from now on
  kAlone = 8,      // it may have a single thread only
  kRights = 9,     // its thread gave rights up, which others of the process would keep
  kLimits = 10,    // a limit on its memory, threads or processes left it too little
  kDetached = 11,  // it goes on: `gpuprof detach`
};

}  // namespace gpuprof::proto
