// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A flight recorder's events: a row of segment files of which only the newest are kept, whole
// blocks at a time (proto/codec/segments.h).
//
// One tool thread at a time, as the drain. What a killed process leaves is joined by recovery.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/segments.h"
#include "proto/codec/trace_writer.h"

namespace gpuprof::tracer {

// Files as they are at one moment, each by its first bytes. Opened, they keep what is in them,
// whatever becomes of their names.
struct FileParts {
  static constexpr uint32_t kMost = 16;
  static constexpr uint32_t kPathBytes = 700;
  struct Part {
    char path[kPathBytes];
    uint64_t bytes;
    int fd;  // -1: not open
  };
  Part part[kMost];
  uint32_t count = 0;

  bool Add(const char* path, uint64_t bytes);
  // False: errno says why, and none is open. On the thread that reads them.
  bool Open();
  void Close();
};

class FlightRecorder {
 public:
  // Between seven and eight eighths of `bytes` are kept once there is so much, and at most a block
  // more of each segment.
  FlightRecorder(const char* stem_path, uint64_t bytes, const proto::FileHeader& header);

  // The writer of the newest segment; a new one is begun when it is full. A failure shows in the
  // writer, which then counts what is lost.
  codec::TraceWriter* Writer();
  // Whether a segment was begun since the last question: what each must tell is to be written anew.
  bool TakeBegun();

  // Moves everything into `trace` and removes the segments. False: the trace cannot be written.
  bool JoinInto(codec::TraceWriter* trace);
  // After a JoinInto that failed: removes the segments that are left. Returns how many rows of them
  // are not in the trace.
  uint64_t Drop();
  bool AddTo(FileParts* files) const;
  bool CanWriteHere() { return !writer_.is_open() || writer_.CanWriteHere(); }
  // A forked child's copy.
  void Abandon() { writer_.Abandon(); }

  uint64_t segment_bytes() const { return segment_bytes_; }
  uint64_t rows_lost() const { return rows_lost_before_ + writer_.rows_lost(); }
  uint64_t bytes_written() const { return bytes_before_ + writer_.bytes_written(); }
  int last_error() const { return writer_.last_error(); }

 private:
  static constexpr uint32_t kSegments = 8;
  static constexpr uint64_t kPathBytes = 700;

  void Begin();
  void LetGoOldest();

  char stem_[kPathBytes - 20];
  uint64_t segment_bytes_;
  proto::FileHeader header_;
  codec::TraceWriter writer_;
  uint32_t oldest_ = 0;
  uint32_t next_ = 0;          // number of the next segment
  uint64_t let_go_until_ = 0;  // latest tick of any event that is gone
  bool begun_ = false;
  uint64_t rows_lost_before_ = 0;
  uint64_t bytes_before_ = 0;
  uint64_t rows_of_torn_ = 0;  // that JoinInto has copied of the segment at which it failed
};

}  // namespace gpuprof::tracer
