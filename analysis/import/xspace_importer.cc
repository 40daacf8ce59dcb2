// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_importer.h. Here planes are sorted by what they are, and the process is made.

#include "analysis/import/xspace_importer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/import/import_memory.h"
#include "analysis/import/xspace_stats.h"

namespace gpuprof::analysis::import {
namespace {

// Later and earlier moments than these are damage: sums of two stay in 64 bits.
constexpr int64_t kLimitNs = int64_t{1} << 61;
// A time in the year 2001: no trace is older, and no machine counts so far from its start.
constexpr int64_t kLongAgoNs = 1'000'000'000'000'000'000;
constexpr uint64_t kLeastRoom = 64 << 20;

int64_t NanosecondsOf(int64_t picoseconds) {
  const int64_t whole = picoseconds / 1000;
  return picoseconds % 1000 < 0 ? whole - 1 : whole;
}

}  // namespace

XSpaceImporter::XSpaceImporter(uint64_t file_bytes)
    : builder_(0, ""),
      detail_room_(kLeastRoom + file_bytes / 2),
      name_room_(kLeastRoom + file_bytes / 2) {}

bool XSpaceImporter::OnPlane(XPlaneTables& plane) {
  plane_ = &plane;
  place_ = PlaneNameOf(plane.plane_name);
  roles_.clear();
  for (uint32_t i = 0; i < plane.stats(); ++i) roles_.push_back(StatRoleOf(plane.StatName(i)));
  near_roles_.fill(StatRole::kIgnored);
  are_near_.fill(false);
  for (size_t id = 0; id < kNearRoles; ++id) {
    const auto stat = plane.FindStat(static_cast<int64_t>(id));
    if (!stat) continue;
    near_roles_[id] = roles_[*stat];
    are_near_[id] = true;
  }
  meanings_.assign(plane.events(), Meaning());
  nameless_.clear();
  nameless_work_.clear();
  work_numbers_.Clear();
  detail_numbers_.Clear();
  works_.clear();
  op_details_.clear();
  series_.clear();
  detail_room_ += std::exchange(plane_room_, 0);
  switch (place_.kind) {
    case PlaneKind::kMetadata:
      ReadProcess(plane.PlaneStats());
      ReadModules();
      return false;
    case PlaneKind::kScopes:
      for (const XStat& stat : plane.PlaneStats()) {
        const auto name = plane.FindStat(stat.metadata_id);
        scopes_.Add(stat.metadata_id, WholeNumberOf(stat, "").value_or(0),
                    name ? plane.StatName(*name) : std::string_view());
      }
      if (const uint64_t circles = scopes_.CutCircles())
        notes_.Add(ImportNoteKind::kCycle, "", circles);
      return false;
    case PlaneKind::kTask:
      ReadTask(plane.PlaneStats());
      return false;
    case PlaneKind::kGpu:
    case PlaneKind::kTpu:
      ReadDevice(plane.PlaneStats());
      return true;
    case PlaneKind::kHost:
      ReadProcess(plane.PlaneStats());
      return true;
    default:
      return true;
  }
}

// Keeps compiled modules for exporters. The id of the metadata is the program's, unless a value
// says otherwise.
void XSpaceImporter::ReadModules() {
  std::vector<std::shared_ptr<const HloModule>>& modules = builder_.process().hlo_modules;
  for (uint32_t event = 0; event < plane_->events(); ++event) {
    auto module = std::make_shared<HloModule>();
    module->program_id = static_cast<uint64_t>(plane_->EventId(event));
    module->name = Utf8Of(plane_->EventName(event), &has_bad_text_);
    bool is_module = false;
    for (const XStat& stat : plane_->EventStats(event)) {
      const auto place = plane_->FindStat(stat.metadata_id);
      const std::string_view key = place ? plane_->StatName(*place) : std::string_view();
      if (key == "program_id")
        module->program_id = static_cast<uint64_t>(WholeNumberOf(stat, stat.text).value_or(0));
      if (key != "Hlo Proto" && key != "hlo_proto") continue;
      is_module = stat.kind == XStat::Kind::kBytes || stat.kind == XStat::Kind::kText;
      module->proto = stat.text;
    }
    const bool fits = is_module && hlo_bytes_ + module->proto.size() <= kMostHloBytes;
    if (fits) {
      hlo_bytes_ += module->proto.size();
      modules.push_back(std::move(module));
    } else {
      Note(ImportNoteKind::kHloModule, module->name);
    }
  }
}

// Long lines get their room at once: a table that grows takes more than it needs for a while.
void XSpaceImporter::Reserve(const XLine& line) {
  constexpr uint64_t kLong = 1 << 16, kLeastBytes = 12;
  const uint64_t rows = std::min(line.events, line.bytes / kLeastBytes);
  if (rows >= kLong) builder_.Reserve(timeline_, rows);
}

bool XSpaceImporter::OnLine(const XLine& line) {
  if (line.events == 0) return true;
  line_ = line;
  switch (place_.kind) {
    case PlaneKind::kGpu:
    case PlaneKind::kTpu:
      OnDeviceLine(line);
      break;
    default:
      OnHostLine(line);
  }
  Reserve(line);
  return true;
}

void XSpaceImporter::OnEvent(const XEvent& event) {
  SpanNs span;
  if (!SpanOf(event, &span)) return;
  switch (place_.kind) {
    case PlaneKind::kGpu:
    case PlaneKind::kTpu:
      return OnDeviceEvent(event, span);
    case PlaneKind::kHost:
      return OnHostEvent(event, span);
    default:
      return OnOtherEvent(event, span);
  }
}

void XSpaceImporter::Note(ImportNoteKind kind, std::string_view example) {
  const bool is_first = notes_.count(kind) == 0;
  notes_.Add(kind, is_first ? Utf8Of(example, &has_bad_text_) : std::string());
}

// Start and end are rounded alike, so that spans which lie in each other still do.
bool XSpaceImporter::SpanOf(const XEvent& event, SpanNs* span) {
  if (event.occurrences != 0) {
    notes_.Add(ImportNoteKind::kNoTime, plane_->plane_name, event.occurrences);
    return false;
  }
  if (line_.timestamp_ns > kLimitNs || line_.timestamp_ns < -kLimitNs) {
    Note(ImportNoteKind::kBadTime, line_.name);
    return false;
  }
  span->start = span->end = line_.timestamp_ns + NanosecondsOf(event.offset_ps);
  if (event.duration_ps < 0) {
    Note(ImportNoteKind::kBadTime, line_.name);
    return true;  // the moment is known
  }
  int64_t end_ps = 0;
  if (__builtin_add_overflow(event.offset_ps, event.duration_ps, &end_ps)) {
    Note(ImportNoteKind::kClipped, line_.name);
    end_ps = INT64_MAX;
  }
  span->end = line_.timestamp_ns + NanosecondsOf(end_ps);
  return true;
}

uint32_t XSpaceImporter::NameOf(std::string_view text) {
  return builder_.Intern(Utf8Of(text, &has_bad_text_));
}

// Returns the id of a name that may be new. Names of a file of a stranger must not fill the memory.
uint32_t XSpaceImporter::NewName(std::string_view text) {
  if (name_room_ == 0) {
    notes_.Add(ImportNoteKind::kDetail, "");
    return builder_.Intern("(further names)");
  }
  const size_t before = builder_.process().strings.size();
  const uint32_t id = NameOf(text);
  if (builder_.process().strings.size() != before)
    name_room_ -= std::min<uint64_t>(name_room_, 2 * text.size() + kTextBytes);
  return id;
}

// Counts an id that leads nowhere, and returns the name that says so.
uint32_t XSpaceImporter::Unknown(std::string_view what, int64_t id) {
  const std::string text = std::string(what) + " " + std::to_string(id);
  notes_.Add(ImportNoteKind::kUnknownName, text);
  return builder_.Intern(text);
}

StatRole XSpaceImporter::FarRoleOf(int64_t metadata_id) {
  const auto stat = plane_->FindStat(metadata_id);
  if (stat) return roles_[*stat];
  notes_.Add(ImportNoteKind::kUnknownName, "stat " + std::to_string(metadata_id));
  return StatRole::kIgnored;
}

std::string_view XSpaceImporter::TextOf(const XStat& stat, uint32_t* unknown) const {
  if (stat.kind == XStat::Kind::kText) return stat.text;
  if (stat.kind != XStat::Kind::kReference) return {};
  const auto text = plane_->FindStat(static_cast<int64_t>(stat.bits));
  if (text) return plane_->StatName(*text);
  ++*unknown;
  return {};
}

void XSpaceImporter::AddMember(const XStat& stat, DetailText* detail, uint32_t* unknown) const {
  const auto place = plane_->FindStat(stat.metadata_id);
  if (!place) return;
  const std::string_view key = plane_->StatName(*place);
  switch (stat.kind) {
    case XStat::Kind::kSigned:
      return detail->AddSigned(key, static_cast<int64_t>(stat.bits));
    case XStat::Kind::kUnsigned:
      return detail->AddUnsigned(key, stat.bits);
    case XStat::Kind::kDouble:
      return detail->AddReal(key, std::bit_cast<double>(stat.bits));
    case XStat::Kind::kText:
    case XStat::Kind::kReference: {
      const uint32_t before = *unknown;
      const std::string_view text = TextOf(stat, unknown);
      if (*unknown == before) detail->AddText(key, text);
      return;
    }
    default:
      return;  // bytes are messages of the profiler's own
  }
}

// Takes room for what is known of the plane alone.
bool XSpaceImporter::TakePlaneRoom(uint64_t bytes) {
  if (bytes > detail_room_) return false;
  detail_room_ -= bytes;
  plane_room_ += bytes;
  return true;
}

uint32_t XSpaceImporter::Detail(DetailText* detail) {
  const std::string text = detail->Take();
  if (text.empty()) return 0;
  const uint64_t bytes = 2 * text.size() + kTextBytes;
  if (bytes > detail_room_) {
    notes_.Add(ImportNoteKind::kDetail, "");
    return 0;
  }
  const size_t before = builder_.process().strings.size();
  const uint32_t id = builder_.Intern(text);
  if (builder_.process().strings.size() != before) detail_room_ -= bytes;
  return id;
}

void XSpaceImporter::ReadDevice(const std::vector<XStat>& stats) {
  std::vector<proto::Device>& devices = builder_.process().devices;
  const auto known = std::find_if(devices.begin(), devices.end(), [&](const proto::Device& each) {
    return each.id() == place_.device;
  });
  // No machine has more; a file of a stranger may say so.
  constexpr size_t kMostDevices = 1024;
  if (known == devices.end() && devices.size() == kMostDevices) return;
  proto::Device& device = known == devices.end() ? devices.emplace_back() : *known;
  device.set_id(place_.device);
  std::string vendor;
  uint32_t unknown = 0;
  for (const XStat& stat : stats) {
    const auto place = plane_->FindStat(stat.metadata_id);
    if (!place) continue;
    const std::string_view key = plane_->StatName(*place);
    const std::string_view text = TextOf(stat, &unknown);
    const uint64_t number =
        static_cast<uint64_t>(std::max<int64_t>(WholeNumberOf(stat, text).value_or(0), 0));
    const auto small = static_cast<uint32_t>(std::min<uint64_t>(number, UINT32_MAX));
    if (key == "gpu_device_name" || key == "device_type_string")
      device.set_name(Utf8Of(text, &has_bad_text_));
    if (key == "device_vendor") vendor = Utf8Of(text, &has_bad_text_);
    if (key == "clock_rate") device.set_core_clock_khz(small);
    if (key == "core_count") device.set_multiprocessors(small);
    if (key == "memory_bandwidth") device.set_memory_bandwidth_kb_per_s(number / 1000);
    if (key == "memory_size") device.set_memory_bytes(number);
    if (key == "compute_cap_major") device.set_compute_major(small);
    if (key == "compute_cap_minor") device.set_compute_minor(small);
    if (key == "peak_hbm_bw_gigabytes_per_second" && stat.kind == XStat::Kind::kDouble) {
      const double gigabytes = std::bit_cast<double>(stat.bits);
      if (gigabytes > 0 && gigabytes < 1e9)
        device.set_memory_bandwidth_kb_per_s(static_cast<uint64_t>(std::llround(gigabytes * 1e6)));
    }
  }
  if (device.name().empty() && !vendor.empty()) device.set_name(vendor + " GPU");
  if (device.name().empty() && place_.kind == PlaneKind::kTpu) device.set_name("TPU");
}

void XSpaceImporter::ReadTask(const std::vector<XStat>& stats) {
  for (const XStat& stat : stats) {
    const auto place = plane_->FindStat(stat.metadata_id);
    if (!place || plane_->StatName(*place) != "profile_start_time") continue;
    const int64_t start = WholeNumberOf(stat, "").value_or(0);
    if (start > 0 && start < kLimitNs) profile_start_ns_ = start;
  }
}

void XSpaceImporter::ReadProcess(const std::vector<XStat>& stats) {
  Process& process = builder_.process();
  uint32_t unknown = 0;
  for (const XStat& stat : stats) {
    const auto place = plane_->FindStat(stat.metadata_id);
    if (!place) continue;
    const std::string_view key = plane_->StatName(*place);
    const std::string_view text = TextOf(stat, &unknown);
    const int64_t number = WholeNumberOf(stat, text).value_or(0);
    if (key == "process_id" && number > 0 && number <= INT32_MAX)
      process.pid = static_cast<int32_t>(number);
    if (key == "jax_version" && !text.empty() && process.frameworks.empty())
      process.frameworks.push_back("JAX " + Utf8Of(text, &has_bad_text_));
  }
}

void XSpaceImporter::JoinCalls() {
  for (const LaunchCall& call : calls_.calls()) {
    if (call.launches && !call.has_work)
      notes_.Add(ImportNoteKind::kNoKernel, call_names_[call.name]);
  }
}

void XSpaceImporter::JoinThreads() {
  const auto pairs = pairs_.Find(builder_);
  for (const auto& [calls, operations] : pairs) builder_.JoinThreads(calls, operations);
  if (!pairs.empty()) {
    builder_.AddNote(
        "the file numbers threads in two ways: calls were joined to operations of the same name "
        "and time (threads: " +
        std::to_string(pairs.size()) + ")");
  }
}

int64_t XSpaceImporter::Close() {
  plane_ = nullptr;
  JoinThreads();
  for (const uint32_t stream : streams_) ClipWork(stream);
  JoinCalls();
  if (has_bad_text_) notes_.Add(ImportNoteKind::kBadText, "");
  SpanNs bounds;
  has_rows_ = builder_.Bounds(&bounds);
  const int64_t first = has_rows_ ? bounds.start : 0;
  // The profiler moves times so that its start is 0, unless it is a very old one.
  if (first < kLongAgoNs) base_ns_ = profile_start_ns_;
  is_wall_clock_ = base_ns_ + first > kLongAgoNs;
  return base_ns_ + first;
}

// Rows of tensors come in this order, too.
void XSpaceImporter::KeepBlockDetails(int64_t origin) {
  for (auto& [timeline, details] : block_details_) {
    std::stable_sort(details.begin(), details.end(),
                     [](const BlockDetail& x, const BlockDetail& y) { return x.time < y.time; });
    RowDetailTable& table = builder_.process().tracks[timeline].row_detail;
    for (const BlockDetail& each : details) {
      table.row.push_back(static_cast<uint32_t>(table.rows()));
      table.time_ns.push_back(each.time - origin);
      table.table.push_back(static_cast<uint16_t>(proto::ChunkKind::kTensor));
      table.external.push_back(each.counts);
      table.detail.push_back(each.detail);
      table.sequence.push_back(0);
    }
  }
  block_details_.clear();
}

Process XSpaceImporter::Build(const std::string& file, const std::string& host, int64_t origin_ns) {
  Process& process = builder_.process();
  process.file = file;
  process.host = Utf8Of(host, &has_bad_text_);
  KeepBlockDetails(origin_ns - base_ns_);
  return builder_.Finish(origin_ns - base_ns_);
}

}  // namespace gpuprof::analysis::import
