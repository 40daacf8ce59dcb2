// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One plane of an XSpace as bytes of protobuf; proto/foreign/xspace.proto has the numbers of the
// fields. Events come in the order of their starts. Equal names and texts are kept once. For
// ExportXSpace, one thread.
//
//   plane.BeginLine(7, "Stream #7(Compute)");
//   plane.BeginEvent("kernel", start_ns, duration_ns);
//   plane.Number("correlation_id", 12);
//   plane.EndEvent();
//   plane.EndLine();

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::analysis {

class XPlaneWriter {
 public:
  XPlaneWriter(int64_t id, std::string_view name);

  void BeginLine(int64_t id, std::string_view name);
  void EndLine();
  // Begins an event. The start counts from the begin of the profile.
  void BeginEvent(std::string_view name, int64_t start_ns, int64_t duration_ns);
  void EndEvent();

  // Adds a value to the event, or to the plane if no event is open.
  void Number(std::string_view key, int64_t value);
  void Unsigned(std::string_view key, uint64_t value);
  void Real(std::string_view key, double value);
  void Text(std::string_view key, std::string_view value);

  // Adds metadata of an event that has no event, with bytes as its only value.
  void Metadata(int64_t id, std::string_view name, std::string_view key, std::string_view bytes);

  // Returns the field of the XSpace that has the plane. Call it once, last.
  std::string Take();
  uint64_t events() const { return events_; }

 private:
  // Numbers texts from 1, in the order in which they come.
  class Names {
   public:
    // Adds the field of a map entry to `table` if the text is new.
    uint64_t IdOf(std::string_view text, uint32_t field, std::string* table);

   private:
    std::unordered_map<std::string, uint64_t> ids_;
  };

  void AddStat(std::string_view stat);
  std::string StatOf(std::string_view key);
  uint64_t StatId(std::string_view text) { return stats_.IdOf(text, 5, &tables_); }

  Names names_, stats_;
  std::string head_, lines_, tables_, plane_stats_;  // fields of the plane
  std::string line_, event_;                         // fields of the open ones
  bool has_event_ = false;
  uint64_t events_ = 0;
};

// Returns the field of an XSpace that names its host.
std::string XSpaceHostName(std::string_view host);

}  // namespace gpuprof::analysis
