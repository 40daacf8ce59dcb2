// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which call of the program began a piece of the GPU's work: CUPTI gives both the same correlation
// id. Built once for a process, then read only, on any thread.
//
// A table by id leads to the calls if the ids are not too many and have few gaps. Otherwise an id
// is searched in the column itself, where it lies: a thread's calls mostly have ids that rise. Only
// of calls out of order a sorted list is kept.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/trace.h"

namespace gpuprof::analysis {

struct Call {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t track = 0;  // index in Process::tracks
  uint32_t row = 0;    // in its api table
};

class CallIndex {
 public:
  // Keeps a reference to the process.
  explicit CallIndex(const Process& process);

  // Finds a call. None: the call was not recorded. A runtime call and the driver calls in it share
  // an id; then this returns the runtime call.
  std::optional<Call> Find(uint32_t correlation) const;

 private:
  struct Entry {
    uint32_t correlation;
    uint32_t track;
    uint32_t row;
  };
  // A segment of a track's ids, in which they do not fall.
  struct Piece {
    uint32_t first_id;
    uint32_t last_id;
    uint32_t reach;  // the greatest last_id of this piece and all before it
    uint32_t track;
    const ColumnSegment* segment;
    bool has_equal;  // ids that follow each other are equal somewhere
  };

  static constexpr uint32_t kNoTrack = 0xffffffff;
  struct Place {
    uint32_t track = kNoTrack;
    uint32_t row = 0;
  };

  bool MakeDirect();
  bool BeginsBefore(const Place& x, const Place& y) const;
  static bool MakePiece(uint32_t track, const ColumnSegment& segment, Piece* piece);
  void AddEntries(uint32_t track, const ColumnSegment& segment);
  void SortEntries();
  Call CallOf(uint32_t track, size_t row) const;
  // Finds an earlier call than `best` with this id, and replaces `best`. The next two do so, too.
  void FindEntry(uint32_t correlation, std::optional<Call>* best) const;
  void FindInPiece(const Piece& piece, uint32_t correlation, std::optional<Call>* best) const;
  void Offer(uint32_t track, size_t row, std::optional<Call>* best) const;

  const Process* process_;
  uint32_t direct_first_ = 0;
  std::vector<Place> direct_;   // by id, from direct_first_ on; empty: there is no table
  std::vector<Piece> pieces_;   // by first_id
  std::vector<Entry> entries_;  // of the other segments, by correlation; each id is there once
};

}  // namespace gpuprof::analysis
