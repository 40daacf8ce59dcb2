// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_pairs.h.

#include "analysis/import/event_pairs.h"

#include <algorithm>

namespace gpuprof::analysis::import {
namespace {

bool IsBegin(char phase) { return phase == 'B' || phase == 'b'; }

}  // namespace

void EventPairs::Add(char phase, const Entity& process, const Entity& thread, int64_t time,
                     std::string_view name, std::string_view category, std::string_view id) {
  Key key{process, thread, std::string(id), ""};
  if (!id.empty()) {
    key.thread = {};
    key.category = category;
  }
  last_ = std::max(last_, time);
  events_[key].push_back({time, phase, std::string(name), std::string(category), process, thread});
}

std::vector<PairedSpan> EventPairs::Take(int64_t last_ns, uint64_t* lone_ends) {
  std::vector<PairedSpan> out;
  for (auto& [key, events] : events_) {
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& x, const Event& y) { return x.time < y.time; });
    std::vector<PairedSpan> open;
    for (Event& event : events) {
      if (IsBegin(event.phase)) {
        open.push_back({event.process,
                        event.thread,
                        {event.time, event.time},
                        std::move(event.name),
                        std::move(event.category),
                        !key.id.empty(),
                        true});
      } else if (open.empty()) {
        ++*lone_ends;
      } else {
        open.back().span.end = event.time;
        out.push_back(std::move(open.back()));
        open.pop_back();
      }
    }
    for (PairedSpan& span : open) {
      span.has_end = false;
      span.span.end = std::max(last_ns, span.span.start);
      out.push_back(std::move(span));
    }
  }
  events_.clear();
  return out;
}

}  // namespace gpuprof::analysis::import
