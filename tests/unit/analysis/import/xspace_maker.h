// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes XSpaces for tests, with protobuf's own classes.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/foreign/xspace.pb.h"

namespace gpuprof::analysis::import {

namespace xspace = foreign::xspace;

// Adds to a plane. Names get numbers as they come.
class PlaneMaker {
 public:
  PlaneMaker(xspace::XSpace* space, const std::string& name) : plane_(space->add_planes()) {
    plane_->set_name(name);
  }

  xspace::XPlane* plane() { return plane_; }
  int64_t StatId(const std::string& name) {
    const auto [at, is_new] = stats_.try_emplace(name, static_cast<int64_t>(stats_.size()) + 1);
    if (is_new) {
      (*plane_->mutable_stat_metadata())[at->second].set_id(at->second);
      (*plane_->mutable_stat_metadata())[at->second].set_name(name);
    }
    return at->second;
  }
  int64_t EventId(const std::string& name) {
    const auto [at, is_new] = events_.try_emplace(name, static_cast<int64_t>(events_.size()) + 1);
    if (is_new) {
      (*plane_->mutable_event_metadata())[at->second].set_id(at->second);
      (*plane_->mutable_event_metadata())[at->second].set_name(name);
    }
    return at->second;
  }
  xspace::XEventMetadata* Metadata(const std::string& name) {
    return &(*plane_->mutable_event_metadata())[EventId(name)];
  }
  xspace::XLine* Line(int64_t id, const std::string& name, int64_t timestamp_ns = 0) {
    xspace::XLine* line = plane_->add_lines();
    line->set_id(id);
    line->set_name(name);
    line->set_timestamp_ns(timestamp_ns);
    return line;
  }
  xspace::XEvent* Event(xspace::XLine* line, const std::string& name, int64_t offset_ps,
                        int64_t duration_ps) {
    xspace::XEvent* event = line->add_events();
    event->set_metadata_id(EventId(name));
    event->set_offset_ps(offset_ps);
    event->set_duration_ps(duration_ps);
    return event;
  }
  // `where`: an event, a plane or the metadata of an event.
  template <typename Where>
  void Stat(Where* where, const std::string& name, int64_t value) {
    xspace::XStat* stat = where->add_stats();
    stat->set_metadata_id(StatId(name));
    stat->set_int64_value(value);
  }
  template <typename Where>
  void Stat(Where* where, const std::string& name, const std::string& value) {
    xspace::XStat* stat = where->add_stats();
    stat->set_metadata_id(StatId(name));
    stat->set_str_value(value);
  }

 private:
  xspace::XPlane* plane_;
  std::map<std::string, int64_t> stats_, events_;
};

}  // namespace gpuprof::analysis::import
