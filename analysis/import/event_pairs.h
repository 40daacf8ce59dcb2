// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Joins begin and end events: B and E of one thread, b and e of one id. Events may come in any
// order of time; at equal times the order of the file decides. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/kineto_fields.h"
#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

struct PairedSpan {
  Entity process, thread;  // of the begin
  SpanNs span;
  std::string name, category;
  bool is_async = false;
  bool has_end = true;
};

class EventPairs {
 public:
  // Adds an event. B and E have an empty `id`.
  void Add(char phase, const Entity& process, const Entity& thread, int64_t time,
           std::string_view name, std::string_view category, std::string_view id);

  // Returns all spans. A begin without an end lasts until `last_ns`. `lone_ends` counts ends
  // without a begin. Forgets the events.
  std::vector<PairedSpan> Take(int64_t last_ns, uint64_t* lone_ends);
  // Returns the latest time of an event; INT64_MIN: no event.
  int64_t last() const { return last_; }

 private:
  struct Event {
    int64_t time;
    char phase;
    std::string name, category;
    Entity process, thread;
  };
  struct Key {
    Entity process, thread;  // async: thread is empty
    std::string id, category;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<Event>> events_;
  int64_t last_ = INT64_MIN;
};

}  // namespace gpuprof::analysis::import
