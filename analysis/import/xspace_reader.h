// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads an XSpace, plane by plane and line by line. Names come behind the events that use them:
// each plane is walked twice. Memory is needed for the names of one plane and for one window of the
// file.
//
// One thread. Every view is valid until the call that hands it over returns.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xplane_tables.h"

namespace gpuprof::analysis::import {

struct XLine {
  int64_t id = 0;
  std::string name, display_name;
  int64_t timestamp_ns = 0;
  uint64_t events = 0;
  uint64_t bytes = 0;
};

struct XEvent {
  int64_t metadata_id = 0;
  int64_t offset_ps = 0;  // since the line's timestamp
  int64_t duration_ps = 0;
  uint64_t occurrences = 0;             // not 0: the event stands for so many, without a time
  std::vector<std::string_view> stats;  // messages, for ReadXStat()
};

class XSpaceHandler {
 public:
  virtual ~XSpaceHandler() = default;
  // Begins a plane, whose tables it may keep by moving them. Returns whether its events are wanted.
  virtual bool OnPlane(XPlaneTables& plane) = 0;
  // Begins a line of the plane. Returns whether its events are wanted.
  virtual bool OnLine(const XLine& line) = 0;
  virtual void OnEvent(const XEvent& event) = 0;
};

// What the reader found apart from events.
struct XSpaceFacts {
  std::vector<std::string> errors, warnings;  // what the file itself says, up to a limit
  uint64_t said_count = 0;                    // errors and warnings, with those beyond the limit
  std::string host;                           // the first host name
  uint64_t planes = 0;
  uint64_t events = 0;  // handed over
  uint64_t unreadable_events = 0;
  uint64_t broken_parts = 0;  // planes, lines and tables that are not read to their end
  uint64_t first_fault_at = 0;
  bool is_truncated = false;  // the file ends within a part
  uint64_t truncated_at = 0;
  uint64_t lost_in_end = 0;       // events that were cut, as far as they are known
  uint64_t entries_left_out = 0;  // of tables of names that are too long
  uint64_t modules_left_out = 0;  // compiled modules that are too large
};

// Reads the whole file. Planes of the host come first, then those of devices, then the others. An
// Error if the bytes cannot be read, or are of another format: `name` is for it. `window`: how much
// of the file is read at once.
Error ReadXSpace(const RandomBytes& file, const std::string& name, XSpaceHandler* handler,
                 XSpaceFacts* facts, size_t window = ByteWindow::kBytes);

// Returns whether the bytes begin as a file of Riegeli, which newer profilers can write.
bool IsRiegeli(const RandomBytes& file);
// Returns whether the file is an XSpace, by its parts: all are fields that an XSpace has, and the
// first plane has a name. A file that was cut does not
// count.
bool LooksLikeXSpace(const RandomBytes& file);

}  // namespace gpuprof::analysis::import
