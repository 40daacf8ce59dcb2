// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Layout of a ring file: one shared mapping per process that holds one single-producer ring per
// thread. Also the producer's and the consumer's few inline operations on a ring.
//
// The producer is the owning thread, inside hooks. It never allocates or locks. A record that does
// not fit is dropped and counted, unless the producer waits for room (inject/ring_room.h). The
// consumer is the drain thread, or recovery once the process is dead. The consumer frees space
// (advances `tail`) only after the kernel has the chunks made of those records. So a SIGKILL leaves
// between tail and head exactly the records that the .gpt file lacks. Recovery must treat every
// field as hostile: another process wrote it.
//
// File: [RingFileHeader][ring header][records]...[ring header][records]...   offsets in the
// directory. A ring header is a RingHeader and room for more.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/record.h"
#include "proto/ticks.h"

namespace gpuprof::proto {

inline constexpr uint64_t kRingFileMagic = 0x474e495246505547u;  // "GUPFRING"
inline constexpr uint32_t kRingFileVersion = 3;                  // a reader refuses any other
inline constexpr uint32_t kRingMagic = 0x31474e52u;              // "RNG1"
inline constexpr uint32_t kPageBytes = 4096;
// From a ring's header to its records. Pages that no field is on are never touched.
inline constexpr uint32_t kRingHeaderBytes = 2 * kPageBytes;
inline constexpr uint32_t kMaxRings = 2048;
inline constexpr uint32_t kMinRingBytes = 8 * 1024;
inline constexpr uint32_t kMaxRingBytes = 64 * 1024 * 1024;
inline constexpr uint32_t kMaxOpenOps = 64;
inline constexpr uint32_t kMaxOpenRanges = 32;
inline constexpr uint32_t kMaxOpenCalls = 128;
inline constexpr uint32_t kTimeHookOneIn = 256;

static_assert(std::atomic<uint64_t>::is_always_lock_free);

enum class RingState : uint32_t {
  kFree = 0,
  kOwned = 1,    // a live thread writes
  kClosed = 2,   // the thread has gone; the consumer empties it, then frees it
  kClaimed = 3,  // a new thread is about to own a free ring
};

// The consumer's last stack when it freed the ring up to `position`. A kStack record holds only the
// difference from the stack before. So recovery needs the stack before the first record that it
// finds. Valid only while `position` is the tail.
struct RingStack {
  uint64_t position;
  uint64_t written_at;  // ring position behind its kStack record
  uint64_t frames;
  uint64_t pc[kMaxStackFrames];  // innermost first; 0: not known
};

struct OpenOp {
  uint64_t start;
  uint32_t name;      // string id
  uint32_t scope;     // OpScope
  uint64_t sequence;  // autograd's number of the op, plus 1; 0: none
};

// A range of nvtxRangePush. Its attributes are recorded only with its end.
struct OpenRange {
  uint64_t start;
  uint32_t name;    // string id
  uint32_t domain;  // string id; 0: the default domain
  uint32_t depth;   // among those of its domain
  uint32_t reserved;
};

struct RingHeader {
  // Set by the owner before `state` becomes kOwned.
  uint32_t magic;
  std::atomic<uint32_t> state;  // RingState
  uint32_t capacity;            // records that have their place on the disk, a power of two
  uint32_t track;               // dense number of this thread's timeline in the process, from 1
  int32_t tid;
  uint32_t most;    // records that the ring may grow to; not above `capacity`: it has grown
  uint64_t opened;  // ticks
  char name[16];    // of the thread, as last seen

  // Producer's line.
  alignas(64) std::atomic<uint64_t> head;  // records ever published
  uint64_t room_until;  // below this head there is room, and the consumer need not be woken
  uint64_t last_time;   // newest time written: coarse times never go behind it
  std::atomic<uint64_t> dropped;    // records ever dropped because the ring was full
  uint64_t dropped_told;            // how many of them kDropped records have announced
  std::atomic<uint64_t> reentered;  // events not recorded: a signal handler interrupted a hook
  uint64_t spare_producer[2];

  // Consumer's line.
  alignas(64) std::atomic<uint64_t> tail;  // records whose chunks are in the file

  // What was going on, for the end of a capture and for the dead.
  alignas(
      64) std::atomic<uint32_t> open_ops;  // depth; may exceed kMaxOpenOps, the excess is not kept
  // The current wait. Each field is written with release, after open_wait_start was set to 0 and
  // before it is set again. It is read with acquire. It is valid if open_wait_start is the same
  // before and after.
  std::atomic<uint32_t> open_wait_kind;  // WaitKind, kFlagLimited << 8
  std::atomic<uint64_t> open_wait_start;
  std::atomic<uint64_t> open_wait_object;
  std::atomic<uint64_t> open_wait_caller;
  std::atomic<uint64_t> open_wait_stack;  // ring position behind its kStack record; 0: no stack
  std::atomic<uint64_t> open_wait_owner;  // tid; 0: not known
  OpenOp open_op[kMaxOpenOps];

  // The producer's memory of the stack it wrote last, so that the next one sends only what differs.
  uint32_t last_stack_frames;
  std::atomic<uint32_t> open_ranges;  // how many; beyond kMaxOpenRanges they are not kept here
  uint64_t last_stack[kMaxStackFrames];

  // Consumer's (codec::RecordSorter::Release).
  RingStack freed_stack;

  // Producer's: what was going on, as open_op.
  OpenRange open_range[kMaxOpenRanges];

  // Calls of Python functions: depth, which may exceed kMaxOpenCalls. The excess is not kept. The
  // sequence of a call is the time at which it was hidden from us (ticks); 0: it is open.
  std::atomic<uint32_t> open_calls;
  uint32_t spare_calls;
  OpenOp open_call[kMaxOpenCalls];
};
// The rest is for open spans of new kinds.
static_assert(sizeof(RingHeader) <= kRingHeaderBytes);

// Returns the records of the ring.
inline Record* RingRecords(RingHeader* ring) {
  return reinterpret_cast<Record*>(reinterpret_cast<char*>(ring) + kRingHeaderBytes);
}
inline const Record* RingRecords(const RingHeader* ring) {
  return reinterpret_cast<const Record*>(reinterpret_cast<const char*>(ring) + kRingHeaderBytes);
}

struct RingDirectoryEntry {
  std::atomic<uint64_t> offset;  // of the RingHeader in the file; 0: unused
  uint64_t bytes;                // header and records
};

// Whether the process keeps segments of a flight recorder. To look for them is to read the whole
// folder, which may hold the files of many thousand processes.
enum class RingSegments : uint32_t { kNotKnown = 0, kNone = 1, kMaybe = 2 };

struct RingFileHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;  // sizeof(RingFileHeader), page-rounded: where the first ring may start
  int32_t pid;
  int32_t ppid;
  uint64_t start_id;    // the <start> of the file name
  uint64_t clock_kind;  // ClockKind
  // One snapshot taken when the file was made, so that a file without a .gpt can be dated.
  uint64_t snapshot_ticks;
  uint64_t snapshot_monotonic_ns;
  uint64_t snapshot_realtime_ns;
  uint64_t ticks_per_second;  // estimate; 1e9 for kMonotonic
  uint32_t heap_mode;         // HeapMode in proto/contract.h
  uint32_t heap_period;       // bytes, for sampled
  std::atomic<uint32_t>
      capture;  // number of the capture under way or last made, from 1; 0: none yet
  std::atomic<uint32_t> ring_count;  // directory entries in use
  std::atomic<uint64_t> file_bytes;  // end of the last ring
  std::atomic<uint64_t> no_ring;     // events not recorded: no ring could be had for the thread
  std::atomic<uint64_t> table_full;  // sampled allocations not recorded: address table full
  // Events not recorded: their thread had ended already, or its ring was being made.
  std::atomic<uint64_t> thread_edges;
  std::atomic<uint32_t> exit_way;  // ExitWay
  std::atomic<int32_t> exit_status;
  uint32_t is_forked;  // 1: begun by fork from a recorded process, whose modules it has
  // Rings that found no place in this file, whose last records go with the process.
  std::atomic<uint32_t> rings_outside;
  // The coarse clock line, which the drain thread refreshes while there is much to record. 0: the
  // thread does not refresh it, and each event's time is read from the clock itself.
  std::atomic<uint64_t> coarse_ticks;
  std::atomic<uint64_t> pass_ticks;  // when the drain thread last looked: the process lived then
  // A later snapshot, taken each second and on the way out; zero until then. With the first it
  // gives the true rate.
  uint64_t latest_ticks;
  uint64_t latest_monotonic_ns;
  uint64_t latest_realtime_ns;
  // The cost of hooks of heap and mapping events in the program's threads. Timed hooks are one in
  // kTimeHookOneIn of each thread's hooks. The sums are of their ticks and of the squares.
  std::atomic<uint64_t> hooks_timed;
  std::atomic<uint64_t> hook_ticks;
  std::atomic<uint64_t> hook_ticks_squared;
  char executable[256];
  char trouble[256];  // why recording ended before the process did; empty: it did not
  RingDirectoryEntry directory[kMaxRings];
  // NVTX calls that could not be recorded as they were.
  std::atomic<uint64_t> ranges_unpaired;  // ends of ranges that did not begin in the capture
  // Without a row: too many were open, or they were started and open when a capture ended.
  std::atomic<uint64_t> ranges_refused;
  std::atomic<uint64_t> range_names_lost;  // messages recorded under the name "table full"
  // Extended payloads that were not recorded: their schema or size is not known, or they have no
  // memory.
  std::atomic<uint64_t> range_values_lost;
  // The drain thread's. Rows that the disk did not take, although their records have left the
  // rings. If the disk takes nothing more, the trace itself cannot report them.
  std::atomic<uint64_t> rows_unwritten;
  // What CUPTI recorded up to this moment (ticks) is in the trace, or counted as lost; 0: it does
  // not record. Later records are in memory of the process's, and go with it.
  std::atomic<uint64_t> activity_until;
  // Blocks of the trace that were in the file at last, its segments' apart: where there are fewer
  // now, some were cut off.
  std::atomic<uint64_t> trace_blocks;
  // `dropped` and `reentered` that no ring's header in this file holds: of rings whose thread had
  // ended, and of rings that found no place here.
  std::atomic<uint64_t> dropped_elsewhere;
  std::atomic<uint64_t> reentered_elsewhere;
  // Not 0: when the last capture ended (ticks). What was open then is in the trace, and is none of
  // the dead's.
  std::atomic<uint64_t> spans_told;
  // Threads that waited for room in their rings (--on-full=wait): how often, and how long in all.
  std::atomic<uint64_t> room_waits;
  std::atomic<uint64_t> room_wait_ticks;
  // Namespaces that the program made with dlmopen: what happens in them is not recorded.
  std::atomic<uint32_t> namespaces;
  // The place in which `pid` is a process's number. It is the inode of its namespace of process
  // numbers, 0 if it is not known, and the host's name, cut.
  uint64_t pid_namespace;
  char host[64];
  uint32_t segments;  // RingSegments
  // Processor time of the program's threads in which gpuprof began and ended (ns).
  std::atomic<uint64_t> begin_end_cpu_ns;
};
// A ring may follow it: the size of a header that is in a file never changes.
static_assert(sizeof(RingFileHeader) <= 9 * kPageBytes && sizeof(RingFileHeader) > 8 * kPageBytes);

// --- Producer
// ---------------------------------------------------------------------------------------------------------

// A producer calls it when its ring is fuller than kWakeShare. A consumer that looks only now and
// then comes at once. Most of the ring is still free if the consumer has to wait. It runs in hooks
// and signal handlers, like the producer.
inline constexpr uint32_t kWakeShare = 4;  // a quarter

struct WakeNobody {
  void operator()() const noexcept {}
  // Returns whether the ring has got more room on the disk, with a larger `capacity`.
  bool Grow(RingHeader*) const noexcept { return false; }
  // Returns whether a full ring has room for records up to `end` after all.
  bool AwaitRoom(const RingHeader*, uint64_t) const noexcept { return false; }
};

// Gives a new ring more room before it would be a quarter full: most processes of a job's tree
// write a few records and end. Each record keeps its slot, because the head has not come round yet.
template <typename Wake>
inline void RingGrow(RingHeader* ring, uint64_t head, uint32_t slots, Wake wake) noexcept {
  while (ring->capacity < ring->most && head <= ring->capacity &&
         head + slots > ring->capacity / kWakeShare && wake.Grow(ring)) {}
}

template <typename Wake>
[[gnu::noinline]] bool RingFindRoom(RingHeader* ring, uint64_t head, uint32_t slots,
                                    Wake wake) noexcept {
  RingGrow(ring, head, slots, wake);
  const uint64_t tail = ring->tail.load(std::memory_order_acquire);
  const uint64_t used = head + slots - tail;
  const uint32_t quiet = ring->capacity / kWakeShare;
  ring->room_until = tail + (used > quiet ? ring->capacity : quiet);
  if (used > quiet) wake();
  return used <= ring->capacity || wake.AwaitRoom(ring, head + slots);
}

// Makes room for `slots` records plus the gap record when one is due. False: count a drop.
template <typename Wake>
inline bool RingHasRoom(RingHeader* ring, uint64_t head, uint32_t slots, Wake wake) noexcept {
  if (__builtin_expect(head + slots <= ring->room_until, 1)) return true;
  return RingFindRoom(ring, head, slots, wake);
}

// Announces a gap if one is open. Returns the head behind it. Call with room for one slot more than
// needed.
inline uint64_t RingTellGap(RingHeader* ring, uint64_t head, uint64_t time) noexcept {
  const uint64_t dropped = ring->dropped.load(std::memory_order_relaxed);
  Record* slot = &RingRecords(ring)[head & (ring->capacity - 1)];
  *slot = Record{
      time, 0, static_cast<uint8_t>(RecordKind::kDropped), 0, 0, dropped - ring->dropped_told, 0};
  ring->dropped_told = dropped;
  return head + 1;
}

// Stores whole words. To copy the record as one, its just-written parts would have to leave the
// store buffer first.
inline void RingStore(Record* slot, const Record& record) noexcept {
  static_assert(sizeof(Record) == 32 && offsetof(Record, a) == 16);
  const uint64_t parts = uint64_t{record.duration} | uint64_t{record.kind} << 32 |
                         uint64_t{record.flags} << 40 | uint64_t{record.detail} << 48;
  slot->time = record.time;
  __builtin_memcpy(&slot->duration, &parts, sizeof(parts));
  slot->a = record.a;
  slot->b = record.b;
}

// Publishes one record. False when dropped (and counted); the caller does nothing about it.
template <typename Wake = WakeNobody>
inline bool RingWrite(RingHeader* ring, const Record& record, Wake wake = {}) noexcept {
  uint64_t head = ring->head.load(std::memory_order_relaxed);
  const bool gap = ring->dropped.load(std::memory_order_relaxed) != ring->dropped_told;
  if (__builtin_expect(!RingHasRoom(ring, head, gap ? 2 : 1, wake), 0)) {
    ring->dropped.store(ring->dropped.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    return false;
  }
  if (__builtin_expect(gap, 0)) head = RingTellGap(ring, head, record.time);
  RingStore(&RingRecords(ring)[head & (ring->capacity - 1)], record);
  ring->head.store(head + 1, std::memory_order_release);
  return true;
}

inline constexpr uint64_t kNoRoom = ~uint64_t{0};

// Reserves room for a group of records (prefix records, their payloads, the event). The group is
// published all together or not at all. Returns the position of its first slot, to be filled in
// place and handed to RingPublish, or kNoRoom. `slots` counts every 32-byte slot; `events` is the
// number of lost events that a refusal stands for.
template <typename Wake = WakeNobody>
inline uint64_t RingReserve(RingHeader* ring, uint64_t time, uint32_t slots, uint32_t events,
                            Wake wake = {}) noexcept {
  const uint64_t head = ring->head.load(std::memory_order_relaxed);
  const bool gap = ring->dropped.load(std::memory_order_relaxed) != ring->dropped_told;
  if (__builtin_expect(!RingHasRoom(ring, head, slots + (gap ? 1 : 0), wake), 0)) {
    ring->dropped.store(ring->dropped.load(std::memory_order_relaxed) + events,
                        std::memory_order_relaxed);
    return kNoRoom;
  }
  return __builtin_expect(gap, 0) ? RingTellGap(ring, head, time) : head;
}

inline Record* RingSlot(RingHeader* ring, uint64_t position) noexcept {
  return &RingRecords(ring)[position & (ring->capacity - 1)];
}

// Publishes a group up to `end`, the position behind its last slot.
inline void RingPublish(RingHeader* ring, uint64_t end) noexcept {
  ring->head.store(end, std::memory_order_release);
}

// Writes a group that is ready in memory. False: dropped and counted.
template <typename Wake = WakeNobody>
inline bool RingWriteGroup(RingHeader* ring, const Record* records, uint32_t slots, uint32_t events,
                           Wake wake = {}) noexcept {
  const uint64_t head = RingReserve(ring, records[slots - 1].time, slots, events, wake);
  if (head == kNoRoom) return false;
  for (uint32_t i = 0; i < slots; ++i) *RingSlot(ring, head + i) = records[i];
  RingPublish(ring, head + slots);
  return true;
}

}  // namespace gpuprof::proto
