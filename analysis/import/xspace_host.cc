// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Lines of threads; see xspace_importer.h.

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "analysis/base/utf8.h"
#include "analysis/import/kineto_fields.h"
#include "analysis/import/tensor_types.h"
#include "analysis/import/xspace_importer.h"
#include "analysis/import/xspace_stats.h"
#include "analysis/model/tensor_counts.h"
#include "proto/step_names.h"

namespace gpuprof::analysis::import {
namespace {

constexpr uint32_t kDriverDomain = 1, kRuntimeDomain = 2;  // CUpti_CallbackDomain
// With less room, no detail is made.
constexpr uint64_t kLeastRoom = 64 << 10;
// c10::DeviceType, which the table of tensor memory has.
constexpr uint32_t kCpuMemory = 0 << 8, kGpuMemory = 1 << 8;

uint32_t MillionthsOf(const XStat& stat) {
  const double part = stat.kind == XStat::Kind::kDouble ? std::bit_cast<double>(stat.bits)
                                                        : static_cast<double>(stat.bits);
  return part > 0 ? static_cast<uint32_t>(std::lround(std::min(part, 1.0) * kWholeFragmentation))
                  : 0;
}

bool IsStepName(std::string_view name) {
  return proto::ReadStepName({name.data(), static_cast<uint32_t>(name.size())}, {}, "").is_step;
}

}  // namespace

void XSpaceImporter::OnHostLine(const XLine& line) {
  const std::string_view name = line.display_name.empty() ? line.name : line.display_name;
  if (place_.kind == PlaneKind::kOther) {
    timeline_ = DerivedTimeline();
    domain_ = NameOf(plane_->plane_name);
    return;
  }
  const int64_t thread = ThreadOfLine(line.id, line.name);
  timeline_ = builder_.Thread(thread);
  const std::string_view thread_name = ThreadName(name, line.id);
  if (!thread_name.empty()) builder_.NameThread(timeline_, Utf8Of(thread_name, &has_bad_text_));
  is_api_line_ = line.name.starts_with("Host Threads/") || plane_->plane_name == "/host:CUPTI" ||
                 plane_->plane_name == "/host:ROCTRACER";
  is_nvtx_line_ = line.name.ends_with("/NVTX") || plane_->plane_name == "/host:NVTX-CUPTI";
}

XSpaceImporter::Meaning& XSpaceImporter::MeaningOf(int64_t metadata_id) {
  const auto event = plane_->FindEvent(metadata_id);
  if (event) {
    Meaning& meaning = meanings_[*event];
    if (!meaning.is_known) FillHostMeaning(*event, &meaning);
    return meaning;
  }
  // Names of a file of a stranger must not fill the memory.
  constexpr size_t kMostNameless = 4096;
  const bool is_kept = nameless_.size() < kMostNameless;
  Meaning& meaning = nameless_[is_kept ? metadata_id : -1];
  meaning.name = Unknown("unknown", is_kept ? metadata_id : -1);
  meaning.is_known = true;
  return meaning;
}

void XSpaceImporter::FillHostMeaning(uint32_t event, Meaning* meaning) {
  meaning->is_known = true;
  const std::string_view full = plane_->EventName(event);
  meaning->event = HostEventOf(full);
  if (meaning->event == HostEvent::kPython) {
    meaning->name = NewName(PythonNameOf(full));
    return;
  }
  if (meaning->event == HostEvent::kRange || is_nvtx_line_) {
    const NvtxName nvtx = NvtxNameOf(full);
    meaning->name = NewName(nvtx.name);
    meaning->domain = NewName(nvtx.domain);
    return;
  }
  std::string_view name = EncodedNameOf(full).name;
  meaning->is_api = IsApiName(name, &meaning->is_driver);
  if (meaning->is_api) name = name.substr(0, name.find(" (CudaGraph:"));
  meaning->launches = IsLaunchOfXla(name);
  meaning->name = NewName(name);
}

XSpaceImporter::EventStats XSpaceImporter::ReadHostStats(const XEvent& event) {
  EventStats out;
  key_.assign(reinterpret_cast<const char*>(&event.metadata_id), sizeof event.metadata_id);
  for (const std::string_view message : event.stats) {
    const XStat stat = ReadXStat(message);
    const StatRole role = RoleOf(stat.metadata_id);
    if (role == StatRole::kDetail || role == StatRole::kHloOp) {
      key_ += message;
      if (role == StatRole::kHloOp) out.hlo_op = stat;
      continue;
    }
    if (role == StatRole::kIgnored || role == StatRole::kLink) continue;
    uint32_t unknown = 0;
    const auto number = WholeNumberOf(stat, TextOf(stat, &unknown));
    if (unknown != 0)
      notes_.Add(ImportNoteKind::kUnknownName, "reference " + std::to_string(stat.bits));
    switch (role) {
      case StatRole::kCorrelation:
        out.correlation = number.value_or(0);
        break;
      case StatRole::kStepNumber:
        out.step = number;
        out.is_root = true;
        break;
      case StatRole::kIteration:
        out.iteration = number;
        break;
      case StatRole::kGroup:
        out.group = number;
        break;
      case StatRole::kRoot:
        out.is_root = out.is_root || number.value_or(0) > 0;
        break;
      case StatRole::kStepName:
        out.is_root = out.has_step_name = true;
        break;
      default:
        break;
    }
  }
  return out;
}

// Returns the detail of an operation: values in its name, of its metadata, and of the event.
uint32_t XSpaceImporter::OpDetailOf(const XEvent& event) {
  if (const uint32_t* const known = detail_numbers_.Find(key_)) {
    const OpDetail& detail = op_details_[*known];
    if (detail.unknown != 0) notes_.Add(ImportNoteKind::kUnknownName, "references", detail.unknown);
    return detail.detail;
  }
  OpDetail made;
  if (detail_room_ < kLeastRoom) {
    notes_.Add(ImportNoteKind::kDetail, "");
    return 0;
  }
  DetailText text;
  if (const auto metadata = plane_->FindEvent(event.metadata_id)) {
    for (const auto& [key, value] : EncodedNameOf(plane_->EventName(*metadata)).values)
      text.AddText(key, value);
    for (const XStat& stat : plane_->EventStats(*metadata)) AddMember(stat, &text, &made.unknown);
  }
  for (const std::string_view message : event.stats) {
    const XStat stat = ReadXStat(message);
    const auto place = plane_->FindStat(stat.metadata_id);
    const StatRole role = place ? roles_[*place] : StatRole::kIgnored;
    if (role == StatRole::kDetail || role == StatRole::kHloOp)
      AddMember(stat, &text, &made.unknown);
  }
  made.detail = Detail(&text);
  if (made.unknown != 0) notes_.Add(ImportNoteKind::kUnknownName, "references", made.unknown);
  if (TakePlaneRoom(key_.size() + sizeof made + 80)) {
    detail_numbers_.Add(key_, static_cast<uint32_t>(op_details_.size()));
    op_details_.push_back(made);
  }
  return made.detail;
}

void XSpaceImporter::OnHostEvent(const XEvent& event, SpanNs span) {
  Meaning& meaning = MeaningOf(event.metadata_id);
  if (meaning.event == HostEvent::kPython)
    return builder_.Add(timeline_, PythonRow{span, meaning.name});
  if (meaning.event == HostEvent::kAllocation || meaning.event == HostEvent::kRelease)
    return AddMemory(event, meaning.event == HostEvent::kRelease, span.start);
  const EventStats stats = ReadHostStats(event);
  const bool is_call = is_api_line_ ? meaning.is_api || stats.correlation > 0
                                    : meaning.is_api && stats.correlation > 0;
  if (is_nvtx_line_ || meaning.event == HostEvent::kRange) {
    RangeRow range;
    range.span = span;
    range.name = meaning.name;
    range.domain = meaning.domain;
    return builder_.Add(timeline_, range);
  }
  if (is_call) {
    if (meaning.function == 0) {
      const std::string& name = builder_.process().strings[meaning.name];
      meaning.function =
          builder_.Function(meaning.is_driver ? kDriverDomain : kRuntimeDomain, name);
      bool is_new = false;
      meaning.calls =
          NumberOf(name, static_cast<uint32_t>(call_names_.size()), &call_numbers_, &is_new);
      if (is_new) call_names_.push_back(name);
    }
    AddCall(meaning, span, stats.correlation);
    uint32_t unknown = 0;
    const std::string_view operation = TextOf(stats.hlo_op, &unknown);
    if (!operation.empty()) pairs_.Add(timeline_, NewName(operation), span.start);
    return;
  }
  if (IsStep(meaning, stats)) return AddStep(meaning, span, stats);
  OpRow op;
  op.span = span;
  op.name = meaning.name;
  op.detail = OpDetailOf(event);
  builder_.Add(timeline_, op);
}

void XSpaceImporter::AddCall(const Meaning& meaning, SpanNs span, int64_t correlation) {
  CallRow call;
  call.span = span;
  call.function = meaning.function;
  call.correlation = Correlation32(correlation);
  call.launches = meaning.launches;
  builder_.Add(timeline_, call);
  if (correlation <= 0) return;
  bool is_new = false;
  LaunchCall& known = calls_.Add(correlation, &is_new);
  if (!is_new && !(call.launches && !known.launches)) return;
  known.span = span;
  known.name = meaning.calls;
  known.launches = call.launches;
}

// TensorFlow marks each run of a function as a root, also those that make one batch of data: a step
// has a number, or says that it is one.
bool XSpaceImporter::IsStep(const Meaning& meaning, const EventStats& stats) {
  if (meaning.event == HostEvent::kStep) return true;
  if (!stats.is_root) return false;
  return stats.iteration || stats.step || stats.group || stats.has_step_name ||
         IsStepName(builder_.process().strings[meaning.name]);
}

// Adds a range whose name says that it is a step. What the program calls it is then its domain.
void XSpaceImporter::AddStep(const Meaning& meaning, SpanNs span, const EventStats& stats) {
  has_step_ranges_ = true;
  const std::string name = builder_.process().strings[meaning.name];
  const std::optional<int64_t> number = stats.iteration ? stats.iteration
                                        : stats.step    ? stats.step
                                                        : stats.group;
  const std::string suffix = number && *number >= 0 ? " " + std::to_string(*number) : "";
  RangeRow range;
  range.span = span;
  range.name = builder_.Intern((IsStepName(name) ? name : "step") + suffix);
  if (!IsStepName(name)) range.domain = meaning.name;
  builder_.Add(timeline_, range);
}

void XSpaceImporter::AddMemory(const XEvent& event, bool is_release, int64_t time) {
  TensorRow row;
  row.time = time;
  TensorCounts counts;
  DetailText detail;
  std::optional<int64_t> bytes, device;
  uint64_t allocated = 0, reserved = 0, available = 0;
  bool is_host = false;
  uint32_t unknown = 0;
  for (const std::string_view message : event.stats) {
    const XStat stat = ReadXStat(message);
    const auto place = plane_->FindStat(stat.metadata_id);
    if (!place) continue;
    const std::string_view key = plane_->StatName(*place);
    const std::string_view text = TextOf(stat, &unknown);
    const std::optional<int64_t> number = WholeNumberOf(stat, text);
    const auto size = static_cast<uint64_t>(std::max<int64_t>(number.value_or(0), 0));
    if (key == "addr") row.address = static_cast<uint64_t>(number.value_or(0));
    if (key == "allocation_bytes") bytes = number;
    if (key == "bytes_allocated") allocated = size;
    if (key == "bytes_reserved") reserved = size;
    if (key == "bytes_available") available = size;
    if (key == "device_ordinal" || key == "index_on_host") device = number;
    if ((key == "tf_op" || key == "shape" || key == "region_type") && !text.empty())
      detail.AddText(key, text);
    if (key == "data_type" && number.value_or(0) != 0) detail.AddText(key, NameOfDataType(*number));
    if (key == "peak_bytes_in_use") detail.AddUnsigned(key, size);
    if (key == "fragmentation") counts.fragmentation = MillionthsOf(stat);
    if (key == "allocator_name") {
      detail.AddText(key, text);
      // "GPU_0_bfc", "gpu_host_bfc", "cpu", "mklcpu"
      is_host =
          text.find("host") != std::string_view::npos || text.find("cpu") != std::string_view::npos;
      if (!is_host && text.starts_with("GPU_")) {
        int64_t index = 0;
        const auto [end, error] =
            std::from_chars(text.data() + 4, text.data() + text.size(), index);
        if (error == std::errc()) device = index;
      }
    }
  }
  const auto index = static_cast<uint32_t>(device.value_or(0) & 0xff);
  row.device = is_host ? kCpuMemory : kGpuMemory | index;
  row.bytes = std::clamp<int64_t>(bytes.value_or(0), 0, INT64_MAX);
  if (is_release) row.bytes = row.bytes == 0 ? proto::kReturnedOfUnknownSize : -row.bytes;
  constexpr uint64_t kMost = uint64_t{1} << 62;
  row.total_allocated = std::min(allocated, kMost);
  // TensorFlow and JAX take what is available from a GPU when they begin. On the host it is a
  // limit.
  row.total_reserved = std::min(allocated, kMost) + std::min(reserved, kMost / 2) +
                       (is_host ? 0 : std::min(available, kMost / 2));
  counts.stack_bytes = reserved;
  block_details_[timeline_].push_back({time, PackTensorCounts(counts), Detail(&detail)});
  ++block_count_;
  builder_.Add(timeline_, row);
}

// Rows of planes that are not known are ranges, so that nothing is lost.
void XSpaceImporter::OnOtherEvent(const XEvent& event, SpanNs span) {
  Note(ImportNoteKind::kUnknownCategory, plane_->plane_name);
  RangeRow range;
  range.span = span;
  range.name = MeaningOf(event.metadata_id).name;
  range.domain = domain_;
  range.kind = proto::RangeKind::kStartEnd;
  builder_.Add(timeline_, range);
}

}  // namespace gpuprof::analysis::import
