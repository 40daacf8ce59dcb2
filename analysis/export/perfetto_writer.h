// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Packets of a Perfetto trace as bytes of protobuf. Perfetto's perfetto_trace.proto has the numbers
// of the fields. A process is a sequence of packets, which has its own names under numbers. Packets
// are not in the order of time: readers of files sort them. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/export/slices.h"
#include "analysis/export/wire_out.h"

namespace gpuprof::analysis {

// A track: of a process, a thread, a stream, or of anything below them.
struct PerfettoTrack {
  uint64_t uuid = 0, parent = 0;  // parent 0: none
  std::string name;
  int32_t pid = 0;  // of a process; not 0 if Perfetto is to know it as one
  int64_t tid = 0;  // of a thread, with the pid
  std::vector<std::string> command;
  bool is_counter = false;
  std::string unit;
  int32_t order = 0;  // among its siblings
};

// Fields of the messages that are in the interned data of a sequence.
enum class PerfettoNames : uint32_t {
  kCategoryNames = 1,
  kEvents = 2,
  kArguments = 3,
  kFunctions = 5,
  kBuildIds = 16,
  kMappingPaths = 17,
  kSourcePaths = 18,
  kTexts = 29,
};

class PerfettoWriter {
 public:
  // Writes to `out`, which the caller empties. `shift_ns` makes times of the bundle those of the
  // file, which are never negative.
  PerfettoWriter(std::string* out, int64_t shift_ns) : out_(*out), shift_ns_(shift_ns) {}

  // Says that the clock of events shows the time of day, by one moment of the bundle.
  void Clock(int64_t time_ns);
  // Begins a sequence; its number is not 0.
  void BeginSequence(uint32_t number);
  void Names(PerfettoNames kind, const std::vector<std::string>& texts);
  // Adds fields of InternedData.
  void Interned(std::string_view fields);
  void Track(const PerfettoTrack& track);
  // Writes an event of a track. `fields`: further fields of TrackEvent.
  void Begin(uint64_t track, int64_t time_ns, std::string_view fields) {
    Event(kBegin, track, time_ns, fields);
  }
  void End(uint64_t track, int64_t time_ns) { Event(kEnd, track, time_ns, ""); }
  void Instant(uint64_t track, int64_t time_ns, std::string_view fields) {
    Event(kInstant, track, time_ns, fields);
  }
  void Counter(uint64_t track, int64_t time_ns, double value);
  // Writes a sample of a thread that ran. `stack`: the number of an interned one.
  void Sample(int64_t time_ns, int32_t pid, int32_t tid, uint64_t stack);

  uint64_t events() const { return events_; }

 private:
  static constexpr uint32_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;

  void Event(uint32_t type, uint64_t track, int64_t time_ns, std::string_view fields);
  uint64_t TimeOf(int64_t time_ns) const;
  // Adds a packet of the sequence. `time_ns` null: without a time.
  void Packet(const int64_t* time_ns, uint32_t field, std::string_view message);

  std::string& out_;
  int64_t shift_ns_;
  uint32_t sequence_ = 0;
  uint64_t events_ = 0;
  std::string event_, packet_;  // kept for their memory
};

// Slices whose arguments are annotations of Perfetto.
class PerfettoSlices : public Slices {
 public:
  void JsonArg(std::string_view key, std::string_view json) override;
  void Members(std::string_view members) override;

  const std::vector<std::string>& keys() const { return keys_.texts(); }
  const std::vector<std::string>& texts() const { return texts_.texts(); }

 private:
  void SignedArg(std::string_view key, int64_t value) override;
  void UnsignedArg(std::string_view key, uint64_t value) override;
  void RealArg(std::string_view key, double value) override;
  void TextArg(std::string_view key, std::string_view text) override;
  const std::string& MembersOf(const std::string& object);

  SliceTexts keys_, texts_;
  std::unordered_map<std::string, std::string> objects_;  // annotations, by JSON
};

}  // namespace gpuprof::analysis
