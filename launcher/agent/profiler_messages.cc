// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See profiler_messages.h.

#include "launcher/agent/profiler_messages.h"

#include "launcher/agent/wire.h"

namespace gpuprof::launcher {
namespace {

constexpr char kBroken[] = "the request is not a message of this service";

// Numbers of fields.
namespace profile {
enum : uint32_t {
  kDuration = 1,
  kMaxEvents = 2,
  kTools = 3,
  kOptions = 4,
  kRoot = 5,
  kSession = 6,
  kHost = 7,
  kEmitXSpace = 9
};
}
namespace options {
enum : uint32_t {
  kDatasetOps = 1,
  kHostLevel = 2,
  kDeviceLevel = 3,
  kVersion = 5,
  kHlo = 7,
  kStart = 8,
  kDuration = 9
};
}
namespace monitor {
enum : uint32_t { kDuration = 1, kLevel = 2, kTimestamp = 3 };
}
namespace space {
enum : uint32_t { kPlanes = 1, kErrors = 2, kWarnings = 3, kHosts = 4 };
enum : uint32_t { kPlaneId = 1, kPlaneName = 2, kLines = 3, kEventNames = 4 };
enum : uint32_t { kLineId = 1, kLineName = 2, kLineStart = 3, kEvents = 4 };
enum : uint32_t { kEventName = 1, kEventDuration = 3 };
enum : uint32_t { kKey = 1, kValue = 2 };
}  // namespace space

void ReadOptions(std::string_view message, ProfileRequest* request) {
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == options::kStart) request->start_timestamp_ns = reader.number();
  }
}

// Returns a line of the host with one row for each of the words.
std::string PlaneOfWords(const std::vector<std::string>& words, int64_t now_ns) {
  constexpr uint64_t kSecondPs = 1'000'000'000'000;
  std::string plane, line, names;
  AddText(space::kPlaneName, "/host:CPU", &plane);
  AddNumber(space::kLineId, 1, &line);
  AddText(space::kLineName, "gpuprof", &line);
  AddNumber(space::kLineStart, static_cast<uint64_t>(now_ns), &line);
  uint64_t id = 0;
  for (const std::string& word : words) {
    std::string event, name, entry;
    ++id;
    AddNumber(space::kEventName, id, &event);
    AddNumber(space::kEventDuration, kSecondPs, &event);
    AddBytes(space::kEvents, event, &line);
    AddNumber(1, id, &name);
    AddText(2, word, &name);
    AddNumber(space::kKey, id, &entry);
    AddBytes(space::kValue, name, &entry);
    AddBytes(space::kEventNames, entry, &names);
  }
  AddBytes(space::kLines, line, &plane);
  return plane + names;
}

}  // namespace

std::string ReadProfileRequest(std::string_view message, ProfileRequest* request) {
  WireReader reader(message);
  while (reader.Next()) {
    switch (reader.field()) {
      case profile::kDuration:
        request->duration_ms = reader.number();
        break;
      case profile::kOptions:
        ReadOptions(reader.bytes(), request);
        break;
      case profile::kRoot:
        request->repository_root = reader.bytes();
        break;
      case profile::kSession:
        request->session_id = reader.bytes();
        break;
      case profile::kHost:
        request->host_name = reader.bytes();
        break;
      default:
        break;
    }
  }
  return reader.is_broken() ? kBroken : "";
}

std::string WriteProfileRequest(const ProfileRequest& request) {
  std::string options, message;
  AddNumber(options::kDatasetOps, 1, &options);
  AddNumber(options::kHostLevel, 2, &options);
  AddNumber(options::kDeviceLevel, 1, &options);
  AddNumber(options::kVersion, 1, &options);
  AddNumber(options::kHlo, 1, &options);
  AddNumber(options::kStart, request.start_timestamp_ns, &options);
  AddNumber(options::kDuration, request.duration_ms, &options);
  AddNumber(profile::kDuration, request.duration_ms, &message);
  AddNumber(profile::kMaxEvents, 1'000'000, &message);
  AddText(profile::kTools, kXPlaneName, &message);
  AddBytes(profile::kOptions, options, &message);
  AddText(profile::kSession, request.session_id, &message);
  AddText(profile::kHost, request.host_name, &message);
  AddNumber(profile::kEmitXSpace, 1, &message);
  return message;
}

std::string ReadMonitorRequest(std::string_view message, MonitorRequest* request) {
  WireReader reader(message);
  while (reader.Next()) {
    if (reader.field() == monitor::kDuration) request->duration_ms = reader.number();
    if (reader.field() == monitor::kLevel) request->level = reader.number();
    if (reader.field() == monitor::kTimestamp) request->has_timestamp = reader.number() != 0;
  }
  return reader.is_broken() ? kBroken : "";
}

std::string WriteMonitorAnswer(std::string_view words) {
  std::string message;
  AddText(1, words, &message);
  return message;
}

Body MakeProfileAnswer(std::vector<NamedTrace> traces) {
  Body answer;
  for (NamedTrace& trace : traces) {
    std::string inner, outer;
    AddText(kToolNameField, trace.first, &inner);
    AddLength(kToolBytesField, trace.second.size(), &inner);
    AddLength(kToolDataField, inner.size() + trace.second.size(), &outer);
    answer.Add(outer + inner);
    answer.Append(std::move(trace.second));
  }
  return answer;
}

Body MakeSnapshotAnswer(Body trace) {
  Body answer;
  std::string head;
  AddLength(kXSpaceField, trace.size(), &head);
  answer.Add(head);
  answer.Append(std::move(trace));
  return answer;
}

std::string MakeSpaceNotes(const SpaceWords& words) {
  std::string fields;
  for (const std::string& error : words.errors) AddText(space::kErrors, error, &fields);
  for (const std::string& warning : words.warnings) AddText(space::kWarnings, warning, &fields);
  return fields;
}

std::string MakeSpaceOfWords(const SpaceWords& words, std::string_view host, int64_t now_ns) {
  std::vector<std::string> rows = words.errors;
  rows.insert(rows.end(), words.warnings.begin(), words.warnings.end());
  std::string bytes;
  AddBytes(space::kPlanes, PlaneOfWords(rows, now_ns), &bytes);
  bytes += MakeSpaceNotes(words);
  AddText(space::kHosts, host, &bytes);
  return bytes;
}

}  // namespace gpuprof::launcher
