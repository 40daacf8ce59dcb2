// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Joins recordings of one process: see Follow in builder.h.

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/model/builder.h"

namespace gpuprof::analysis {
namespace {

// The ids of a builder, as another one numbers them.
class Numbers {
 public:
  Numbers(const Process& from, ProcessBuilder* to) : from_(from), to_(to) {}

  uint32_t Text(uint32_t id) {
    const auto text = from_.strings.find(id);
    return text == from_.strings.end() ? id : to_->Intern(text->second);
  }
  uint32_t Signature(uint32_t id) {
    const auto known = signatures_.find(id);
    if (known != signatures_.end()) return known->second;
    const auto found = from_.signatures.find(id);
    if (found == from_.signatures.end()) return id;
    proto::Signature signature = found->second;
    signature.set_name(Text(signature.name()));
    return signatures_[id] = to_->Signature(signature);
  }
  uint32_t Function(uint32_t code) {
    const auto name = from_.functions.find(code);
    if (name == from_.functions.end()) return code;
    return to_->Function(proto::ApiDomainOf(code), from_.String(name->second));
  }
  uint32_t Counter(uint32_t id) {
    const auto known = counters_.find(id);
    if (known != counters_.end()) return known->second;
    const auto found = from_.counters.find(id);
    return counters_[id] = found == from_.counters.end() ? id : to_->AddCounter(found->second);
  }

 private:
  const Process& from_;
  ProcessBuilder* to_;
  std::unordered_map<uint32_t, uint32_t> signatures_, counters_;
};

template <typename Row>
void Take(std::vector<Row>* from, std::vector<Row>* to, auto change) {
  to->reserve(to->size() + from->size());
  for (Row& row : *from) {
    change(row);
    to->push_back(row);
  }
  from->clear();
}

// Adds numbers of a file, which may be any: the sum wraps instead of overflowing.
int64_t Wrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

void Shift(int64_t ns, SpanNs* span) {
  span->start += ns;
  span->end += ns;
}

}  // namespace

// Returns the timeline that is the same thread, stream or device as another builder's.
uint32_t ProcessBuilder::TimelineLike(const Track& track) {
  if (track.is_stream && track.stream != kNoCudaId)
    return Stream(track.device, track.context, track.stream);
  if (!track.is_stream && track.tid != 0) return Thread(track.tid);
  for (uint32_t i = 0; i < timelines(); ++i) {
    const Track& own = process_.tracks[i];
    if (own.name == track.name && own.is_stream == track.is_stream && own.device == track.device &&
        own.tid == track.tid && own.stream == track.stream)
      return i;
  }
  const uint32_t timeline = AddTimeline();
  Track& made = process_.tracks[timeline];
  made.name = track.name;
  made.is_stream = track.is_stream;
  made.device = track.device;
  made.context = track.context;
  made.stream = track.stream;
  return timeline;
}

// Finds the numbers that the rows so far use.
void ProcessBuilder::CountNumbers() {
  for (const TimelineRows& rows : rows_) {
    for (const PythonRow& row : rows.python)
      free_python_ = std::max(free_python_, Wrapped(row.id, 1));
    const auto external = [&](const auto& some) {
      for (const auto& row : some) free_external_ = std::max(free_external_, row.external + 1);
    };
    external(rows.ops);
    external(rows.calls);
    external(rows.kernels);
    external(rows.copies);
    external(rows.sets);
  }
}

void ProcessBuilder::Follow(ProcessBuilder* later, int64_t shift_ns) {
  SpanNs own, others;
  if (recordings_.empty() && Bounds(&own)) {
    recordings_.push_back(own);
    CountNumbers();
  }
  if (!later->Bounds(&others)) return;
  Shift(shift_ns, &others);
  recordings_.push_back(others);
  const auto capture = static_cast<uint16_t>(recordings_.size());
  // Numbers of Python calls and of operations may begin anew in each recording.
  later->CountNumbers();
  const int64_t python = free_python_;
  const uint64_t external = free_external_;
  free_python_ = Wrapped(free_python_, later->free_python_);
  free_external_ += later->free_external_;
  Numbers numbers(later->process_, this);
  const auto joined = [&](uint64_t* id) { *id += *id == 0 ? 0 : external; };
  const auto work = [&](WorkRow& row) {
    Shift(shift_ns, &row.span);
    row.signature = numbers.Signature(row.signature);
    row.detail = numbers.Text(row.detail);
    row.capture = capture;
    joined(&row.external);
  };
  for (uint32_t i = 0; i < later->rows_.size(); ++i) {
    const Track& track = later->process_.tracks[i];
    const uint32_t timeline = TimelineLike(track);
    if (process_.tracks[timeline].name.empty()) process_.tracks[timeline].name = track.name;
    TimelineRows& from = later->rows_[i];
    TimelineRows& to = Rows(timeline);
    Take(&from.ops, &to.ops, [&](OpRow& row) {
      Shift(shift_ns, &row.span);
      row.name = numbers.Text(row.name);
      row.detail = numbers.Text(row.detail);
      joined(&row.external);
    });
    Take(&from.python, &to.python, [&](PythonRow& row) {
      Shift(shift_ns, &row.span);
      row.name = numbers.Text(row.name);
      if (row.id >= 0) row.id = Wrapped(row.id, python);
      if (row.parent >= 0) row.parent = Wrapped(row.parent, python);
    });
    Take(&from.ranges, &to.ranges, [&](RangeRow& row) {
      Shift(shift_ns, &row.span);
      row.name = numbers.Text(row.name);
      row.domain = numbers.Text(row.domain);
    });
    Take(&from.calls, &to.calls, [&](CallRow& row) {
      Shift(shift_ns, &row.span);
      row.function = numbers.Function(row.function);
      joined(&row.external);
    });
    for (auto table : {&TimelineRows::kernels, &TimelineRows::copies, &TimelineRows::sets,
                       &TimelineRows::graphs})
      Take(&(from.*table), &(to.*table), work);
    Take(&from.syncs, &to.syncs, [&](SyncRow& row) { Shift(shift_ns, &row.span); });
    Take(&from.tensors, &to.tensors, [&](TensorRow& row) {
      row.time += shift_ns;
      row.capture = capture;
    });
    Take(&from.overheads, &to.overheads, [&](OverheadRow& row) { Shift(shift_ns, &row.span); });
    Take(&from.events, &to.events, [&](EventRow& row) { row.time += shift_ns; });
    Take(&from.counters, &to.counters, [&](CounterRow& row) {
      row.time += shift_ns;
      row.counter = numbers.Counter(row.counter);
    });
  }
  for (const proto::Note& note : later->process_.health.note()) *process_.health.add_note() = note;
  held_bytes_ += later->held_bytes_;
  *later = ProcessBuilder();
}

void ProcessBuilder::AddCaptures(int64_t origin) {
  if (!process_.captures.empty()) return;
  if (recordings_.empty())
    recordings_.push_back({process_.first_ns + origin, process_.last_ns + origin});
  for (const SpanNs& recording : recordings_) {
    CaptureWindow window;
    window.number = static_cast<uint32_t>(process_.captures.size()) + 1;
    window.start_ns = recording.start - origin;
    window.end_ns = recording.end - origin;
    window.has_stop = true;
    process_.captures.push_back(window);
  }
}

}  // namespace gpuprof::analysis
