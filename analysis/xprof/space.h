// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One XSpace in memory: what XProf's pages read. Texts are views of what the space holds. Times are
// in picoseconds, as in the file.
//
// One thread at a time. The reader bounds the memory (see ReadSpace()).

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/import/foreign_file.h"
#include "analysis/import/xplane_tables.h"
#include "analysis/xprof/names.h"
#include "analysis/xprof/op_name.h"

namespace gpuprof::analysis::xprof {

// XProf computes times without signs.
struct Span {
  uint64_t begin = 0, duration = 0;

  uint64_t end() const { return begin + duration; }
  bool empty() const { return begin == 0 && duration == 0; }
  // Ends belong to a span: an instant is in both spans that it parts.
  bool Includes(const Span& other) const { return begin <= other.begin && other.end() <= end(); }
  uint64_t Overlap(const Span& other) const;
  void Extend(const Span& other);
  // Sorts outer spans before the spans within them.
  bool operator<(const Span& other) const {
    return begin != other.begin ? begin < other.begin : duration > other.duration;
  }
  static Span Between(uint64_t begin, uint64_t end) {
    return {begin, begin > end ? 0 : end - begin};
  }
};

struct Stat {
  using Kind = import::XStat::Kind;  // a reference has become its text

  StatKey key = StatKey::kOther;
  Kind kind = Kind::kNone;
  uint64_t bits = 0;      // of a number
  std::string_view text;  // also of a reference

  // Returns the value of one type, as XProf's readers do. A value of another type is 0.
  int64_t Signed() const { return kind == Kind::kSigned ? static_cast<int64_t>(bits) : 0; }
  uint64_t Whole() const { return kind == Kind::kSigned || kind == Kind::kUnsigned ? bits : 0; }
  double Double() const;
  std::string_view Text() const { return kind == Kind::kText ? text : std::string_view(); }
};

// What the events of one id share.
struct EventName {
  int64_t id = 0;
  std::string_view name;
  EventType type = EventType::kNone;
  OpName op;
};

struct Event {
  static constexpr uint32_t kNoStep = UINT32_MAX;

  uint32_t name = 0;  // index in Plane::names
  uint32_t first_stat = 0;
  uint32_t stats = 0;
  uint32_t step_name = kNoStep;  // index in Plane::step_names
  int64_t offset = 0;            // since the line's begin
  int64_t duration = 0;
  int64_t group = 0;
  bool has_group = false;
  bool is_eager = false;
};

struct Line {
  int64_t id = 0;
  std::string_view name;
  int64_t timestamp_ns = 0;
  std::vector<Event> events;

  Span SpanOf(const Event& event) const {
    return {static_cast<uint64_t>(timestamp_ns) * 1000 + static_cast<uint64_t>(event.offset),
            static_cast<uint64_t>(event.duration)};
  }
};

struct Plane {
  std::unique_ptr<const import::XPlaneTables> tables;  // has the names
  std::string_view name;
  std::vector<Line> lines;
  std::vector<EventName> names;
  std::vector<Stat> event_stats;  // of all events, those with a known key
  std::vector<Stat> stats;        // of the plane
  std::vector<std::string> step_names;
  bool has_group_stat = false;  // the plane has a name for groups

  std::span<const Stat> StatsOf(const Event& event) const {
    return std::span(event_stats).subspan(event.first_stat, event.stats);
  }
  // Returns the first stat with this key. Null: no stat has it.
  const Stat* Find(const Event& event, StatKey key) const;
  const Stat* Find(StatKey key) const;
};

// A compiled program in the file.
struct HloBytes {
  uint64_t program_id = 0;
  std::string_view bytes;
};

struct Space {
  std::deque<std::string> texts;  // of lines and events
  std::vector<Plane> planes;
  std::vector<std::string> errors, warnings;
  std::string host;  // empty: the file does not name it
  std::vector<HloBytes> programs;

  std::vector<Plane*> PlanesWithPrefix(std::string_view prefix);
  Plane* FindPlane(std::string_view name);
};

inline constexpr std::string_view kHostPlane = "/host:CPU";
inline constexpr std::string_view kGpuPrefix = "/device:GPU:";
inline constexpr std::string_view kTpuPrefix = "/device:TPU:";
inline constexpr std::string_view kMetadataPlane = "/host:metadata";

// Returns whether XProf made the line itself, out of others. XProf keeps ids in 32 bits there.
bool IsDerivedLine(int64_t id);
// The id of the line that XProf makes of the steps of a device.
inline constexpr int64_t kStepsLine = static_cast<int32_t>(0xdeadbeef);

// Reads a file, which may be compressed by gzip. Errors name the file: a damaged one, another
// format, one that needs more memory than this program may take.
Result<std::unique_ptr<Space>> ReadSpaceFile(const import::ForeignFile& from);
// Reads bytes. `name` is for errors.
Result<std::unique_ptr<Space>> ReadSpace(std::string bytes, const std::string& name);

}  // namespace gpuprof::analysis::xprof
