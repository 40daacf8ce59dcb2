// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A flight recorder's events: a row of segment files of which only the newest are kept, whole
// blocks at a time (proto/codec/segments.h).
//
// One tool thread at a time, as the drain. What a killed process leaves is joined by recovery.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "proto/codec/kept_folder.h"
#include "proto/codec/segments.h"
#include "proto/codec/trace_writer.h"

namespace gpuprof::tracer {

// Files as they are at one moment, each by its first bytes and the rows in them. Opened, they keep
// what is in them, whatever becomes of their names.
struct FileParts {
  static constexpr uint32_t kMost = 16;
  static constexpr uint32_t kPathBytes = 700;
  struct Part {
    char path[kPathBytes];
    uint64_t bytes;
    uint64_t rows;
    int fd;  // -1: not open
  };
  Part part[kMost];
  uint32_t count = 0;

  bool Add(const char* path, uint64_t bytes, uint64_t rows);
  // False: errno says why, and none is open. On the thread that reads them.
  bool Open();
  void Close();
};

class FlightRecorder final : private codec::RoomMaker {
 public:
  // Between seven and eight eighths of `bytes` are kept once there is so much, and at most a block
  // more of each segment; where segments cannot be begun as they should, about twice as much.
  //
  // `ticks_of_cupti`: where events are on CUPTI's clock, that clock's time in ticks.
  using TicksOfCupti = std::function<uint64_t(uint64_t cupti_ns)>;
  FlightRecorder(const char* stem_path, uint64_t bytes, const proto::FileHeader& header,
                 TicksOfCupti ticks_of_cupti = {});

  // The writer of the newest segment; a new one is begun when it is full, or was removed. Where
  // that cannot be made, the newest grows on until it and those behind the oldest are seven eighths
  // by themselves; then the oldest goes. With nothing to let go the writer counts what is lost. It
  // is tried again once a second.
  //
  // On a full disk the oldest goes earlier, as long as a whole segment is left. What is kept is
  // then less than was asked for, and these rows are lost.
  codec::TraceWriter* Writer();
  // Whether a segment was begun since the last question: what each must tell is to be written anew.
  bool TakeBegun();
  // Returns how many segments were begun.
  uint32_t begun() const { return next_; }

  // Moves everything into `trace` and removes the segments. A segment that cannot be read to its
  // end leaves a hole there, and its rows that are missing are lost. False: the trace cannot be
  // written; or, unless `leaves_holes`, one before the newest cannot be read: recovery finds more
  // in it (of the newest it would take the damage for what the end of the process left).
  bool JoinInto(codec::TraceWriter* trace, bool leaves_holes);
  // After a JoinInto that failed: removes the segments that are left. Returns how many of the rows
  // written into them are not in the trace.
  uint64_t Drop();
  bool AddTo(FileParts* files) const;
  bool CanWriteHere() { return !writer_.is_open() || writer_.CanWriteHere(); }
  // A forked child's copy.
  void Abandon() {
    writer_.Abandon();
    folder_.Close();
  }
  codec::KeptFolder* folder() { return &folder_; }

  uint64_t segment_bytes() const { return segment_bytes_; }
  uint64_t rows_lost() const { return rows_lost_before_ + writer_.rows_lost(); }
  // Rows that were let go, older than what is kept. Not those that a full disk cost.
  uint64_t rows_let_go() const { return rows_let_go_; }
  uint64_t bytes_written() const { return bytes_before_ + writer_.bytes_written(); }
  int last_error() const { return writer_.is_open() ? writer_.last_error() : begin_error_; }

 private:
  static constexpr uint32_t kSegments = 8;
  static constexpr uint64_t kPathBytes = 700;

  // What was written into one.
  struct Written {
    uint64_t bytes;
    uint64_t rows;
  };

  void Begin();
  int Create();
  bool IsAtSize() const;
  uint64_t BytesFrom(uint32_t number) const;
  uint64_t LastTicks(int fd) const;
  bool LetGoOldest();
  void TellLetGo();
  bool MakeRoom() override;
  Written WrittenInto(uint32_t number) const;

  char stem_[kPathBytes - 20];
  uint64_t segment_bytes_;
  proto::FileHeader header_;
  TicksOfCupti ticks_of_cupti_;
  codec::KeptFolder folder_;  // a program may change its root at any time
  codec::TraceWriter writer_;
  uint32_t oldest_ = 0;
  uint32_t next_ = 0;                // number of the next segment
  Written written_[kSegments] = {};  // by number, of those before the newest
  int begin_error_ = 0;              // why the newest could not be begun; 0: it was
  uint64_t begin_again_ns_ = 0;      // not before, then
  uint64_t room_made_ns_ = 0;        // on a full disk, and how much was written until then
  uint64_t bytes_at_room_ = 0;
  uint64_t let_go_until_ = 0;  // latest tick of any event that is gone
  uint64_t told_until_ = 0;    // the same, as the newest segment tells it
  bool begun_ = false;
  uint64_t rows_let_go_ = 0;
  uint64_t rows_lost_before_ = 0;
  uint64_t bytes_before_ = 0;
  uint64_t rows_of_torn_ = 0;  // that JoinInto has copied of the segment at which it failed
};

}  // namespace gpuprof::tracer
