// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When dumps were written, as far as they tell. A dump does not hold its own moment. A job that
// runs goes on between two dumps, so the earlier one lacks what the later one has. Any thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/passes/host/flight_groups.h"

namespace gpuprof::analysis {

class FlightMoments {
 public:
  // Takes groups that, like their dumps, outlive this object.
  explicit FlightMoments(const std::vector<JoinedGroup>& groups);

  // What the dumps say about ranks that lack something since a moment.
  enum class Verdict {
    kLacking,    // a dump was written long after the moment, so the rank lacks it indeed
    kPerhaps,    // nothing tells when the dump was written
    kUndecided,  // dumps are of different moments, or no rank has waited for long
  };
  // Judges ranks that lack something since a time of LevelNs, while `waiting` wait for them.
  Verdict Judge(const JoinedGroup& group, const std::vector<int32_t>& lacking,
                const std::vector<int32_t>& waiting, int64_t since_ns) const;

  // Returns whether another rank has left a collective of the group that this rank's dump lacks.
  // What the dump lacks then says nothing.
  bool IsEarlier(const JoinedGroup& group, const FlightMember& member) const;
  // Returns whether some rank has left a later collective, so that all ranks have left this one.
  bool HasAnyLeftLater(const JoinedGroup& group, int64_t sequence) const;

  // Returns a time of a rank by the clock that all ranks share; kNotInDump: it is not known.
  int64_t LevelNs(int32_t rank, int64_t time_ns) const;
  // Returns how long before the newest dump a dump was written at least. None: it is not known to
  // be earlier.
  std::optional<int64_t> EarlierNs(int32_t rank) const;

 private:
  struct Dump {
    int64_t ahead_ns = 0;                 // of the shared clock
    int64_t first_ns = kNotInDump;        // the dump was written at this time or later
    int64_t last_ns = INT64_MAX;          // and at this time or earlier, by operations of others
    int64_t last_by_file_ns = INT64_MAX;  // and by the time of its file
    bool is_early = false;                // another rank has left what this dump lacks
  };
  struct Group {
    int64_t newest_left = kNotInDump;  // the newest collective that proves all ranks' arrival
    int64_t pause_ns = 0;              // waits up to this time are usual
  };

  void LevelClocks(const std::vector<JoinedGroup>& groups);
  void FindFirst(const std::vector<JoinedGroup>& groups);
  void FindLast(const JoinedGroup& group);
  void FindLastOfMessages(const JoinedGroup& group);
  int64_t LastNs(int32_t rank) const;

  std::map<int32_t, Dump> dumps_;
  std::map<const JoinedGroup*, Group> groups_;
  bool has_early_ = false;
  int64_t newest_ns_ = kNotInDump;
};

}  // namespace gpuprof::analysis
