// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The parts of a timeline. Internal to analysis/timeline; one thread.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/timeline/names.h"
#include "analysis/timeline/span_track.h"
#include "analysis/timeline/timeline.h"
#include "analysis/timeline/track_list.h"

namespace gpuprof::analysis::timeline {

// A track with what questions made.
struct TrackEntry {
  const TrackInfo* info = nullptr;
  uint32_t number = 0;  // of the thread or stream in its file
  std::unique_ptr<SpanTrack> spans;
  std::function<Curve()> make_curve;
  std::unique_ptr<Curve> curve;
  std::string unit;
  uint64_t last_question = 0;

  size_t bytes() const {
    return (spans == nullptr ? 0 : spans->bytes()) + (curve == nullptr ? 0 : curve->bytes());
  }
};

// A row of a table of the trace, in a track of the timeline.
struct RowPlace {
  uint32_t track = 0;  // of the timeline
  uint32_t row = 0;
};

struct Timeline::Parts {
  Parts(std::shared_ptr<const Trace> its_trace, const TimelineOptions& its_options);

  // Returns a track with spans, or null. Notes that the question needs it.
  SpanTrack* SpansOf(uint32_t track);
  // Gives memory above the limit back. What this question needed stays. Ends the question.
  void EndQuestion();
  // Lets rows of lazy tables above the limit go. Tracks alone may keep a reader.
  void LetRowsGo();
  size_t Bytes() const;
  bool IsSelected(const TrackInfo& track, const Selection& selection) const;
  EventRef RefOf(uint32_t track, const Span& span) const;
  // Finds the track and row of a row of a table. `process_track`: index in Process::tracks.
  std::optional<RowPlace> PlaceOf(uint32_t process, uint32_t process_track, proto::ChunkKind kind,
                                  uint32_t row) const;

  std::shared_ptr<const Trace> trace;
  TimelineOptions options;
  std::vector<const Process*> processes;  // those of the program, then samplers
  NameTable names;
  KernelNames kernels;
  std::vector<Derived> derived;  // by process
  std::unique_ptr<TrackList> list;
  TraceInfo info;
  std::vector<TrackEntry> tracks;
  uint64_t question = 1;

 private:
  void FindBounds();
  void MakeTracks();

  // By process, index in Process::tracks, and kind. Rows of packed streams lie in the track of
  // lanes.
  std::map<std::tuple<uint32_t, uint32_t, proto::ChunkKind>, RowPlace> places_;
};

// Finds what caused an event, nearest first: the call, its operation, range and Python function.
std::vector<EventRef> CausesOf(Timeline::Parts* parts, uint32_t track, const Span& span);
// Finds what an event caused, by start: the work that it launched.
std::vector<EventRef> EffectsOf(Timeline::Parts* parts, uint32_t track, const Span& span);

}  // namespace gpuprof::analysis::timeline
