// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_reader.h. The numbers of fields are those of proto/foreign/xspace.proto.

#include "analysis/import/xspace_reader.h"

#include <algorithm>
#include <utility>

#include "analysis/import/wire.h"

namespace gpuprof::analysis::import {
namespace {

// Longer texts are cut; longer values of metadata are not kept.
constexpr uint64_t kMostNameBytes = 64 << 10;
constexpr uint64_t kMostStatBytes = 16 << 10;
// The plane of compiled modules has longer values: of one module, and of all.
constexpr std::string_view kModules = "/host:metadata";
constexpr uint64_t kMostModuleBytes = 64 << 20;
constexpr uint64_t kMostModulesBytes = 256 << 20;
// Each event of the metadata repeats its stats: further ones are not kept.
constexpr size_t kMostMetadataStats = 256;
// Longer events are not read.
constexpr uint64_t kMostEventBytes = ByteWindow::kBytes;
constexpr uint64_t kMostSaidBytes = 1 << 20;
constexpr std::string_view kRiegeli = "\x83\xaf\x70\xd1\x0d\x88\x4a\x3f";

// Where a message lies in the file.
struct Extent {
  uint64_t begin = 0, end = 0;
  bool is_cut = false;  // it should be longer, but the file ends
};

// A field of a message in the file.
struct Part {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;
  Extent extent;  // of kBytes
};

class Reader {
 public:
  Reader(const RandomBytes& file, XSpaceHandler* handler, XSpaceFacts* facts, size_t window)
      : file_(file), window_(&file, window), handler_(handler), facts_(facts) {}

  Error Read();
  bool LooksLikeXSpace();

 private:
  struct Plane {
    Extent extent;
    std::string name;
    uint32_t number = 0;  // in the order of the file
  };

  enum class End : uint8_t { kWhole, kStopped, kBroken };

  // Hands the fields of a message to `on_part`, which returns false to get no more.
  template <typename OnPart>
  End Walk(Extent message, const OnPart& on_part) {
    uint64_t at = message.begin;
    while (at < message.end) {
      const std::string_view view = Limited(at, kMostHeadBytes, message.end);
      FieldHead head;
      const char* const value = ReadHead(view.data(), view.data() + view.size(), &head);
      if (value == nullptr) {
        if (message.is_cut && message.end - at < kMostHeadBytes) return Cut(message.end);
        return Broken(at);
      }
      Part part{head.number, head.type, head.value, {}};
      part.extent.begin = at + static_cast<uint64_t>(value - view.data());
      part.extent.is_cut = head.length > message.end - part.extent.begin;
      part.extent.end = part.extent.is_cut ? message.end : part.extent.begin + head.length;
      if (part.extent.is_cut && !message.is_cut) return Broken(at);
      if (part.extent.is_cut) Cut(message.end);
      if (!on_part(part)) return End::kStopped;
      at = part.extent.end;
    }
    return End::kWhole;
  }
  End Cut(uint64_t at) {
    facts_->is_truncated = true;
    facts_->truncated_at = at;
    return End::kWhole;
  }
  End Broken(uint64_t at) {
    NoteFault(at);
    ++facts_->broken_parts;
    return End::kBroken;
  }
  void NoteFault(uint64_t at) {
    if (facts_->broken_parts == 0 && facts_->unreadable_events == 0) facts_->first_fault_at = at;
  }

  std::string_view Limited(uint64_t at, uint64_t least, uint64_t end) {
    const std::string_view view = window_.At(at, std::min(least, end - at));
    return view.substr(0, end - at);
  }
  std::string TextOf(const Extent& extent, uint64_t most) {
    const uint64_t bytes = std::min(extent.end - extent.begin, most);
    return std::string(window_.At(extent.begin, bytes).substr(0, bytes));
  }

  Extent Whole() const {
    // Its parts may lie behind the end of the file: then the file was cut.
    return {0, file_.size(), true};
  }
  // Reads a text that may be longer than the window.
  std::string LongTextOf(const Extent& extent) {
    std::string text;
    for (uint64_t at = extent.begin; at < extent.end;) {
      const uint64_t bytes = std::min<uint64_t>(extent.end - at, ByteWindow::kBytes);
      const std::string_view view = window_.At(at, bytes).substr(0, bytes);
      if (view.empty()) break;
      text += view;
      at += view.size();
    }
    return text;
  }
  void AddSaid(const Extent& extent, std::vector<std::string>* said);
  std::string NameOf(const Extent& plane);
  void ReadPlane(const Plane& plane);
  bool TakeStatRoom(uint64_t bytes, const XPlaneTables& tables);
  void ReadEventEntry(const Extent& entry, XPlaneTables* tables);
  void ReadStatEntry(const Extent& entry, XPlaneTables* tables);
  XLine ReadLineHead(const Extent& line);
  void ReadLine(const Extent& extent, bool is_wanted);
  void ReadEvent(const Extent& extent);
  bool ParseEvent(std::string_view message);

  const RandomBytes& file_;
  ByteWindow window_;
  XSpaceHandler* handler_;
  XSpaceFacts* facts_;
  XEvent event_;
  uint64_t module_room_ = kMostModulesBytes, said_room_ = kMostSaidBytes;
};

// Returns in which order planes are read: what host planes tell is known when devices come.
int OrderOf(std::string_view plane) {
  if (plane.starts_with("/host:")) return 0;
  return plane.starts_with("/device:") ? 1 : 2;
}

void Reader::AddSaid(const Extent& extent, std::vector<std::string>* said) {
  constexpr uint64_t kTextBytes = sizeof(std::string);
  ++facts_->said_count;
  if (said_room_ < kTextBytes) return;
  said_room_ -= kTextBytes;
  said->push_back(TextOf(extent, std::min(said_room_, kMostNameBytes)));
  said_room_ -= said->back().size();
}

std::string Reader::NameOf(const Extent& plane) {
  std::string name;
  Walk(plane, [&](const Part& part) {
    if (part.number == 2 && part.type == WireType::kBytes)
      name = TextOf(part.extent, kMostNameBytes);
    return part.number < 2;  // the name comes early in all files
  });
  return name;
}

// Returns whether a value of metadata is kept.
bool Reader::TakeStatRoom(uint64_t bytes, const XPlaneTables& tables) {
  if (bytes <= kMostStatBytes) return true;
  if (tables.plane_name != kModules) return false;
  if (bytes > kMostModuleBytes || bytes > module_room_) {
    ++facts_->modules_left_out;
    return false;
  }
  module_room_ -= bytes;
  return true;
}

void Reader::ReadEventEntry(const Extent& entry, XPlaneTables* tables) {
  int64_t id = 0;
  std::string name, display_name;
  std::vector<std::string> stats;
  Walk(entry, [&](const Part& part) {
    if (part.number == 1 && part.type == WireType::kVarint) id = static_cast<int64_t>(part.value);
    if (part.number != 2 || part.type != WireType::kBytes) return true;
    Walk(part.extent, [&](const Part& inner) {
      if (inner.type != WireType::kBytes) return true;
      if (inner.number == 2) name = TextOf(inner.extent, kMostNameBytes);
      if (inner.number == 4) display_name = TextOf(inner.extent, kMostNameBytes);
      if (inner.number == 5 && stats.size() < kMostMetadataStats &&
          TakeStatRoom(inner.extent.end - inner.extent.begin, *tables))
        stats.push_back(LongTextOf(inner.extent));
      return true;
    });
    return true;
  });
  tables->AddEvent(id, name, display_name, stats);
}

void Reader::ReadStatEntry(const Extent& entry, XPlaneTables* tables) {
  int64_t id = 0;
  std::string name;
  Walk(entry, [&](const Part& part) {
    if (part.number == 1 && part.type == WireType::kVarint) id = static_cast<int64_t>(part.value);
    if (part.number != 2 || part.type != WireType::kBytes) return true;
    Walk(part.extent, [&](const Part& inner) {
      if (inner.number == 2 && inner.type == WireType::kBytes)
        name = TextOf(inner.extent, kMostNameBytes);
      return true;
    });
    return true;
  });
  tables->AddStat(id, name);
}

void Reader::ReadPlane(const Plane& plane) {
  ++facts_->planes;
  XPlaneTables tables;
  tables.plane_name = plane.name;
  tables.is_cut = plane.extent.is_cut;
  tables.number = plane.number;
  const auto is_part = [](const Part& part, uint32_t number) {
    return part.number == number && part.type == WireType::kBytes && !part.extent.is_cut;
  };
  Walk(plane.extent, [&](const Part& part) {
    if (is_part(part, 2)) tables.plane_name = TextOf(part.extent, kMostNameBytes);
    if (is_part(part, 4)) ReadEventEntry(part.extent, &tables);
    if (is_part(part, 5)) ReadStatEntry(part.extent, &tables);
    if (is_part(part, 6) && part.extent.end - part.extent.begin <= kMostStatBytes)
      tables.AddPlaneStat(TextOf(part.extent, kMostStatBytes));
    return true;
  });
  facts_->entries_left_out += tables.left_out;
  // Rows of a plane that was cut before its names say nothing.
  const bool has_names = tables.events() + tables.stats() != 0 || !tables.is_cut;
  const bool is_wanted = has_names && handler_->OnPlane(tables);
  if (has_names && !is_wanted) return;
  const End end = Walk(plane.extent, [&](const Part& part) {
    if (part.number == 3 && part.type == WireType::kBytes) ReadLine(part.extent, is_wanted);
    return true;
  });
  if (end == End::kBroken) --facts_->broken_parts;  // it was counted when the tables were read
}

XLine Reader::ReadLineHead(const Extent& extent) {
  XLine line;
  line.bytes = extent.end - extent.begin;
  Walk(extent, [&](const Part& part) {
    if (part.type == WireType::kVarint) {
      if (part.number == 1) line.id = static_cast<int64_t>(part.value);
      if (part.number == 3) line.timestamp_ns = static_cast<int64_t>(part.value);
    } else if (part.type == WireType::kBytes) {
      if (part.number == 4) ++line.events;
      if (part.number == 2) line.name = TextOf(part.extent, kMostNameBytes);
      if (part.number == 11) line.display_name = TextOf(part.extent, kMostNameBytes);
    }
    return true;
  });
  return line;
}

void Reader::ReadLine(const Extent& extent, bool is_wanted) {
  // Its own fields may come behind its events.
  const uint64_t broken = facts_->broken_parts, fault = facts_->first_fault_at;
  const XLine line = ReadLineHead(extent);
  if (!is_wanted) {
    facts_->lost_in_end += line.events;
    return;
  }
  if (!handler_->OnLine(line)) return;
  facts_->broken_parts = broken;  // a fault is counted when it is met again
  facts_->first_fault_at = fault;
  Walk(extent, [&](const Part& part) {
    if (part.number != 4 || part.type != WireType::kBytes) return true;
    if (part.extent.is_cut) {
      ++facts_->lost_in_end;
    } else {
      ReadEvent(part.extent);
    }
    return true;
  });
}

void Reader::ReadEvent(const Extent& extent) {
  const uint64_t bytes = extent.end - extent.begin;
  if (bytes <= kMostEventBytes) {
    const std::string_view message = window_.At(extent.begin, bytes).substr(0, bytes);
    if (message.size() == bytes && ParseEvent(message)) {
      ++facts_->events;
      handler_->OnEvent(event_);
      return;
    }
  }
  NoteFault(extent.begin);
  ++facts_->unreadable_events;
}

bool Reader::ParseEvent(std::string_view message) {
  event_.metadata_id = event_.offset_ps = event_.duration_ps = 0;
  event_.occurrences = 0;
  event_.stats.clear();
  const char* at = message.data();
  const char* const end = at + message.size();
  while (at != end) {
    FieldHead head;
    at = ReadHead(at, end, &head);
    if (at == nullptr || head.length > static_cast<uint64_t>(end - at)) return false;
    const bool is_stat = head.number == 4;
    const bool is_known = head.number <= 5;
    if (is_known && head.type != (is_stat ? WireType::kBytes : WireType::kVarint)) return false;
    switch (head.number) {
      case 1:
        event_.metadata_id = static_cast<int64_t>(head.value);
        break;
      case 2:
        event_.offset_ps = static_cast<int64_t>(head.value);
        event_.occurrences = 0;
        break;
      case 3:
        event_.duration_ps = static_cast<int64_t>(head.value);
        break;
      case 4:
        event_.stats.emplace_back(at, head.length);
        break;
      case 5:
        event_.occurrences = head.value;
        event_.offset_ps = 0;
        break;
      default:
        break;
    }
    at += head.length;
  }
  return true;
}

Error Reader::Read() {
  std::vector<Plane> planes;
  Walk(Whole(), [&](const Part& part) {
    if (part.type != WireType::kBytes) return true;
    // A place in this table takes more memory than an empty plane takes bytes.
    constexpr size_t kMostPlanes = 1 << 16;
    if (part.number == 1 && planes.size() < kMostPlanes)
      planes.push_back({part.extent, NameOf(part.extent), static_cast<uint32_t>(planes.size())});
    if (part.number == 2) AddSaid(part.extent, &facts_->errors);
    if (part.number == 3) AddSaid(part.extent, &facts_->warnings);
    if (part.number == 4 && facts_->host.empty()) {
      constexpr uint64_t kMostHostBytes = 256;
      facts_->host = TextOf(part.extent, kMostHostBytes);
    }
    return true;
  });
  if (window_.error()) return window_.error();
  std::stable_sort(planes.begin(), planes.end(), [](const Plane& x, const Plane& y) {
    return OrderOf(x.name) < OrderOf(y.name);
  });
  for (const Plane& plane : planes) ReadPlane(plane);
  return window_.error();
}

bool Reader::LooksLikeXSpace() {
  bool is_right = true, has_plane = false;
  const End end = Walk(Whole(), [&](const Part& part) {
    is_right = part.type == WireType::kBytes && part.number >= 1 && part.number <= 4 &&
               !part.extent.is_cut;
    if (is_right && part.number == 1 && !has_plane) {
      const std::string name = NameOf(part.extent);
      has_plane = true;
      is_right = name.starts_with("/host:") || name.starts_with("/device:") ||
                 name == "Task Environment" || name.starts_with("/virtualdevice:");
    }
    return is_right;
  });
  return end == End::kWhole && is_right && has_plane && !facts_->is_truncated;
}

}  // namespace

Error ReadXSpace(const RandomBytes& file, const std::string& name, XSpaceHandler* handler,
                 XSpaceFacts* facts, size_t window) {
  if (IsRiegeli(file)) {
    return Unreadable(name +
                      ": the file is in the format Riegeli, which gpuprof does not read; let the "
                      "profiler write .xplane.pb, or convert the file with riegeli");
  }
  return Reader(file, handler, facts, window).Read();
}

bool IsRiegeli(const RandomBytes& file) {
  char first[8] = {};
  Result<size_t> got = file.ReadAt(0, first, sizeof first);
  return got.ok() && std::string_view(first, *got) == kRiegeli;
}

bool LooksLikeXSpace(const RandomBytes& file) {
  constexpr size_t kSmallWindow = 4 << 10;
  XSpaceFacts facts;
  return Reader(file, nullptr, &facts, kSmallWindow).LooksLikeXSpace();
}

}  // namespace gpuprof::analysis::import
