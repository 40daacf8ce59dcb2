// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ReadSpace: the bytes of an XSpace become a Space. The numbers of fields are those of
// proto/foreign/xspace.proto. A plane is walked twice, as its names may come behind its events.
// Memory is counted as it is taken: a file of empty events cannot take more than this program may.

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "analysis/base/memory_limit.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/wire.h"
#include "analysis/import/xspace_reader.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {
namespace {

using import::WireField;
using import::WireReader;
using import::WireType;

// The edges of the graph of events take about as much as the events.
constexpr uint64_t kShareOfMemory = 3;

bool IsBytes(const WireField& field, uint32_t number) { return field.Is(number, WireType::kBytes); }
bool IsNumber(const WireField& field, uint32_t number) {
  return field.Is(number, WireType::kVarint);
}

class Reader {
 public:
  Reader(Space* space, const std::string& name)
      : space_(space), name_(name), room_(DefaultMemoryLimit() / kShareOfMemory) {}

  Error Read();

 private:
  struct StatName {
    std::string_view name;
    StatKey key = StatKey::kOther;
  };

  bool Take(uint64_t bytes) {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }
  template <typename OnField>
  bool Walk(std::string_view message, const OnField& on_field) {
    WireReader reader(message);
    WireField field;
    while (reader.Next(&field))
      if (!on_field(field)) return false;
    if (reader.is_broken()) is_broken_ = true;
    return !is_broken_;
  }
  bool ReadPlane(std::string_view message);
  bool ReadStatName(std::string_view entry);
  bool ReadEventName(std::string_view entry);
  bool ReadProgram(int64_t id, std::string_view name, std::string_view stat);
  bool ReadLine(std::string_view message);
  bool ReadEvent(std::string_view message, Line* line);
  bool ReadStat(std::string_view message, Stat* stat);
  uint32_t NameIndex(int64_t id);

  Space* space_;
  const std::string& name_;
  uint64_t room_;
  bool is_broken_ = false;
  Plane* plane_ = nullptr;
  std::unordered_map<int64_t, StatName> stat_names_;
  std::unordered_map<int64_t, uint32_t> event_names_;
};

Error Reader::Read() {
  const bool is_whole = Walk(space_->bytes, [&](const WireField& field) {
    if (IsBytes(field, 1)) return ReadPlane(field.bytes);
    for (const auto& [number, list] :
         {std::pair(2u, &space_->errors), std::pair(3u, &space_->warnings),
          std::pair(4u, &space_->hostnames)}) {
      if (!IsBytes(field, number)) continue;
      if (!Take(sizeof(std::string_view))) return false;
      list->push_back(field.bytes);
    }
    return true;
  });
  if (is_broken_) {
    return Unreadable(name_ +
                      ": a part of the file is cut or damaged. XProf reads whole files only; "
                      "'gpuprof stats' without --format=xprof reads what is left");
  }
  if (!is_whole) {
    return Unreadable(name_ +
                      ": XProf's pages need more memory than this program may take; use a machine "
                      "with more memory, or profile for a shorter time");
  }
  return {};
}

bool Reader::ReadPlane(std::string_view message) {
  if (!Take(sizeof(Plane))) return false;
  plane_ = &space_->planes.emplace_back();
  stat_names_.clear();
  event_names_.clear();
  std::vector<std::string_view> stats;
  // Names of stats come first: entries of events may have stats.
  const bool has_names = Walk(message, [&](const WireField& field) {
    if (IsNumber(field, 1)) plane_->id = static_cast<int64_t>(field.value);
    if (IsBytes(field, 2)) plane_->name = field.bytes;
    if (IsBytes(field, 5)) return ReadStatName(field.bytes);
    return true;
  });
  if (!has_names) return false;
  return Walk(message,
              [&](const WireField& field) {
                if (IsBytes(field, 4)) return ReadEventName(field.bytes);
                if (!IsBytes(field, 6)) return true;
                Stat stat;
                if (!ReadStat(field.bytes, &stat) || !Take(sizeof stat)) return false;
                plane_->stats.push_back(stat);
                return true;
              }) &&
         Walk(message, [&](const WireField& field) {
           return IsBytes(field, 3) ? ReadLine(field.bytes) : true;
         });
}

bool Reader::ReadStatName(std::string_view entry) {
  constexpr uint64_t kEntryBytes = 96;
  int64_t id = 0;
  StatName stat;
  const bool is_read = Take(kEntryBytes) && Walk(entry, [&](const WireField& field) {
                         if (IsNumber(field, 1)) id = static_cast<int64_t>(field.value);
                         if (!IsBytes(field, 2)) return true;
                         return Walk(field.bytes, [&](const WireField& inner) {
                           if (IsBytes(inner, 2)) stat.name = inner.bytes;
                           return true;
                         });
                       });
  stat.key = StatKeyOf(stat.name);
  if (stat.key == StatKey::kGroupId) plane_->has_group_stat = true;
  stat_names_.insert_or_assign(id, stat);
  return is_read;
}

bool Reader::ReadEventName(std::string_view entry) {
  constexpr uint64_t kEntryBytes = sizeof(EventName) + 64;
  int64_t id = 0;
  EventName event;
  std::string_view program;
  const bool is_read = Take(kEntryBytes) && Walk(entry, [&](const WireField& field) {
                         if (IsNumber(field, 1)) id = static_cast<int64_t>(field.value);
                         if (!IsBytes(field, 2)) return true;
                         return Walk(field.bytes, [&](const WireField& inner) {
                           if (IsBytes(inner, 2)) event.name = inner.bytes;
                           if (!IsBytes(inner, 5)) return true;
                           Stat stat;
                           if (!ReadStat(inner.bytes, &stat)) return false;
                           if (stat.key == StatKey::kHloProto && stat.kind == Stat::Kind::kBytes)
                             program = stat.text;
                           return true;
                         });
                       });
  event.id = id;
  event.op = ParseOpName(event.name);
  event.type = EventTypeOf(event.name);
  if (event.type == EventType::kNone && event.op.category == OpCategory::kTensorFlow)
    event.type = EventType::kTfOpRun;
  if (event.type == EventType::kNone && event.op.category == OpCategory::kTfData)
    event.type = EventType::kIterator;
  const auto [at, is_new] =
      event_names_.try_emplace(id, static_cast<uint32_t>(plane_->names.size()));
  if (is_new) {
    plane_->names.push_back(event);
  } else {
    plane_->names[at->second] = event;
  }
  return is_read && (program.empty() || ReadProgram(id, event.name, program));
}

// A name with a number in parentheses at its end tells the program's number better than the id.
bool Reader::ReadProgram(int64_t id, std::string_view name, std::string_view bytes) {
  if (plane_->name != kMetadataPlane) return true;
  auto program = static_cast<uint64_t>(id);
  const size_t open = name.rfind('(');
  if (open != std::string_view::npos && name.ends_with(')')) {
    uint64_t number = 0;
    const char* const last = name.data() + name.size() - 1;
    const auto [end, error] = std::from_chars(name.data() + open + 1, last, number);
    if (error == std::errc() && end == last && open + 2 < name.size()) program = number;
  }
  space_->programs.push_back({program, bytes});
  return true;
}

uint32_t Reader::NameIndex(int64_t id) {
  const auto [at, is_new] =
      event_names_.try_emplace(id, static_cast<uint32_t>(plane_->names.size()));
  if (is_new) plane_->names.push_back({id, {}, EventType::kNone, {}});
  return at->second;
}

bool Reader::ReadLine(std::string_view message) {
  if (!Take(sizeof(Line))) return false;
  Line& line = plane_->lines.emplace_back();
  size_t events = 0;
  const bool is_read = Walk(message, [&](const WireField& field) {
    if (IsNumber(field, 1)) line.id = static_cast<int64_t>(field.value);
    if (IsBytes(field, 2)) line.name = field.bytes;
    if (IsNumber(field, 3)) line.timestamp_ns = static_cast<int64_t>(field.value);
    if (IsBytes(field, 4)) ++events;
    return true;
  });
  if (!is_read || !Take(events * (sizeof(Event) + sizeof(EventName)))) return false;
  line.events.reserve(events);
  return Walk(message, [&](const WireField& field) {
    return IsBytes(field, 4) ? ReadEvent(field.bytes, &line) : true;
  });
}

bool Reader::ReadEvent(std::string_view message, Line* line) {
  Event event;
  int64_t id = 0;
  event.first_stat = static_cast<uint32_t>(plane_->event_stats.size());
  const bool is_read = Walk(message, [&](const WireField& field) {
    if (IsNumber(field, 1)) id = static_cast<int64_t>(field.value);
    if (IsNumber(field, 2)) event.offset = static_cast<int64_t>(field.value);
    if (IsNumber(field, 5)) event.offset = 0;  // the event has a count instead
    if (IsNumber(field, 3)) event.duration = static_cast<int64_t>(field.value);
    if (!IsBytes(field, 4)) return true;
    Stat stat;
    if (!ReadStat(field.bytes, &stat)) return false;
    if (stat.key == StatKey::kOther) return true;
    if (stat.key == StatKey::kGroupId) {
      event.group = stat.Signed();
      event.has_group = true;
    }
    if (stat.key == StatKey::kIsEager) event.is_eager = stat.Signed() != 0;
    if (stat.key == StatKey::kStepName) {
      event.step_name = static_cast<uint32_t>(plane_->step_names.size());
      plane_->step_names.emplace_back(stat.Text());
    }
    if (!Take(2 * sizeof stat) || plane_->event_stats.size() >= UINT32_MAX) return false;
    plane_->event_stats.push_back(stat);
    return true;
  });
  event.stats = static_cast<uint32_t>(plane_->event_stats.size()) - event.first_stat;
  event.name = NameIndex(id);
  line->events.push_back(event);
  return is_read;
}

bool Reader::ReadStat(std::string_view message, Stat* stat) {
  uint64_t reference = 0;
  bool is_reference = false;
  const bool is_read = Walk(message, [&](const WireField& field) {
    const auto set = [&](Stat::Kind kind) {
      stat->kind = kind;
      stat->bits = field.value;
      stat->text = field.bytes;
      is_reference = false;
    };
    if (IsNumber(field, 1)) {
      const auto at = stat_names_.find(static_cast<int64_t>(field.value));
      stat->key = at == stat_names_.end() ? StatKey::kOther : at->second.key;
    }
    if (field.Is(2, WireType::kFixed64)) set(Stat::Kind::kDouble);
    if (IsNumber(field, 3)) set(Stat::Kind::kUnsigned);
    if (IsNumber(field, 4)) set(Stat::Kind::kSigned);
    if (IsBytes(field, 5)) set(Stat::Kind::kText);
    if (IsBytes(field, 6)) set(Stat::Kind::kBytes);
    if (IsNumber(field, 7)) {
      set(Stat::Kind::kText);
      reference = field.value;
      is_reference = true;
    }
    return true;
  });
  if (is_reference) {
    const auto at = stat_names_.find(static_cast<int64_t>(reference));
    stat->text = at == stat_names_.end() ? std::string_view() : at->second.name;
  }
  return is_read;
}

}  // namespace

Result<std::unique_ptr<Space>> ReadSpace(std::string bytes, const std::string& name) {
  if (bytes.empty()) return Unreadable(name + ": the file is empty; was the profiler stopped?");
  auto space = std::make_unique<Space>();
  space->bytes = std::move(bytes);
  if (Error error = Reader(space.get(), name).Read()) return error;
  return space;
}

Result<std::unique_ptr<Space>> ReadSpaceFile(const import::ForeignFile& from) {
  bool is_damaged = false;
  const std::string path = from.Title();
  const import::ImportMemory memory(0);
  Result<std::unique_ptr<import::RandomBytes>> file =
      import::OpenRandomBytes(from, memory.MostOf(import::SizeOf(from)), &is_damaged);
  if (!file.ok()) return file.error();
  if (import::IsRiegeli(**file)) {
    return Unreadable(path +
                      ": the file is in the format Riegeli, which gpuprof does not read; let the "
                      "profiler write .xplane.pb, or convert the file with riegeli");
  }
  if (is_damaged)
    return Unreadable(path + ": the compressed bytes are cut or damaged; copy the file again");
  const uint64_t size = (*file)->size();
  if (size > DefaultMemoryLimit() / kShareOfMemory) {
    return Unreadable(path + ": XProf's pages need the whole file in memory, and it is too long");
  }
  std::string bytes(size, '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    Result<size_t> got = (*file)->ReadAt(at, bytes.data() + at, bytes.size() - at);
    if (!got.ok()) return got.error();
    if (*got == 0) break;
    at += *got;
  }
  bytes.resize(at);
  file = Error();  // an inflated file is in memory twice until here
  return ReadSpace(std::move(bytes), path);
}

}  // namespace gpuprof::analysis::xprof
