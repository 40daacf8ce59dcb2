// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The drain: empties the rings into chunks and writes them, with the tables they refer to, into the
// process's trace file.
//
// One thread at a time has it, from its making until its deletion: the one that holds the pass
// (tracer/session.cc), or, when a capture has ended, the one that finishes the trace. A ring's
// space is given back only when the chunks made of it have been handed to the kernel.
//
// A drain is of one trace file. What it owns goes with it: a process that goes on, and is attached
// to a thousand times, has no more memory than before. Its deletion may come on another thread than
// its work, with another table of descriptors: each member closes what is its own file there and
// nothing else.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proto/codec/record_sorter.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "tracer/base/memory_relief.h"
#include "tracer/cupti/activity_drain.h"
#include "tracer/flight_recorder.h"
#include "tracer/inductor/kernel_rows.h"
#include "tracer/jax/window_rows.h"
#include "tracer/module_map.h"
#include "tracer/session_counts.h"
#include "tracer/thread_table.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer {

class Drain final : private cupti::BlockSink, private jax::TrackSource {
 public:
  // `counts` outlives it, and is told on.
  Drain(const Host* host, SessionCounts* counts);

  // Makes the trace file with the tables that open it. False: it cannot be made (said once).
  bool Open();
  bool is_open() const { return writer_.is_open(); }

  void BeginCapture(uint32_t number, const char* trigger);
  // The last pass: open spans become rows, every table is brought up to date.
  void EndCapture(const char* trigger);
  // Whether the calling thread gets at the files: after chroot() or setuid() only the one that has
  // them open may.
  bool CanWriteHere();
  // The end marker; the file is closed. False: the trace is not whole, and recovery can make it so.
  bool Finish(proto::ExitWay way, int32_t status);
  // A forked child's copy: forgets the parent's file.
  void Abandon();

  // Everything recorded so far into files, and those named. Until the next pass they are there.
  struct Snapshot {
    FileParts files;
    proto::FileHeader header;
    uint32_t capture;
    uint64_t now;
    // What is under way, and the Health message; of the drain, until it prepares the next one.
    const std::vector<std::unique_ptr<codec::RecordSorter>>* open_spans;
    const std::vector<uint8_t>* health;
  };
  bool PrepareSnapshot(Snapshot* snapshot);
  // Adds rows that the files do not give back to the losses of a Health message.
  static void AppendUnreadRows(uint64_t rows, std::vector<uint8_t>* health);

  // Whether passes refresh the coarse clock, for hooks to take instead of the true one. They must
  // come often then.
  void KeepCoarseClock(bool is_kept);
  // Empties all rings once. Returns how much of its ring the busiest thread filled since
  // the last time, 0 to 1.
  double Pass();
  // Brings the table of modules up to date, and the coarse clock, so that what comes to lie where a
  // module was does not record times at which that was still there.
  void UpdateModules();
  // Clocks, threads, modules, health; about once a second.
  void WriteTables(bool all);

  // Writes the framework's name once. The text stays for good.
  void AddFramework(const char* framework);

  // What left the rings, each stack counted in.
  uint64_t records() const { return records_; }

 private:
  // What is known of one ring's present owner.
  struct Track {
    uint32_t number = 0;
    uint64_t position = 0;     // records consumed up to here; tail is where they are in the file
    uint64_t first_ticks = 0;  // when the oldest unwritten record was consumed; 0: none
    std::unique_ptr<codec::RecordSorter> sorter;
  };

  void DrainRing(uint32_t slot, proto::RingHeader* ring, uint64_t now, double* growth);
  void Flush(Track* track, proto::RingHeader* ring);
  void Retire(Track* track, proto::RingHeader* ring, uint64_t now);
  void FlushAll();
  void CollectOpenSpans(uint64_t now);
  void GiveMemoryBack();
  void CloseDeadThreads();
  bool WriteInternTables();
  bool JoinFlight();
  bool WriteStacks();
  void WriteTitle();
  // Sets the coarse clock, if it is kept, to this moment.
  void RefreshClock(uint64_t now);
  // Ends the capture if the disk has no room to spare.
  void CheckDisk();
  bool WriteTable(proto::ChunkKind kind, int field, uint32_t entries);
  // What was lost, at the end of a capture, also where there is room for nothing else.
  void WriteHealth();
  bool WriteTableBlock(proto::ChunkKind kind, int field, const std::vector<uint8_t>& message,
                       uint32_t entries) override;
  void WriteStringsBlock() override { has_all_names_ = WriteInternTables(); }
  void WriteRowBlock(codec::ChunkBuilder* rows) override;
  uint32_t TrackOf(uint32_t tid, uint64_t ticks) override;
  void WriteTracks() override { activities_.WriteThreads(this); }
  void LoseRowBlock(codec::ChunkBuilder* rows) override { PassingWriter()->LoseEvents(rows); }
  uint32_t TimeShift() const;
  codec::TraceWriter* PassingWriter();
  uint64_t RowsLost() const;
  uint64_t RecordedSteps() const;
  uint64_t ProcessCpu() const;  // of the whole process while it was captured
  int WriteErrorNumber() const;
  uint64_t Now() const { return proto::ReadTicks(host_->settings->clock); }
  void CountLosses();
  void CountEvents(uint64_t rows) {
    counts_->events.store(counts_->events.load(std::memory_order_relaxed) + rows,
                          std::memory_order_relaxed);
  }

  const Host* host_;
  SessionCounts* counts_;
  proto::FileHeader header_ = {};
  codec::TraceWriter writer_;
  std::unique_ptr<FlightRecorder> flight_;
  codec::InternTables tables_;
  ModuleMap modules_;
  ThreadTable threads_;
  cupti::ActivityDrain activities_;
  jax::WindowRows jax_;
  inductor::KernelRows kernels_;
  std::vector<Track> tracks_;                                     // by ring slot
  std::vector<std::unique_ptr<codec::RecordSorter>> open_spans_;  // for a snapshot
  std::vector<uint8_t> snapshot_health_;                          // for one, too
  std::vector<uint8_t> message_;
  MemoryRelief relief_;
  uint32_t capture_ = 0;
  // Of rings that were given back.
  uint64_t retired_dropped_ = 0;
  uint64_t retired_reentered_ = 0;
  uint64_t corrupt_ = 0;
  uint64_t op_rows_ = 0;
  uint64_t records_ = 0;
  // Under a limit on a file's length, for the health, the marks and the ends of captures.
  static constexpr uint64_t kRoomOfLastWords = 4096;
  // Of these the health alone, with room to spare.
  static constexpr uint64_t kRoomOfLastHealth = 1536;
  bool is_health_written_ = true;   // the last one
  uint32_t segment_of_stacks_ = 0;  // a flight recorder's segments begun when stacks were written
  bool has_all_names_ = true;       // rows of activities that follow find what they refer to
  uint64_t drain_cpu_ns_ = 0;
  uint64_t cpu_before_ns_ = 0;   // of earlier drain threads
  uint64_t steps_before_ = 0;    // RecordedSteps() where the capture began
  uint64_t process_cpu_ns_ = 0;  // of the whole process, in the captures before this one
  uint64_t rows_let_go_ = 0;     // by the flight recorder, once it has gone
  bool is_capturing_ = false;
  bool is_clock_kept_ = false;
  uint64_t clock_refreshed_ = 0;  // the value of the coarse clock; 0: it is not kept
  uint64_t coarse_step_ = 0;      // longest time that a value stood, in ticks
  bool told_write_error_ = false;
  bool told_memory_ = false;
  uint32_t told_disk_ = 0;          // the capture that ended for the disk's sake
  const char* frameworks_[4] = {};  // those in the trace
  std::vector<char> command_line_;  // as last seen

 public:
  // The running drain thread's CPU time so far; `ended` when it is about to exit.
  void NoteCpu(uint64_t ns, bool ended);
};

}  // namespace gpuprof::tracer
