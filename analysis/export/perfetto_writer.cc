// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See perfetto_writer.h.

#include "analysis/export/perfetto_writer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {
namespace {

using wire::AppendBytes;
using wire::AppendNumber;
using wire::AppendReal;
using wire::AppendSigned;

constexpr uint32_t kBootTime = 6;  // BuiltinClock: that of events unless a packet says otherwise
constexpr uint32_t kRealTime = 1;
// TracePacket
constexpr uint32_t kPacketOfTrace = 1, kTimestamp = 8, kSequence = 10, kSequenceFlags = 13,
                   kClockSnapshot = 6, kTrackEvent = 11, kInternedData = 12, kTrackDescriptor = 60,
                   kPerfSample = 66;
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;
// TrackEvent
constexpr uint32_t kAnnotation = 4, kType = 9, kTrackUuid = 11, kDoubleValue = 44;
// DebugAnnotation
constexpr uint32_t kNameNumber = 1, kBool = 2, kUint = 3, kInt = 4, kDouble = 5, kText = 17,
                   kDict = 11, kArray = 12;
// TrackDescriptor
constexpr uint32_t kExplicit = 3;  // children are in the order of their ranks

using Object = nlohmann::json;

// Adds the fields of the value. Deep values become texts: readers walk them by recursion.
void AppendValue(const Object& value, int depth, SliceTexts* keys, SliceTexts* texts,
                 std::string* out) {
  constexpr int kDeepest = 8;
  const auto dump = [&] {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  if (value.is_boolean()) {
    AppendNumber(kBool, value.get<bool>() ? 1 : 0, out);
  } else if (value.is_number_unsigned()) {
    AppendNumber(kUint, value.get<uint64_t>(), out);
  } else if (value.is_number_integer()) {
    AppendSigned(kInt, value.get<int64_t>(), out);
  } else if (value.is_number_float()) {
    AppendReal(kDouble, value.get<double>(), out);
  } else if (value.is_string()) {
    AppendNumber(kText, texts->Of(value.get_ref<const std::string&>()), out);
  } else if (value.is_null() || depth == kDeepest || value.empty()) {
    AppendNumber(kText, texts->Of(dump()), out);
  } else {
    for (const auto& [key, member] : value.items()) {
      std::string annotation;
      if (value.is_object()) AppendNumber(kNameNumber, keys->Of(key), &annotation);
      AppendValue(member, depth + 1, keys, texts, &annotation);
      AppendBytes(value.is_object() ? kDict : kArray, annotation, out);
    }
  }
}

}  // namespace

uint64_t PerfettoWriter::TimeOf(int64_t time_ns) const {
  return static_cast<uint64_t>(std::max<int64_t>(time_ns + shift_ns_, 0));
}

void PerfettoWriter::Packet(const int64_t* time_ns, uint32_t field, std::string_view message) {
  packet_.clear();
  if (time_ns != nullptr) AppendNumber(kTimestamp, TimeOf(*time_ns), &packet_);
  if (sequence_ != 0) {
    AppendNumber(kSequence, sequence_, &packet_);
    AppendNumber(kSequenceFlags, kNeedsState, &packet_);
  }
  AppendBytes(field, message, &packet_);
  AppendBytes(kPacketOfTrace, packet_, &out_);
}

void PerfettoWriter::Clock(int64_t time_ns) {
  std::string snapshot;
  for (const uint32_t clock : {kBootTime, kRealTime}) {
    std::string each;
    AppendNumber(1, clock, &each);
    AppendNumber(2, TimeOf(time_ns), &each);
    AppendBytes(1, each, &snapshot);
  }
  AppendNumber(2, kBootTime, &snapshot);
  Packet(nullptr, kClockSnapshot, snapshot);
}

void PerfettoWriter::BeginSequence(uint32_t number) {
  sequence_ = number;
  packet_.clear();
  AppendNumber(kSequence, number, &packet_);
  AppendNumber(kSequenceFlags, kStateCleared, &packet_);
  AppendBytes(kPacketOfTrace, packet_, &out_);
}

void PerfettoWriter::Names(PerfettoNames kind, const std::vector<std::string>& texts) {
  constexpr size_t kPieceBytes = 1 << 20;
  std::string names;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string name;
    AppendNumber(1, i + 1, &name);
    AppendBytes(2, texts[i], &name);
    AppendBytes(static_cast<uint32_t>(kind), name, &names);
    if (names.size() < kPieceBytes && i + 1 < texts.size()) continue;
    Interned(names);
    names.clear();
  }
}

void PerfettoWriter::Interned(std::string_view fields) {
  if (!fields.empty()) Packet(nullptr, kInternedData, fields);
}

void PerfettoWriter::Track(const PerfettoTrack& track) {
  std::string descriptor;
  AppendNumber(1, track.uuid, &descriptor);
  if (track.parent != 0) AppendNumber(5, track.parent, &descriptor);
  if (track.tid != 0) {
    std::string thread;
    AppendSigned(1, track.pid, &thread);
    AppendSigned(2, track.tid, &thread);
    if (!track.name.empty()) AppendBytes(5, Utf8Of(track.name), &thread);
    AppendBytes(4, thread, &descriptor);
  } else if (track.pid != 0) {
    std::string process;
    AppendSigned(1, track.pid, &process);
    for (const std::string& argument : track.command) AppendBytes(2, Utf8Of(argument), &process);
    AppendBytes(6, Utf8Of(track.name), &process);
    AppendBytes(3, process, &descriptor);
  } else {
    AppendBytes(2, Utf8Of(track.name), &descriptor);
  }
  if (track.is_counter) {
    std::string counter;
    if (!track.unit.empty()) AppendBytes(6, Utf8Of(track.unit), &counter);
    AppendBytes(8, counter, &descriptor);
  }
  AppendNumber(11, kExplicit, &descriptor);
  if (track.order != 0) AppendSigned(12, track.order, &descriptor);
  Packet(nullptr, kTrackDescriptor, descriptor);
}

void PerfettoWriter::Event(uint32_t type, uint64_t track, int64_t time_ns,
                           std::string_view fields) {
  event_.clear();
  AppendNumber(kType, type, &event_);
  AppendNumber(kTrackUuid, track, &event_);
  event_ += fields;
  Packet(&time_ns, kTrackEvent, event_);
  if (type != kEnd) ++events_;
}

void PerfettoWriter::Counter(uint64_t track, int64_t time_ns, double value) {
  std::string field;
  AppendReal(kDoubleValue, value, &field);
  Event(kCounter, track, time_ns, field);
}

void PerfettoWriter::Sample(int64_t time_ns, int32_t pid, int32_t tid, uint64_t stack) {
  constexpr uint64_t kUserMode = 2;  // of Profiling.CpuMode
  std::string sample;
  AppendNumber(2, static_cast<uint32_t>(pid), &sample);
  AppendNumber(3, static_cast<uint32_t>(tid), &sample);
  AppendNumber(4, stack, &sample);
  AppendNumber(5, kUserMode, &sample);
  Packet(&time_ns, kPerfSample, sample);
  ++events_;
}

void PerfettoSlices::SignedArg(std::string_view key, int64_t value) {
  std::string annotation;
  AppendNumber(kNameNumber, keys_.Of(key), &annotation);
  AppendSigned(kInt, value, &annotation);
  AppendBytes(kAnnotation, annotation, &args_);
}

void PerfettoSlices::UnsignedArg(std::string_view key, uint64_t value) {
  std::string annotation;
  AppendNumber(kNameNumber, keys_.Of(key), &annotation);
  AppendNumber(kUint, value, &annotation);
  AppendBytes(kAnnotation, annotation, &args_);
}

void PerfettoSlices::RealArg(std::string_view key, double value) {
  std::string annotation;
  AppendNumber(kNameNumber, keys_.Of(key), &annotation);
  AppendReal(kDouble, value, &annotation);
  AppendBytes(kAnnotation, annotation, &args_);
}

void PerfettoSlices::TextArg(std::string_view key, std::string_view text) {
  std::string annotation;
  AppendNumber(kNameNumber, keys_.Of(key), &annotation);
  AppendNumber(kText, texts_.Of(text), &annotation);
  AppendBytes(kAnnotation, annotation, &args_);
}

void PerfettoSlices::JsonArg(std::string_view key, std::string_view json) {
  args_ += MembersOf("{" + Object(key).dump() + ":" + std::string(json) + "}");
}

void PerfettoSlices::Members(std::string_view members) {
  if (members.find_first_not_of(" \t\r\n") != std::string_view::npos)
    args_ += MembersOf("{" + std::string(members) + "}");
}

const std::string& PerfettoSlices::MembersOf(const std::string& text) {
  const auto [at, added] = objects_.try_emplace(text);
  if (!added) return at->second;
  const Object object = Object::parse(text, nullptr, false);
  if (!object.is_object()) return at->second;
  for (const auto& [key, value] : object.items()) {
    std::string annotation;
    AppendNumber(kNameNumber, keys_.Of(key), &annotation);
    AppendValue(value, 0, &keys_, &texts_, &annotation);
    AppendBytes(kAnnotation, annotation, &at->second);
  }
  return at->second;
}

}  // namespace gpuprof::analysis
