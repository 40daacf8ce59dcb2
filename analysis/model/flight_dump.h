// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What PyTorch's flight recorder wrote of one rank: its last collectives and messages, in a ring.
// Names and units are those of the dump (torch.distributed.flight_recorder). Filled by one thread,
// then read by any.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuprof::analysis {

// A time or a number that the dump does not have.
inline constexpr int64_t kNotInDump = INT64_MIN;

enum class FlightState : uint8_t {
  kUnknown,
  kScheduled,  // the host has entered it
  kStarted,    // the device has begun it
  kCompleted,
};

// One operation of one rank.
struct FlightEntry {
  uint32_t group = 0;                          // index in FlightDump::groups
  uint32_t operation = 0;                      // a text: "all_reduce"; so are the next ones
  uint32_t input_sizes = 0, output_sizes = 0;  // "[[1048576]]"
  uint32_t input_types = 0, output_types = 0;  // "Float"
  uint32_t place = 0;     // the innermost frame of the program: "/home/me/train.py:33"
  uint32_t function = 0;  // of that frame
  FlightState state = FlightState::kUnknown;
  bool is_message = false;  // from one rank to another, or a batch of these
  bool is_retired = false;  // the program does not wait for it any more
  // The ranks of a message within the group; -1: not a single message.
  int32_t from = -1, to = -1;
  int64_t sequence = kNotInDump;  // counts collectives, or messages, of the group
  int64_t order = 0;              // within one sequence number: parts of a batch
  int64_t record = kNotInDump;    // counts all entries since the process began
  int64_t created_ns = kNotInDump, started_ns = kNotInDump, completed_ns = kNotInDump;
  int64_t timeout_ms = kNotInDump;
};

// A group as one rank knows it.
struct FlightGroup {
  std::string name, description;
  std::vector<int32_t> ranks;  // in the order of the group; empty: not known
  // The newest sequence numbers of collectives; -1: none. kNotInDump: not in the dump.
  int64_t last_enqueued = kNotInDump, last_started = kNotInDump, last_completed = kNotInDump;
};

struct FlightDump {
  int32_t rank = 0;
  bool is_rank_guessed = false;  // neither the dump nor the name of the file tells it
  int32_t world_size = 0;        // 0: not known
  int64_t written_ns = 0;        // when the file was written, since 1970; 0: not known
  std::string version;           // of the format: "2.10"
  std::string library_version;   // of NCCL, or of another library
  std::vector<FlightGroup> groups;
  std::vector<FlightEntry> entries;  // in their order
  std::vector<std::string> texts;    // the first is ""
  uint64_t unread_entries = 0;       // that are not of a flight recorder
  // Returns whether older entries have left the ring.
  bool HasLostBegin() const {
    return !entries.empty() && entries.front().record != kNotInDump && entries.front().record > 0;
  }
  const std::string& text(uint32_t number) const { return texts[number]; }
};

struct Process;
// Returns the dump that a process stands for. Null: it stands for something else.
const FlightDump* FlightDumpOf(const Process& process);
// Makes a process stand for a dump.
void SetFlightDump(std::shared_ptr<const FlightDump> dump, Process* process);

}  // namespace gpuprof::analysis
