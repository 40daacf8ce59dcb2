// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The questions of the timeline: which rows there are, what is to be drawn of a window, what an
// event is, what caused it. Others sum what ran in a range. Causes, steps, classes and names are
// those of passes (analysis/derived, analysis/steps, analysis/symbols).
//
// All times are nanoseconds of the bundle's time, as in the JSON of passes: 0 is the bundle's first
// moment. A window or range is [start, end). Its edges may be fractions.
//
// What a question needs is made when it is first asked, and kept under a limit. One thread at a
// time. A question that cannot be answered is an Error; the answer is untouched then.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/trace.h"
#include "analysis/steps/step_marks.h"
#include "analysis/timeline/fold.h"
#include "analysis/timeline/span_class.h"
#include "analysis/timeline/span_track.h"

namespace gpuprof::analysis::timeline {

// What a row of the timeline is. The order is that of the page.
enum class TrackKind : uint8_t {
  kStream,
  kGraphLane,
  kSync,
  kQueue,
  kMemory,
  kCounter,
  kSteps,
  kApi,
  kOp,
  kPython,
  kRange,
  kWait,
  kOverhead,
  kFileRead,
};
inline constexpr size_t kTrackKinds = 14;
// Returns the word of a kind: "graph_lane".
std::string_view TrackKindWord(TrackKind kind);

struct TrackInfo {
  uint32_t id = 0;  // index in TraceInfo::tracks
  TrackKind kind = TrackKind::kStream;
  uint32_t process = 0;  // index in TraceInfo::processes
  std::string name;      // "stream 7", "thread 1234 (pt_main_thread)"
  std::optional<uint32_t>
      device;                  // the process's number of the device; none: the track is of a thread
  std::optional<int32_t> tid;  // none: the track is of a device
  uint64_t rows = 0;
  bool is_packed = false;  // its events are drawn in a track of lanes, with those of other streams
  uint32_t depth = 1;      // lanes; of a trace with many rows an estimate that is not too great
};

struct ProcessInfo {
  int32_t pid = 0;
  std::string host;
  std::string name;
};

struct TraceInfo {
  double start_ns = 0;
  double end_ns = 0;
  std::vector<ProcessInfo> processes;
  std::string device_word;  // what devices are called: "TPU"; empty: "GPU"
  std::vector<TrackInfo> tracks;
  uint64_t rows = 0;                // of all tables
  std::vector<std::string> faults;  // files or blocks that could not be read
  bool is_rough = false;            // no row was read yet: see TimelineOptions
};

struct TrackSpans {
  uint32_t track = 0;
  Rectangles rectangles;  // names are indices in SpansAnswer::names
  uint32_t one_in = 1;    // a recorded event of the track stands for up to so many
};
struct SpansAnswer {
  std::vector<TrackSpans> tracks;
  std::vector<std::string> names;
};

// Values of a counter: each holds until the next.
struct CounterAnswer {
  uint32_t track = 0;
  std::vector<double> time_ns, least, most;
  std::string unit;
};

// The tracks that a question is about. Absent: all.
struct Selection {
  double start_ns = 0;
  double end_ns = 0;
  std::optional<std::vector<uint32_t>> processes;
  std::optional<std::vector<uint32_t>> devices;  // for tracks of devices; those of threads stay
  std::optional<std::vector<uint32_t>> tracks;
};

// What ran in a range under one name, cut at its edges.
struct RangeRow {
  std::string name;
  std::string full_name;  // empty: as the name
  SpanClass cls = SpanClass::kOther;
  std::string_view call_kind;  // of calls of CUDA: "launch"; empty: another event
  double count = 0;            // rows that overlap the range
  double total_ns = 0;
  double mean_ns = 0, min_ns = 0, max_ns = 0;  // of the whole rows, not cut
};
struct TrackBusy {
  uint32_t track = 0;
  double busy_ns = 0;
};
struct RangeAnswer {
  TrackKind kind = TrackKind::kStream;
  uint32_t one_in = 1;         // above 1, counts and times are estimates
  std::vector<RangeRow> rows;  // the most time first
  std::vector<TrackBusy> busy;
  uint64_t left_out = 0;  // events that are not there, and may have run in the range
};

// A time in which a device had no work, cut at the edges of the range.
struct Gap {
  double start_ns = 0;
  double end_ns = 0;
  std::string next;  // the work that ends it; empty: it began behind the range
};
// The gaps of one device as one process used it.
struct DeviceGaps {
  uint32_t process = 0;
  uint32_t device = 0;
  double window_ns = 0;  // the part of the range from the device's first work to its last
  double idle_ns = 0;
  uint64_t gap_count = 0;
  uint64_t left_out = 0;  // work that is not there, and may have run in the range
  std::vector<Gap> gaps;  // the longest, by length
};

// Calls of Python functions by what called them. Node 0 is the root.
struct CallTree {
  std::vector<std::string> names;
  std::vector<uint32_t> caller;  // its number is smaller
  std::vector<double> self_ns;
  uint64_t left_out = 0;  // calls that are not there, and may have run in the range
};

struct EventRef {
  uint32_t track = 0;
  uint32_t row = 0;
  std::string name;
  double start_ns = 0;
  double end_ns = 0;
};
struct EventField {
  std::string name, value;  // for people
};
struct EventDetail {
  EventRef event;
  SpanClass cls = SpanClass::kOther;
  std::string_view call_kind;      // of calls of CUDA; empty: another event
  std::vector<EventField> fields;  // in the order to show
  std::vector<EventRef> causes;    // nearest first
  std::vector<EventRef> effects;   // by start; at most 40
};

struct SearchAnswer {
  struct Name {
    std::string name;
    double count = 0;
    double total_ns = 0;
  };
  double count = 0;
  double total_ns = 0;
  std::vector<EventRef> hits;  // the first by time
  std::vector<Name> names;     // the most time first; at most 10,000
};

struct TimelineOptions {
  Grain grain;
  // Orders, lanes and pyramids of tracks above this limit are given back after a question, those
  // that were asked for longest ago first. The tracks of the question itself stay.
  size_t memory_limit_bytes = size_t{512} << 20;
  // Rows of lazy tables above this limit go, those that were read longest ago first.
  uint64_t row_limit_bytes = uint64_t{128} << 20;
  // A device shows lanes if it has more streams than this with nothing but nodes of graphs.
  size_t graph_streams = 8;
  // The steps of the whole recording, if rows are left out. Null: they are found.
  std::shared_ptr<const std::vector<StepMark>> steps;
  std::string step_fault;  // why steps are missing, as a sentence; empty: all are there
  // The trace has no rows yet: blocks are drawn in their place.
  bool is_rough = false;
};

class Timeline {
 public:
  // Keeps the trace, which was opened with all tables and without sums.
  explicit Timeline(std::shared_ptr<const Trace> trace, const TimelineOptions& options = {});
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  const TraceInfo& info() const;

  // Finds the rectangles of tracks in a window. Events shorter than 4 pixels are gathered into
  // cells. A cell is a power of two in nanoseconds wide, 64 to 128 pixels, and aligned to time 0.
  // Sums are exact. Each track may be named once.
  Error Spans(const std::vector<uint32_t>& tracks, double start_ns, double end_ns, double ns_per_px,
              SpansAnswer* answer);
  // Finds the values of a curve in a window, at most about one for each pixel. The one before is
  // there.
  Error Counter(uint32_t track, double start_ns, double end_ns, double ns_per_px,
                CounterAnswer* answer);
  Error Event(uint32_t track, uint32_t row, EventDetail* answer);
  // Finds events by a part of their short or full names. Letters of ASCII match in either case.
  Error Search(std::string_view text, uint32_t limit, SearchAnswer* answer);
  // Finds the innermost event of a track at a moment. None: no event runs then.
  Error At(uint32_t track, double time_ns, std::optional<EventRef>* answer);

  Error Range(TrackKind kind, const Selection& selection, RangeAnswer* answer);
  Error Calls(const Selection& selection, CallTree* answer);
  Error Gaps(const Selection& selection, std::vector<DeviceGaps>* answer);

  // Returns the memory that the timeline keeps, about. The trace does not count.
  size_t bytes() const;

  struct Parts;  // analysis/timeline/parts.h

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpuprof::analysis::timeline
