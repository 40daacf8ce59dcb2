// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ReadSpace: an XSpace becomes a Space, by the reader of all XSpaces (analysis/import/).
// Memory is counted as it is taken: a file of empty events cannot take more than this program may.

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "analysis/base/memory_limit.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_reader.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {
namespace {

using import::XPlaneTables;
using import::XStat;

// The edges of the graph of events take about as much as the events.
constexpr uint64_t kShareOfMemory = 3;

class SpaceMaker : public import::XSpaceHandler {
 public:
  explicit SpaceMaker(Space* space) : space_(space), room_(DefaultMemoryLimit() / kShareOfMemory) {}

  bool OnPlane(XPlaneTables& tables) override;
  bool OnLine(const import::XLine& line) override;
  void OnEvent(const import::XEvent& event) override;
  // Returns whether the space needs more memory than this program may take.
  bool is_full() const { return is_full_; }

 private:
  bool Take(uint64_t bytes) {
    is_full_ = is_full_ || bytes > room_;
    if (!is_full_) room_ -= bytes;
    return !is_full_;
  }
  Plane& plane() { return space_->planes.back(); }
  void AddNames();
  void AddProgram(uint32_t event);
  StatKey KeyOf(int64_t id) const {
    const auto stat = tables_->FindStat(id);
    return stat ? keys_[*stat] : StatKey::kOther;
  }
  Stat StatOf(const XStat& from) const;
  uint32_t NameIndex(int64_t id);

  Space* space_;
  uint64_t room_;
  bool is_full_ = false;
  // These three are of the current plane.
  const XPlaneTables* tables_ = nullptr;
  std::vector<StatKey> keys_;                       // by place in the tables
  std::unordered_map<int64_t, uint32_t> nameless_;  // names of ids that the tables lack
};

bool SpaceMaker::OnPlane(XPlaneTables& tables) {
  const uint64_t names = tables.events() * sizeof(EventName) + tables.stats() * sizeof(StatKey);
  if (!Take(sizeof(Plane) + tables.held_bytes() + names)) return false;
  Plane& plane = space_->planes.emplace_back();
  plane.tables = std::make_unique<XPlaneTables>(std::move(tables));
  tables_ = plane.tables.get();
  plane.name = tables_->plane_name;
  nameless_.clear();
  keys_.clear();
  for (uint32_t stat = 0; stat < tables_->stats(); ++stat) {
    keys_.push_back(StatKeyOf(tables_->StatName(stat)));
    plane.has_group_stat |= keys_.back() == StatKey::kGroupId;
  }
  AddNames();
  for (const XStat& stat : tables_->PlaneStats())
    if (Take(sizeof(Stat))) plane.stats.push_back(StatOf(stat));
  return !is_full_;
}

void SpaceMaker::AddNames() {
  plane().names.resize(tables_->events());
  for (uint32_t event = 0; event < tables_->events(); ++event) {
    EventName& name = plane().names[event];
    name.id = tables_->EventId(event);
    if (tables_->FindEvent(name.id) != event) continue;  // a later one has the id
    name.name = tables_->EventName(event);
    name.op = ParseOpName(name.name);
    name.type = EventTypeOf(name.name);
    if (name.type == EventType::kNone && name.op.category == OpCategory::kTensorFlow)
      name.type = EventType::kTfOpRun;
    if (name.type == EventType::kNone && name.op.category == OpCategory::kTfData)
      name.type = EventType::kIterator;
    if (plane().name == kMetadataPlane) AddProgram(event);
  }
}

// A name with a number in parentheses at its end tells the program's number better than the id.
void SpaceMaker::AddProgram(uint32_t event) {
  std::string_view bytes;
  for (const XStat& from : tables_->EventStats(event)) {
    const Stat stat = StatOf(from);
    if (stat.key == StatKey::kHloProto && stat.kind == Stat::Kind::kBytes) bytes = stat.text;
  }
  if (bytes.empty()) return;
  const std::string_view name = tables_->EventName(event);
  auto program = static_cast<uint64_t>(tables_->EventId(event));
  const size_t open = name.rfind('(');
  if (open != std::string_view::npos && name.ends_with(')')) {
    uint64_t number = 0;
    const char* const last = name.data() + name.size() - 1;
    const auto [end, error] = std::from_chars(name.data() + open + 1, last, number);
    if (error == std::errc() && end == last && open + 2 < name.size()) program = number;
  }
  space_->programs.push_back({program, bytes});
}

bool SpaceMaker::OnLine(const import::XLine& from) {
  if (!Take(sizeof(Line) + from.events * (sizeof(Event) + sizeof(EventName)))) return false;
  Line& line = plane().lines.emplace_back();
  line.id = from.id;
  line.name = space_->texts.emplace_back(from.name);
  line.timestamp_ns = from.timestamp_ns;
  line.events.reserve(from.events);
  return true;
}

void SpaceMaker::OnEvent(const import::XEvent& from) {
  Plane& plane = this->plane();
  Event event;
  event.offset = from.offset_ps;
  event.duration = from.duration_ps;
  event.first_stat = static_cast<uint32_t>(plane.event_stats.size());
  for (const std::string_view message : from.stats) {
    const XStat read = import::ReadXStat(message);
    if (KeyOf(read.metadata_id) == StatKey::kOther) continue;
    Stat stat = StatOf(read);
    if (!read.text.empty()) {
      if (!Take(sizeof(std::string) + read.text.size())) return;
      stat.text = space_->texts.emplace_back(read.text);
    }
    if (stat.key == StatKey::kGroupId) {
      event.group = stat.Signed();
      event.has_group = true;
    }
    if (stat.key == StatKey::kIsEager) event.is_eager = stat.Signed() != 0;
    if (stat.key == StatKey::kStepName) {
      event.step_name = static_cast<uint32_t>(plane.step_names.size());
      plane.step_names.emplace_back(stat.Text());
    }
    is_full_ = is_full_ || plane.event_stats.size() >= UINT32_MAX;
    if (!Take(2 * sizeof stat)) return;
    plane.event_stats.push_back(stat);
  }
  event.stats = static_cast<uint32_t>(plane.event_stats.size()) - event.first_stat;
  event.name = NameIndex(from.metadata_id);
  plane.lines.back().events.push_back(event);
}

uint32_t SpaceMaker::NameIndex(int64_t id) {
  if (const auto event = tables_->FindEvent(id)) return *event;
  const auto [at, is_new] = nameless_.try_emplace(id, static_cast<uint32_t>(plane().names.size()));
  if (is_new) plane().names.push_back({id, {}, EventType::kNone, {}});
  return at->second;
}

Stat SpaceMaker::StatOf(const XStat& from) const {
  Stat stat{KeyOf(from.metadata_id), from.kind, from.bits, from.text};
  if (from.kind != Stat::Kind::kReference) return stat;
  stat.kind = Stat::Kind::kText;
  const auto text = tables_->FindStat(static_cast<int64_t>(from.bits));
  if (text) stat.text = tables_->StatName(*text);
  return stat;
}

Result<std::unique_ptr<Space>> Read(const import::RandomBytes& bytes, const std::string& name) {
  if (bytes.size() == 0) return Unreadable(name + ": the file is empty; was the profiler stopped?");
  auto space = std::make_unique<Space>();
  SpaceMaker maker(space.get());
  import::XSpaceFacts facts;
  if (Error error = import::ReadXSpace(bytes, name, &maker, &facts)) return error;
  if (facts.is_truncated || facts.broken_parts != 0 || facts.unreadable_events != 0) {
    return Unreadable(name +
                      ": a part of the file is cut or damaged. XProf reads whole files only; "
                      "'gpuprof stats' without --format=xprof reads what is left");
  }
  if (maker.is_full() || facts.entries_left_out != 0) {
    return Unreadable(name +
                      ": XProf's pages need more memory than this program may take; use a machine "
                      "with more memory, or profile for a shorter time");
  }
  if (facts.modules_left_out != 0) {
    return Unreadable(name +
                      ": a compiled module of the file is too large, or all of them are; 'gpuprof "
                      "stats' without --format=xprof reads the rest");
  }
  std::sort(space->planes.begin(), space->planes.end(),
            [](const Plane& x, const Plane& y) { return x.tables->number < y.tables->number; });
  space->errors = std::move(facts.errors);
  space->warnings = std::move(facts.warnings);
  space->host = std::move(facts.host);
  return space;
}

}  // namespace

Result<std::unique_ptr<Space>> ReadSpace(std::string bytes, const std::string& name) {
  return Read(import::HeldBytes(std::move(bytes)), name);
}

Result<std::unique_ptr<Space>> ReadSpaceFile(const import::ForeignFile& from) {
  bool is_damaged = false;
  const std::string path = from.Title();
  const import::ImportMemory memory(0);
  Result<std::unique_ptr<import::RandomBytes>> file =
      import::OpenRandomBytes(from, memory.MostOf(import::SizeOf(from)), &is_damaged);
  if (!file.ok()) return file.error();
  if (is_damaged)
    return Unreadable(path + ": the compressed bytes are cut or damaged; copy the file again");
  return Read(**file, path);
}

}  // namespace gpuprof::analysis::xprof
