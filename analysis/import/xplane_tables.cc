// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xplane_tables.h.

#include "analysis/import/xplane_tables.h"

#include "analysis/import/wire.h"

namespace gpuprof::analysis::import {

namespace {

// Reads the form that nearly all stats have: an id, then a number or a reference. Returns false for
// all others.
bool ReadPlainXStat(std::string_view message, XStat* stat) {
  constexpr char kId = 1 << 3, kUnsigned = 3 << 3, kSigned = 4 << 3, kReference = 7 << 3;
  const char* at = message.data();
  const char* const end = at + message.size();
  if (message.empty() || *at != kId) return false;
  uint64_t id = 0;
  at = ReadVarint(at + 1, end, &id);
  if (at == nullptr || at == end) return false;
  const char tag = *at;
  stat->kind = tag == kSigned      ? XStat::Kind::kSigned
               : tag == kReference ? XStat::Kind::kReference
                                   : XStat::Kind::kUnsigned;
  if (stat->kind == XStat::Kind::kUnsigned && tag != kUnsigned) return false;
  stat->metadata_id = static_cast<int64_t>(id);
  return ReadVarint(at + 1, end, &stat->bits) == end;
}

}  // namespace

XStat ReadXStat(std::string_view message) {
  XStat plain;
  if (ReadPlainXStat(message, &plain)) return plain;
  XStat stat;
  WireReader reader(message);
  WireField field;
  const auto set = [&](XStat::Kind kind) {
    stat.kind = kind;
    stat.bits = field.value;
    stat.text = field.bytes;
  };
  while (reader.Next(&field)) {
    if (field.type == WireType::kVarint) {
      if (field.number == 1) stat.metadata_id = static_cast<int64_t>(field.value);
      if (field.number == 3) set(XStat::Kind::kUnsigned);
      if (field.number == 4) set(XStat::Kind::kSigned);
      if (field.number == 7) set(XStat::Kind::kReference);
    } else if (field.type == WireType::kBytes) {
      if (field.number == 5) set(XStat::Kind::kText);
      if (field.number == 6) set(XStat::Kind::kBytes);
    } else if (field.Is(2, WireType::kFixed64)) {
      set(XStat::Kind::kDouble);
    }
  }
  return stat;
}

void IdIndex::Set(int64_t id, uint32_t place) {
  if (id < 0 || id >= kDense) {
    others_[id] = place;
    return;
  }
  const auto at = static_cast<size_t>(id);
  if (at >= dense_.size()) dense_.resize(at + at / 2 + 64);
  dense_[at] = place + 1;
}

std::optional<uint32_t> IdIndex::FindOther(int64_t id) const {
  const auto known = others_.find(id);
  return known == others_.end() ? std::nullopt : std::optional(known->second);
}

XPlaneTables::Piece XPlaneTables::Keep(std::string_view text) {
  const Piece piece{bytes_.size(), static_cast<uint32_t>(text.size())};
  bytes_ += text;
  return piece;
}

void XPlaneTables::AddEvent(int64_t id, std::string_view name, std::string_view display_name,
                            const std::vector<std::string>& stats) {
  if (events_.size() == kMostEntries) {
    ++left_out;
    return;
  }
  event_index_.Set(id, static_cast<uint32_t>(events_.size()));
  Event& event = events_.emplace_back();
  event.id = id;
  event.name = Keep(name);
  event.display_name = Keep(display_name);
  event.first_stat = static_cast<uint32_t>(event_stats_.size());
  for (const std::string& stat : stats) {
    if (event_stats_.size() == kMostEntries) {
      ++left_out;
      return;
    }
    event_stats_.push_back(Keep(stat));
    ++event.stats;
  }
}

void XPlaneTables::AddStat(int64_t id, std::string_view name) {
  if (stats_.size() == kMostEntries) {
    ++left_out;
    return;
  }
  stat_index_.Set(id, static_cast<uint32_t>(stats_.size()));
  stats_.push_back(Keep(name));
}

void XPlaneTables::AddPlaneStat(std::string_view message) {
  if (plane_stats_.size() == kMostEntries) {
    ++left_out;
    return;
  }
  plane_stats_.push_back(Keep(message));
}

uint64_t XPlaneTables::held_bytes() const {
  constexpr uint64_t kIndexBytes = 2 * sizeof(uint32_t);
  return bytes_.size() + events_.size() * (sizeof(Event) + kIndexBytes) +
         stats_.size() * (sizeof(Piece) + kIndexBytes) +
         (event_stats_.size() + plane_stats_.size()) * sizeof(Piece);
}

std::vector<XStat> XPlaneTables::EventStats(uint32_t event) const {
  std::vector<XStat> stats;
  const Event& from = events_[event];
  for (uint32_t i = 0; i < from.stats; ++i)
    stats.push_back(ReadXStat(At(event_stats_[from.first_stat + i])));
  return stats;
}

std::vector<XStat> XPlaneTables::PlaneStats() const {
  std::vector<XStat> stats;
  for (const Piece piece : plane_stats_) stats.push_back(ReadXStat(At(piece)));
  return stats;
}

}  // namespace gpuprof::analysis::import
