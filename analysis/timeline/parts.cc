// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See parts.h.

#include "analysis/timeline/parts.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "analysis/model/process_name.h"
#include "analysis/model/row_store.h"

namespace gpuprof::analysis::timeline {
namespace {

// Up to so many rows the depth of all tracks is found at once.
constexpr uint64_t kEagerRows = 3'000'000;
// What is derived of a trace with more rows is not kept once its tracks are made.
constexpr uint64_t kMostRowsKept = 20'000'000;

// Returns whether a text has the word "TPU".
bool NamesTpu(std::string_view text) {
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t at = text.find("TPU"); at != std::string_view::npos; at = text.find("TPU", at + 1)) {
    const bool is_begin = at == 0 || !is_letter(text[at - 1]);
    if (is_begin && (at + 3 == text.size() || !is_letter(text[at + 3]))) return true;
  }
  return false;
}

bool Contains(const std::optional<std::vector<uint32_t>>& list, uint32_t value) {
  return !list || std::find(list->begin(), list->end(), value) != list->end();
}

}  // namespace

Timeline::Parts::Parts(std::shared_ptr<const Trace> its_trace, const TimelineOptions& its_options)
    : trace(std::move(its_trace)), options(its_options), kernels(*trace) {
  for (const Process& process : trace->processes) processes.push_back(&process);
  for (const Process& process : trace->samplers) processes.push_back(&process);
  for (const Process* process : processes) {
    derived.emplace_back(*process);
    info.processes.push_back({process->pid, process->host,
                              process->is_sampler ? "hardware counters" : ProcessName(*process)});
    info.rows += process->rows;
    for (const proto::Device& device : process->devices) {
      if (NamesTpu(device.name())) info.device_word = "TPU";
    }
  }
  for (const InputFault& fault : trace->faults) {
    const std::string where = fault.offset == 0 ? "" : ", byte " + std::to_string(fault.offset);
    info.faults.push_back(fault.file + where + ": " + fault.what);
  }
  if (!options.step_fault.empty()) info.faults.push_back(options.step_fault);
  FindBounds();
  MakeTracks();
}

// The timeline shows the program. What a sampler saw before and after it counts only by itself.
void Timeline::Parts::FindBounds() {
  int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
  const std::vector<Process>& shown = trace->processes.empty() ? trace->samplers : trace->processes;
  for (const Process& process : shown) {
    for (const Track& track : process.tracks) {
      for (const TableExtent& extent : track.extents) {
        first = std::min(first, extent.first_ns);
        last = std::max(last, extent.last_ns);
      }
    }
  }
  if (first > last) return;
  info.start_ns = static_cast<double>(first);
  info.end_ns = static_cast<double>(last);
}

void Timeline::Parts::MakeTracks() {
  info.is_rough = options.is_rough;
  list = std::make_unique<TrackList>(*trace, processes, &names, &kernels, &derived, options);
  std::vector<TrackDraft> drafts = list->Make(&info.faults);
  const bool is_eager = info.rows <= kEagerRows;
  info.tracks.reserve(drafts.size());
  for (TrackDraft& draft : drafts) {
    const auto id = static_cast<uint32_t>(info.tracks.size());
    draft.info.id = id;
    const uint32_t process = draft.info.process;
    for (const RowTable& table : draft.tables) {
      if (!draft.info.is_packed && draft.info.kind != TrackKind::kSteps)
        places_[{process, table.track, table.kind}] = {id, table.first_row};
    }
    TrackEntry entry;
    entry.number = draft.number;
    entry.unit = std::move(draft.unit);
    entry.make_curve = std::move(draft.curve);
    if (!draft.tables.empty() || !draft.left_out.empty()) {
      std::function<void()> let_go;
      if (trace->row_store != nullptr) let_go = [this] { LetRowsGo(); };
      entry.spans = std::make_unique<SpanTrack>(std::move(draft.tables), std::move(draft.left_out),
                                                names, options.grain, std::move(let_go));
      draft.info.depth = is_eager ? entry.spans->Depth() : entry.spans->DepthOfFew();
    }
    tracks.push_back(std::move(entry));
    info.tracks.push_back(std::move(draft.info));
  }
  for (size_t i = 0; i < tracks.size(); ++i) tracks[i].info = &info.tracks[i];
  // What the steps were found by is as large as many rows. Few questions need it again.
  if (info.rows > kMostRowsKept) {
    for (size_t i = 0; i < processes.size(); ++i) derived[i] = Derived(*processes[i]);
  }
  EndQuestion();
}

SpanTrack* Timeline::Parts::SpansOf(uint32_t track) {
  if (track >= tracks.size() || tracks[track].spans == nullptr) return nullptr;
  tracks[track].last_question = question;
  return tracks[track].spans.get();
}

void Timeline::Parts::LetRowsGo() {
  RowStore* const rows = trace->row_store.get();
  if (rows == nullptr || rows->bytes() <= options.row_limit_bytes) return;
  for (const TrackEntry& track : tracks) {
    if (track.spans != nullptr) track.spans->ForgetRows();
  }
  rows->LetGo(options.row_limit_bytes);
}

size_t Timeline::Parts::Bytes() const {
  size_t bytes = 0;
  for (const TrackEntry& track : tracks) bytes += track.bytes();
  return bytes;
}

void Timeline::Parts::EndQuestion() {
  size_t bytes = Bytes();
  while (bytes > options.memory_limit_bytes) {
    TrackEntry* oldest = nullptr;
    for (TrackEntry& track : tracks) {
      if (track.bytes() == 0 || track.last_question == question) continue;
      if (oldest == nullptr || track.last_question < oldest->last_question) oldest = &track;
    }
    if (oldest == nullptr) break;
    bytes -= oldest->bytes();
    if (oldest->spans != nullptr) oldest->spans->Forget();
    oldest->curve.reset();
  }
  ++question;
  LetRowsGo();
}

bool Timeline::Parts::IsSelected(const TrackInfo& track, const Selection& selection) const {
  if (!Contains(selection.tracks, track.id) || !Contains(selection.processes, track.process))
    return false;
  return !track.device || Contains(selection.devices, *track.device);
}

EventRef Timeline::Parts::RefOf(uint32_t track, const Span& span) const {
  return {track, span.row, names.text(span.name), span.start, span.end};
}

std::optional<RowPlace> Timeline::Parts::PlaceOf(uint32_t process, uint32_t process_track,
                                                 proto::ChunkKind kind, uint32_t row) const {
  const auto found = places_.find({process, process_track, kind});
  if (found == places_.end()) return std::nullopt;
  return RowPlace{found->second.track, found->second.row + row};
}

}  // namespace gpuprof::analysis::timeline
