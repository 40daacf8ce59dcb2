// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The dumps of several ranks joined: groups, and for each group the collectives and messages of its
// ranks. Any thread.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/model/flight_dump.h"

namespace gpuprof::analysis {

// A rank at a sequence number of a group: an operation, or a batch of operations.
struct FlightStep {
  std::vector<const FlightEntry*> parts;  // in their order; at least one
  const FlightEntry& last() const { return *parts.back(); }
};

// One rank of a group.
struct FlightMember {
  int32_t rank = 0;
  const FlightDump* dump = nullptr;
  const FlightGroup* group = nullptr;  // as the rank knows it
  std::map<int64_t, FlightStep> collectives = {};
  std::vector<const FlightEntry*> messages = {};
  bool has_states = false;  // an operation has more than been scheduled

  // Returns the newest collective that the rank has entered; kNotInDump: none.
  int64_t LastEntered() const;
  // Returns whether all that the rank did in the group has left the ring, so that it is not known.
  bool IsUnknown() const { return LastEntered() == kNotInDump && dump->HasLostBegin(); }
  // Returns the oldest collective that is known: those before may have left the ring.
  int64_t FirstKnown() const;
  // Returns whether the rank has left an operation. None: the dump does not tell it.
  std::optional<bool> HasLeft(const FlightEntry& entry) const;
};

struct JoinedGroup {
  std::string name, description;
  std::vector<int32_t> ranks;               // in the order of the group
  std::map<int32_t, FlightMember> members;  // with a dump, by rank
  std::vector<int32_t> unknown;             // without a dump
  // Returns the rank of the job for a number within the group; -1: not known.
  int32_t RankAt(int32_t number) const {
    return number >= 0 && static_cast<size_t>(number) < ranks.size()
               ? ranks[static_cast<size_t>(number)]
               : -1;
  }
};

// Joins dumps of different ranks, which outlive the result.
std::vector<JoinedGroup> JoinFlightDumps(const std::vector<const FlightDump*>& dumps);

// What of a step is compared between ranks: texts of the dump.
struct FlightSignature {
  std::string operation, input_sizes, output_sizes, types;
  bool operator==(const FlightSignature&) const = default;
  auto operator<=>(const FlightSignature&) const = default;
};
FlightSignature SignatureOf(const FlightMember& member, const FlightStep& step);

}  // namespace gpuprof::analysis
