// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The names and constant values of one plane of an XSpace: events and stats refer to them by
// numbers. Kept in one block of memory, as a plane may have hundreds of thousands.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpuprof::analysis::import {

// A value of an event, of its metadata or of a plane.
struct XStat {
  enum class Kind : uint8_t { kNone, kDouble, kUnsigned, kSigned, kText, kBytes, kReference };
  int64_t metadata_id = 0;
  Kind kind = Kind::kNone;
  uint64_t bits = 0;  // of numbers; a reference: the id
  std::string_view text;
};
// Reads the message of a stat. Parts that are not fields are left out.
XStat ReadXStat(std::string_view message);

// From the ids of a plane to places in a table. Ids are mostly small and dense.
class IdIndex {
 public:
  void Set(int64_t id, uint32_t place);
  std::optional<uint32_t> Find(int64_t id) const {
    if (id < 0 || id >= kDense) return FindOther(id);
    const auto at = static_cast<size_t>(id);
    if (at >= dense_.size() || dense_[at] == 0) return std::nullopt;
    return dense_[at] - 1;
  }

 private:
  std::optional<uint32_t> FindOther(int64_t id) const;

  static constexpr int64_t kDense = 1 << 20;
  std::vector<uint32_t> dense_;  // places plus 1
  std::unordered_map<int64_t, uint32_t> others_;
};

class XPlaneTables {
 public:
  // No table has more entries: further ones are not kept. Files of strangers must not fill the
  // memory.
  static constexpr size_t kMostEntries = 4u << 20;

  std::string plane_name;
  bool is_cut = false;    // the file ends within the plane
  uint32_t number = 0;    // of the plane, in the order of the file
  uint64_t left_out = 0;  // entries beyond the limit

  // Adds the metadata of an event; its stats are messages.
  void AddEvent(int64_t id, std::string_view name, std::string_view display_name,
                const std::vector<std::string>& stats);
  void AddStat(int64_t id, std::string_view name);
  void AddPlaneStat(std::string_view message);

  std::optional<uint32_t> FindEvent(int64_t id) const { return event_index_.Find(id); }
  std::optional<uint32_t> FindStat(int64_t id) const { return stat_index_.Find(id); }
  size_t events() const { return events_.size(); }
  size_t stats() const { return stats_.size(); }
  // Returns how much memory the tables take, about.
  uint64_t held_bytes() const;
  int64_t EventId(uint32_t event) const { return events_[event].id; }
  std::string_view EventName(uint32_t event) const { return At(events_[event].name); }
  std::string_view DisplayName(uint32_t event) const { return At(events_[event].display_name); }
  std::string_view StatName(uint32_t stat) const { return At(stats_[stat]); }
  std::vector<XStat> EventStats(uint32_t event) const;
  std::vector<XStat> PlaneStats() const;

 private:
  struct Piece {
    uint64_t at = 0;
    uint32_t bytes = 0;  // no text has 4 GiB
  };
  struct Event {
    int64_t id = 0;
    Piece name, display_name;
    uint32_t first_stat = 0, stats = 0;
  };

  Piece Keep(std::string_view text);
  std::string_view At(Piece piece) const { return {bytes_.data() + piece.at, piece.bytes}; }

  std::string bytes_;
  std::vector<Event> events_;
  std::vector<Piece> stats_, event_stats_, plane_stats_;
  IdIndex event_index_, stat_index_;
};

}  // namespace gpuprof::analysis::import
