// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See window_rows.h.

#include "tracer/jax/window_rows.h"

#include <algorithm>
#include <cstring>

#include "proto/jax_names.h"
#include "proto/record.h"
#include "tracer/jax/sessions.h"
#include "tracer/jax/thread_of_line.h"

namespace gpuprof::tracer::jax {
namespace {

using proto::ChunkKind;
using Text = std::string_view;

constexpr uint64_t kPsPerNs = 1000;
// Marks that are sorted together. A line with more comes in parts, whose depths begin anew.
constexpr size_t kMostMarks = 256 << 10;
constexpr size_t kMostNames = 1 << 16;
constexpr size_t kMostLines = 4096;
constexpr uint32_t kMostDepth = 0xffff;
// Bytes of compiled programs of a process.
constexpr uint64_t kMostProgramBytes = 64u << 20;
constexpr size_t kProgramPart = 1 << 20;

Text PlaneName(Text plane) {
  Field field;
  for (Fields fields(plane); fields.Next(&field);)
    if (field.number == plane_field::kName) return field.bytes;
  return {};
}

// Calls take(plane) for each plane.
template <typename Take>
void ForEachPlane(Text space, const Take& take) {
  Field field;
  for (Fields fields(space); fields.Next(&field);)
    if (field.number == space_field::kPlane) take(field.bytes);
}

struct Entry {
  uint64_t key = 0;
  Text value;
};
Entry ReadEntry(Text message) {
  Entry entry;
  Field field;
  for (Fields fields(message); fields.Next(&field);) {
    if (field.number == entry_field::kKey) entry.key = field.value;
    if (field.number == entry_field::kValue) entry.value = field.bytes;
  }
  return entry;
}

Text NameOfMetadata(Text metadata) {
  Field field;
  for (Fields fields(metadata); fields.Next(&field);)
    if (field.number == metadata_field::kName) return field.bytes;
  return {};
}

struct Stat {
  uint64_t name = 0;
  uint32_t kind = 0;  // the field of its value
  uint64_t value = 0;
  Text text;
};
Stat ReadStat(Text message) {
  Stat stat;
  Field field;
  for (Fields fields(message); fields.Next(&field);) {
    if (field.number == stat_field::kMetadata) {
      stat.name = field.value;
    } else if (field.number <= stat_field::kReference) {
      stat.kind = field.number;
      stat.value = field.value;
      stat.text = field.bytes;
    }
  }
  return stat;
}

// Values that only tie marks to each other, or say where in JAX's source they are.
bool IsLeftOut(Text name) { return name.empty() || name.front() == '_'; }

// Returns whether ProfileOptions say that the session took the GPU's profiler.
bool HasDeviceTracer(Text options) {
  Field field;
  for (Fields fields(options); fields.Next(&field);)
    if (field.number == options_field::kDeviceTracerLevel) return field.value != 0;
  return false;
}

uint64_t HashOf(uint64_t number, Text text) {
  uint64_t hash = number * 0x9e3779b97f4a7c15 + 1;
  for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return hash;
}

}  // namespace

void WindowRows::Pass(uint32_t capture, uint32_t time_shift, TrackSource* tracks,
                      cupti::BlockSink* sink) {
  time_shift_ = time_shift;
  tracks_ = tracks;
  sink_ = sink;
  while (Window* const window = WaitingWindows().Take()) {
    if (window->capture == capture) {
      Write(*window);
    } else if (!window->has_programs) {
      WaitingWindows().CountLost();  // it came too late
    }
    Windows::Release(window);
  }
}

void WindowRows::Write(const Window& window) {
  const Text space(window.space(), window.bytes);
  const bool is_dated = ReadEnvironment(space);
  if (window.has_programs) {
    ForEachPlane(space, [this](Text plane) {
      if (PlaneName(plane) == "/host:metadata") WritePrograms(plane);
    });
    return;
  }
  if (!is_dated) return WaitingWindows().CountLost();
  const auto ticks = static_cast<double>(window.end.ticks - window.begin.ticks);
  const auto ns = static_cast<double>(window.end.monotonic_ns - window.begin.monotonic_ns);
  scale_ = {window.begin.ticks, window.begin.realtime_ns, ns > 0 ? ticks / ns : 1};
  WriteGap(window);
  ForEachPlane(space, [&](Text plane) {
    if (PlaneName(plane) != "/host:CPU") return;
    ReadNames(plane);
    Field field;
    for (Fields fields(plane); fields.Next(&field);)
      if (field.number == plane_field::kLine) WriteLine(field.bytes);
  });
  Flush();
}

// Reads when the session began and ended. False: the bytes do not say it.
bool WindowRows::ReadEnvironment(Text space) {
  start_ns_ = stop_ns_ = 0;
  ForEachPlane(space, [this](Text plane) {
    if (PlaneName(plane) != "Task Environment") return;
    ReadNames(plane);
    Field field;
    for (Fields fields(plane); fields.Next(&field);) {
      if (field.number != plane_field::kStat) continue;
      const Stat stat = ReadStat(field.bytes);
      const Name* const name = Find(&stats_, stat.name);
      if (name == nullptr) continue;
      if (name->text == "profile_start_time") start_ns_ = stat.value;
      if (name->text == "profile_stop_time") stop_ns_ = stat.value;
      if (name->text == "profile_options" && HasDeviceTracer(stat.text)) NoteDeviceTracer();
    }
  });
  return start_ns_ != 0 && stop_ns_ >= start_ns_;
}

void WindowRows::ReadNames(Text plane) {
  events_.clear();
  stats_.clear();
  Field field;
  for (Fields fields(plane); fields.Next(&field);) {
    const bool is_event = field.number == plane_field::kEventMetadata;
    if (!is_event && field.number != plane_field::kStatMetadata) continue;
    const Entry entry = ReadEntry(field.bytes);
    std::vector<Name>& names = is_event ? events_ : stats_;
    if (names.size() == kMostNames) continue;
    const Text text = NameOfMetadata(entry.value);
    names.push_back({entry.key, text, 0, !is_event && IsLeftOut(text)});
  }
  for (std::vector<Name>* names : {&events_, &stats_}) {
    std::sort(names->begin(), names->end(),
              [](const Name& a, const Name& b) { return a.number < b.number; });
  }
}

WindowRows::Name* WindowRows::Find(std::vector<Name>* names, uint64_t number) {
  const auto found =
      std::lower_bound(names->begin(), names->end(), number,
                       [](const Name& name, uint64_t wanted) { return name.number < wanted; });
  return found != names->end() && found->number == number ? &*found : nullptr;
}

uint32_t WindowRows::IdOf(Text text) {
  constexpr size_t kMostBytes = 1024;
  return strings_->InternText(text.data(),
                              static_cast<uint32_t>(std::min(text.size(), kMostBytes)));
}

uint32_t WindowRows::IdOf(Name* name) {
  if (name->id == 0) name->id = IdOf(name->text);
  return name->id;
}

void WindowRows::WriteLine(Text line) {
  uint64_t number = 0, base_ns = 0;
  Text name;
  Field field;
  for (Fields fields(line); fields.Next(&field);) {
    if (field.number == line_field::kId) number = field.value;
    if (field.number == line_field::kName) name = field.bytes;
    if (field.number == line_field::kTimestampNs) base_ns = field.value;
  }
  // Older releases count from 1970 on, newer ones from the begin of the session.
  if (base_ns < start_ns_ / 2) base_ns += start_ns_;
  marks_.clear();
  values_.clear();
  uint32_t track = 0;
  for (Fields fields(line); fields.Next(&field);) {
    if (field.number != line_field::kEvent) continue;
    ReadMark(field.bytes, base_ns);
    if (track == 0 && !marks_.empty()) track = TrackOfLine(number, name, marks_.back().end);
    if (marks_.size() == kMostMarks) WriteMarks(track);
  }
  if (!marks_.empty()) WriteMarks(track);
}

void WindowRows::ReadMark(Text event, uint64_t line_ns) {
  uint64_t name = 0, offset_ps = 0, duration_ps = 0;
  Field field;
  for (Fields fields(event); fields.Next(&field);) {
    if (field.number == event_field::kMetadata) name = field.value;
    if (field.number == event_field::kOffsetPs) offset_ps = field.value;
    if (field.number == event_field::kDurationPs) duration_ps = field.value;
  }
  const Name* const known = Find(&events_, name);
  if (known == nullptr) return;
  Mark mark;
  const uint64_t start_ns = line_ns + offset_ps / kPsPerNs;
  mark.start = scale_.TicksOf(start_ns);
  mark.end = scale_.TicksOf(start_ns + duration_ps / kPsPerNs);
  if (mark.end < mark.start) return;
  mark.name = static_cast<uint32_t>(known - events_.data());
  mark.values = static_cast<uint32_t>(values_.size());
  for (Fields fields(event); fields.Next(&field);)
    if (field.number == event_field::kStat) ReadValue(field.bytes, known->text, &mark);
  mark.count = static_cast<uint16_t>(values_.size() - mark.values);
  marks_.push_back(mark);
}

void WindowRows::ReadValue(Text message, Text event_name, Mark* mark) {
  const Stat stat = ReadStat(message);
  Name* const name = Find(&stats_, stat.name);
  if (name == nullptr || name->is_left_out || values_.size() - mark->values == UINT16_MAX) return;
  Value value;
  switch (stat.kind) {
    case stat_field::kUnsigned:
    case stat_field::kSigned:
      value.number = static_cast<int64_t>(stat.value);
      break;
    case stat_field::kReference: {
      Name* const target = Find(&stats_, stat.value);
      if (target == nullptr) return;
      // The operation's own name again.
      if (name->text == "hlo_op" && target->text == event_name) return;
      value.text = IdOf(target);
      break;
    }
    case stat_field::kText:
    case stat_field::kBytes:
      value.text = IdOf(stat.text);
      break;
    default:
      return;  // no mark of JAX has a number with a fraction
  }
  value.name = IdOf(name);
  values_.push_back(value);
}

// Fills the depth of each mark among those that it lies in, and the order of their ends.
void WindowRows::SetDepths() {
  order_.resize(marks_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
  std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) {
    const Mark &x = marks_[a], &y = marks_[b];
    if (x.start != y.start) return x.start < y.start;
    return x.end != y.end ? x.end > y.end : a < b;
  });
  std::vector<uint64_t> open;  // ends
  for (const uint32_t i : order_) {
    Mark& mark = marks_[i];
    while (!open.empty() && open.back() <= mark.start) open.pop_back();
    mark.depth = static_cast<uint16_t>(std::min<size_t>(open.size(), kMostDepth));
    open.push_back(mark.end);
  }
  std::sort(order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) {
    const Mark &x = marks_[a], &y = marks_[b];
    return x.end != y.end ? x.end < y.end : x.depth > y.depth;
  });
}

void WindowRows::WriteMarks(uint32_t track) {
  SetDepths();
  Flush();
  for (const uint32_t i : order_) {
    const Mark& mark = marks_[i];
    const uint64_t duration = mark.end - mark.start;
    Name& name = events_[mark.name];
    for (uint32_t v = mark.values; v < mark.values + mark.count; ++v) {
      const Value& value = values_[v];
      const uint64_t row[] = {mark.end, value.name, static_cast<uint64_t>(value.number),
                              value.text};
      Rows(ChunkKind::kOpValue, track)->Append(row, mark.end);
    }
    const uint64_t row[] = {
        mark.end, duration, IdOf(&name),
        static_cast<uint32_t>(proto::OpScope::kTraceMe) | uint32_t{mark.depth} << 16};
    Rows(ChunkKind::kOp, track)->Append(row, mark.start);
  }
  Flush();
  marks_.clear();
  values_.clear();
}

// A thread that has ended, and whose number is not known, gets a track of its own.
uint32_t WindowRows::TrackOfLine(uint64_t line, Text name, uint64_t ticks) {
  for (const auto& [known, track] : nameless_tracks_)
    if (known == line) return track;
  if (const uint32_t tid = ThreadOfLine(line); tid != 0) return tracks_->TrackOf(tid, ticks);
  const uint32_t track = host_->next_track->fetch_add(1, std::memory_order_relaxed) + 1;
  if (nameless_tracks_.size() < kMostLines) nameless_tracks_.push_back({line, track});
  constexpr int kTime = 1, kThread = 2, kTrack = 1, kName = 3;
  message_.clear();
  codec::PbWriter writer(&message_);
  writer.Fixed64(kTime, ticks);
  const uint64_t mark = writer.Begin(kThread);
  writer.Varint(kTrack, track);
  writer.Bytes(kName, name.data(), name.size());
  writer.End(mark);
  sink_->WriteTableBlock(ChunkKind::kThreads, codec::chunk_field::kThreads, message_, 1);
  return track;
}

void WindowRows::WriteGap(const Window& window) {
  const uint64_t from = last_end_ns_;
  const bool is_first = window.is_first || last_capture_ != window.capture;
  last_capture_ = window.capture;
  last_end_ns_ = stop_ns_;
  if (is_first || from == 0 || from >= start_ns_) return;
  ++gaps_;
  gap_ns_ += start_ns_ - from;
  const uint64_t start = scale_.TicksOf(from), end = scale_.TicksOf(start_ns_);
  const uint64_t row[] = {end,
                          end - start,
                          IdOf(Text(proto::kJaxGap)),
                          static_cast<uint32_t>(proto::RangeKind::kPushPop),
                          IdOf(Text(proto::kRecorderDomain)),
                          0,
                          0,
                          0};
  Rows(ChunkKind::kRange, tracks_->TrackOf(window.tid, end))->Append(row, start);
  Flush();
}

// Each program is an entry among the plane's kinds of events, under its name and number.
void WindowRows::WritePrograms(Text plane) {
  ReadNames(plane);
  Field field;
  for (Fields fields(plane); fields.Next(&field);) {
    if (field.number != plane_field::kEventMetadata) continue;
    const Entry entry = ReadEntry(field.bytes);
    uint64_t number = entry.key;
    Text proto;
    Field member;
    for (Fields members(entry.value); members.Next(&member);) {
      if (member.number != metadata_field::kStat) continue;
      const Stat stat = ReadStat(member.bytes);
      const Name* const name = Find(&stats_, stat.name);
      if (name == nullptr) continue;
      if (name->text == "program_id") number = stat.value;
      if (stat.kind == stat_field::kBytes) proto = stat.text;
    }
    WriteProgram(number, NameOfMetadata(entry.value), proto);
  }
}

// In parts, so that readers need little memory for one.
void WindowRows::WriteProgram(uint64_t number, Text name, Text proto) {
  if (proto.empty()) return;
  const uint64_t hash = HashOf(number, name);
  if (std::find(programs_.begin(), programs_.end(), hash) != programs_.end()) return;
  if (program_bytes_ + proto.size() > kMostProgramBytes) {
    programs_lost_ += proto.size();
    return;
  }
  programs_.push_back(hash);
  program_bytes_ += proto.size();
  constexpr int kModule = 1, kNumber = 1, kName = 2, kProto = 3;
  for (size_t at = 0; at < proto.size(); at += kProgramPart) {
    const Text part = proto.substr(at, kProgramPart);
    message_.clear();
    codec::PbWriter writer(&message_);
    const uint64_t mark = writer.Begin(kModule);
    writer.Varint(kNumber, number);
    writer.Bytes(kName, name.data(), name.size());
    writer.Bytes(kProto, part.data(), part.size());
    writer.End(mark);
    sink_->WriteTableBlock(ChunkKind::kHloModules, codec::chunk_field::kHloModules, message_, 1);
  }
}

codec::ChunkBuilder* WindowRows::Rows(ChunkKind kind, uint32_t track) {
  for (const auto& builder : builders_) {
    if (builder->kind() != kind || builder->track() != track) continue;
    if (builder->count() < proto::kRowsPerChunk) return builder.get();
    Flush();
    break;
  }
  builders_.push_back(std::make_unique<codec::ChunkBuilder>(kind, track, time_shift_));
  return builders_.back().get();
}

// Names and threads that rows refer to come before them.
void WindowRows::Flush() {
  if (builders_.empty()) return;
  tracks_->WriteTracks();
  sink_->WriteStringsBlock();
  for (const auto& builder : builders_)
    if (builder->count() != 0) sink_->WriteRowBlock(builder.get());
  builders_.clear();
}

}  // namespace gpuprof::tracer::jax
