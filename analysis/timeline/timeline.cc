// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See timeline.h.

#include "analysis/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "analysis/derived/call_kind.h"
#include "analysis/timeline/parts.h"
#include "analysis/timeline/row_fields.h"

namespace gpuprof::analysis::timeline {
namespace {

// A window of more rectangles and bars has too many to draw, and to send.
constexpr size_t kMostRectangles = size_t{1} << 20;
constexpr double kLeastNsPerPx = 1e-6;
constexpr double kMostNsPerPx = 1e17;
constexpr size_t kMostNames = 10'000;

Error CheckTimes(double start_ns, double end_ns) {
  if (std::isfinite(start_ns) && std::isfinite(end_ns)) return {};
  return UsageError("A time of the question is not a number. Give nanoseconds.");
}

Error CheckZoom(double* ns_per_px) {
  if (!std::isfinite(*ns_per_px) || *ns_per_px <= 0)
    return UsageError("ns_per_px must be a positive number.");
  *ns_per_px = std::min(std::max(*ns_per_px, kLeastNsPerPx), kMostNsPerPx);
  return {};
}

Error NoSuchTrack(uint32_t track, const char* what) {
  return UsageError("Track " + std::to_string(track) + " is not there, or has no " + what +
                    ". The question `info` lists the tracks.");
}

// Returns letters of ASCII as small ones.
std::string Folded(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

std::string_view CallKindOfName(const NameTable& names, uint32_t name, TrackKind kind) {
  return kind == TrackKind::kApi ? CallKindWord(CallKindOf(names.text(name))) : "";
}

}  // namespace

std::string_view TrackKindWord(TrackKind kind) {
  static constexpr std::string_view kWords[kTrackKinds] = {
      "stream", "graph_lane", "sync",   "queue", "memory", "counter",  "steps",
      "api",    "op",         "python", "range", "wait",   "overhead", "file_read"};
  const auto number = static_cast<size_t>(kind);
  return number < kTrackKinds ? kWords[number] : "";
}

Timeline::Timeline(std::shared_ptr<const Trace> trace, const TimelineOptions& options)
    : parts_(std::make_unique<Parts>(std::move(trace), options)) {}
Timeline::~Timeline() = default;

const TraceInfo& Timeline::info() const { return parts_->info; }
size_t Timeline::bytes() const { return parts_->Bytes(); }

Error Timeline::Spans(const std::vector<uint32_t>& tracks, double start_ns, double end_ns,
                      double ns_per_px, SpansAnswer* answer) {
  if (Error error = CheckTimes(start_ns, end_ns)) return error;
  if (Error error = CheckZoom(&ns_per_px)) return error;
  std::unordered_set<uint32_t> once;
  for (const uint32_t track : tracks) {
    if (track >= parts_->tracks.size() || parts_->tracks[track].spans == nullptr)
      return NoSuchTrack(track, "spans");
    if (!once.insert(track).second)
      return UsageError("Track " + std::to_string(track) + " is asked for twice. Name it once.");
  }
  const Zoom zoom = ZoomOf(ns_per_px);
  SpansAnswer made;
  std::unordered_map<uint32_t, uint32_t> places;
  size_t left = kMostRectangles;
  for (const uint32_t track : tracks) {
    SpanTrack& spans = *parts_->SpansOf(track);
    Folder folder(zoom, start_ns, end_ns, parts_->names);
    if (!spans.Draw(zoom, start_ns, end_ns, left, &folder)) {
      parts_->EndQuestion();
      return UsageError(
          "The window has too many events at this zoom. Ask for a shorter window, fewer tracks or "
          "more ns_per_px.");
    }
    left -= folder.size();
    made.tracks.push_back({track, folder.Finish(), spans.OneIn()});
    for (uint32_t& name : made.tracks.back().rectangles.name) {
      if (name == kFolded) continue;
      const auto [at, is_new] = places.try_emplace(name, static_cast<uint32_t>(made.names.size()));
      if (is_new) made.names.push_back(parts_->names.text(name));
      name = at->second;
    }
  }
  parts_->EndQuestion();
  *answer = std::move(made);
  return {};
}

Error Timeline::Counter(uint32_t track, double start_ns, double end_ns, double ns_per_px,
                        CounterAnswer* answer) {
  if (Error error = CheckTimes(start_ns, end_ns)) return error;
  if (Error error = CheckZoom(&ns_per_px)) return error;
  if (track >= parts_->tracks.size() || !parts_->tracks[track].make_curve)
    return NoSuchTrack(track, "curve");
  TrackEntry& entry = parts_->tracks[track];
  entry.last_question = parts_->question;
  if (entry.curve == nullptr) entry.curve = std::make_unique<Curve>(entry.make_curve());
  CurvePart part = PartOf(*entry.curve, start_ns, end_ns, ns_per_px);
  *answer = {track, std::move(part.time_ns), std::move(part.least), std::move(part.most),
             entry.unit};
  parts_->EndQuestion();
  return {};
}

Error Timeline::Event(uint32_t track, uint32_t row, EventDetail* answer) {
  SpanTrack* spans = parts_->SpansOf(track);
  if (spans == nullptr) return NoSuchTrack(track, "spans");
  const std::optional<Span> span = spans->Row(row);
  if (!span)
    return UsageError("Track " + std::to_string(track) + " has no event in row " +
                      std::to_string(row) + ".");
  const TrackInfo& info = parts_->info.tracks[track];
  const NameTable& names = parts_->names;
  EventDetail made;
  made.event = parts_->RefOf(track, *span);
  made.cls = names.cls(span->name);
  made.call_kind = CallKindOfName(names, span->name, info.kind);
  if (const std::string& full = names.full(span->name); !full.empty())
    made.fields.push_back({"full name", full});
  if (span->weight > 1)
    made.fields.push_back({"stands for", std::to_string(span->weight) + " events"});
  if (info.kind != TrackKind::kSteps) {
    for (const RowTable& table : spans->tables()) {
      if (row - table.first_row >= table.rows) continue;
      const Process& process = *parts_->processes[info.process];
      const Track& of = process.tracks[table.track];
      if (info.kind == TrackKind::kGraphLane)
        made.fields.push_back({"stream", parts_->list->StreamName(info.process, of)});
      for (EventField& field : FieldsOf(process, of, table.kind, row - table.first_row))
        made.fields.push_back(std::move(field));
      RowDetails& details = parts_->derived[info.process].details();
      for (EventField& field :
           DetailFieldsOf(process, of, table.kind, row - table.first_row, &details))
        made.fields.push_back(std::move(field));
    }
  }
  made.causes = CausesOf(parts_.get(), track, *span);
  made.effects = EffectsOf(parts_.get(), track, *span);
  parts_->EndQuestion();
  *answer = std::move(made);
  return {};
}

Error Timeline::Search(std::string_view text, uint32_t limit, SearchAnswer* answer) {
  SearchAnswer made;
  const std::string wanted = Folded(text);
  if (wanted.empty()) {
    *answer = std::move(made);
    return {};
  }
  NameSums sums;
  for (uint32_t track = 0; track < parts_->tracks.size(); ++track) {
    if (parts_->info.tracks[track].kind == TrackKind::kGraphLane) continue;
    if (SpanTrack* spans = parts_->SpansOf(track); spans != nullptr) spans->SumAll(&sums);
  }
  std::unordered_set<uint32_t> named;
  for (const auto& [name, sum] : sums.by_name()) {
    if (Folded(parts_->names.text(name)).find(wanted) == std::string::npos &&
        Folded(parts_->names.full(name)).find(wanted) == std::string::npos)
      continue;
    named.insert(name);
    made.count += sum.count;
    made.total_ns += sum.total;
    made.names.push_back({parts_->names.text(name), sum.count, sum.total});
  }
  std::sort(made.names.begin(), made.names.end(),
            [](const SearchAnswer::Name& x, const SearchAnswer::Name& y) {
              if (x.total_ns != y.total_ns) return x.total_ns > y.total_ns;
              return x.count != y.count ? x.count > y.count : x.name < y.name;
            });
  if (made.names.size() > kMostNames) made.names.resize(kMostNames);
  for (uint32_t track = 0; track < parts_->tracks.size() && !named.empty(); ++track) {
    SpanTrack* spans = parts_->SpansOf(track);
    if (spans == nullptr || parts_->info.tracks[track].is_packed) continue;
    for (const Span& span : spans->Find(named, limit))
      made.hits.push_back(parts_->RefOf(track, span));
    // Only the first of all tracks are told.
    std::stable_sort(made.hits.begin(), made.hits.end(),
                     [](const EventRef& x, const EventRef& y) { return x.start_ns < y.start_ns; });
    if (made.hits.size() > limit) made.hits.resize(limit);
  }
  parts_->EndQuestion();
  *answer = std::move(made);
  return {};
}

Error Timeline::At(uint32_t track, double time_ns, std::optional<EventRef>* answer) {
  if (Error error = CheckTimes(time_ns, time_ns)) return error;
  SpanTrack* spans = parts_->SpansOf(track);
  if (spans == nullptr) return NoSuchTrack(track, "spans");
  const std::optional<Span> span = spans->At(time_ns);
  *answer = span ? std::optional(parts_->RefOf(track, *span)) : std::nullopt;
  parts_->EndQuestion();
  return {};
}

Error Timeline::Range(TrackKind kind, const Selection& selection, RangeAnswer* answer) {
  if (Error error = CheckTimes(selection.start_ns, selection.end_ns)) return error;
  RangeAnswer made;
  made.kind = kind;
  NameSums sums;
  for (const TrackInfo& info : parts_->info.tracks) {
    if (info.kind != kind || !parts_->IsSelected(info, selection)) continue;
    SpanTrack* spans = parts_->SpansOf(info.id);
    if (spans == nullptr) continue;
    const double busy = spans->SumRange(selection.start_ns, selection.end_ns, &sums);
    made.one_in = std::max(made.one_in, spans->OneIn());
    made.left_out += spans->LeftOut(selection.start_ns, selection.end_ns);
    made.busy.push_back({info.id, busy});
  }
  const NameTable& names = parts_->names;
  for (const auto& [name, sum] : sums.by_name()) {
    RangeRow row;
    row.name = names.text(name);
    row.full_name = names.full(name);
    row.cls = names.cls(name);
    row.call_kind = CallKindOfName(names, name, kind);
    row.count = sum.count;
    row.total_ns = sum.total;
    row.mean_ns = (sum.total + sum.cut) / std::max(sum.count, 1.0);
    row.min_ns = sum.min;
    row.max_ns = sum.max;
    made.rows.push_back(std::move(row));
  }
  std::sort(made.rows.begin(), made.rows.end(), [](const RangeRow& x, const RangeRow& y) {
    if (x.total_ns != y.total_ns) return x.total_ns > y.total_ns;
    return x.name != y.name ? x.name < y.name : x.full_name < y.full_name;
  });
  parts_->EndQuestion();
  *answer = std::move(made);
  return {};
}

}  // namespace gpuprof::analysis::timeline
