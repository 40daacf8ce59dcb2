// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kineto_importer.h. Here events are sorted by what they are.

#include "analysis/import/kineto_importer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/model/process_groups.h"

namespace gpuprof::analysis::import {
namespace {

// Later and earlier moments than these are damage: sums of two stay in 64 bits.
constexpr int64_t kLimitNs = int64_t{1} << 61;

// Numbers of deviceProperties, as libkineto names them.
struct DeviceField {
  const char* key;
  void (*set)(proto::Device*, uint64_t);
};
constexpr DeviceField kDeviceFields[] = {
    {"totalGlobalMem", [](proto::Device* d, uint64_t n) { d->set_memory_bytes(n); }},
    {"computeMajor",
     [](proto::Device* d, uint64_t n) { d->set_compute_major(static_cast<uint32_t>(n)); }},
    {"computeMinor",
     [](proto::Device* d, uint64_t n) { d->set_compute_minor(static_cast<uint32_t>(n)); }},
    {"numSms",
     [](proto::Device* d, uint64_t n) { d->set_multiprocessors(static_cast<uint32_t>(n)); }},
    {"warpSize",
     [](proto::Device* d, uint64_t n) { d->set_threads_per_warp(static_cast<uint32_t>(n)); }},
    {"maxThreadsPerBlock",
     [](proto::Device* d, uint64_t n) { d->set_threads_per_block(static_cast<uint32_t>(n)); }},
    {"regsPerBlock",
     [](proto::Device* d, uint64_t n) { d->set_registers_per_block(static_cast<uint32_t>(n)); }},
    {"regsPerMultiprocessor",
     [](proto::Device* d, uint64_t n) {
       d->set_registers_per_multiprocessor(static_cast<uint32_t>(n));
     }},
    {"sharedMemPerBlock",
     [](proto::Device* d, uint64_t n) { d->set_shared_bytes_per_block(static_cast<uint32_t>(n)); }},
    {"sharedMemPerMultiprocessor",
     [](proto::Device* d, uint64_t n) {
       d->set_shared_bytes_per_multiprocessor(static_cast<uint32_t>(n));
     }},
};

// Each process has a copy of them. No machine has more.
constexpr size_t kMostDevices = 1024;
// A header is small; one that is not is not read.
constexpr size_t kMostHeaderBytes = 16u << 20;

nlohmann::json ParseHeader(const JsonValue& value) {
  if (value.text.size() > kMostHeaderBytes) return nlohmann::json();
  auto json = nlohmann::json::parse(value.text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? nlohmann::json() : json;
}

uint64_t NumberIn(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_unsigned() ? at->get<uint64_t>() : 0;
}

std::string TextIn(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

// Adds a note for each process group that the header lists.
void ReadProcessGroups(const nlohmann::json& info, std::vector<std::string>* notes) {
  constexpr size_t kMostGroups = 4096;
  notes->clear();
  const auto list = info.find("pg_config");
  if (list == info.end() || !list->is_array()) return;
  for (const nlohmann::json& each : *list) {
    const std::string name = each.is_object() ? TextIn(each, "pg_name") : "";
    const auto ranks = each.is_object() ? each.find("ranks") : each.end();
    if (name.empty() || ranks == each.end() || !ranks->is_array()) continue;
    ProcessGroup group{name, TextIn(each, "pg_desc"), {}};
    for (const nlohmann::json& rank : *ranks)
      if (rank.is_number_unsigned()) group.ranks.push_back(rank.get<uint32_t>());
    // A list that was cut says less than none.
    if (group.ranks.empty() || group.ranks.size() != ranks->size()) continue;
    if (notes->size() < kMostGroups) notes->push_back(GroupNote(group));
  }
}

}  // namespace

uint32_t KinetoImporter::TextOf(std::string_view text) {
  bool is_new = false;
  const uint32_t number =
      NumberOf(text, static_cast<uint32_t>(texts_.size()), &text_numbers_, &is_new);
  if (is_new) {
    texts_.emplace_back(text);
    Hold(kTextBytes + 2 * text.size());
  }
  return number;
}

Error KinetoImporter::Refusal() {
  if (meter_ == nullptr) return {};
  uint64_t bytes = held_bytes_;
  for (const Host* host : host_order_) bytes += host->builder->held_bytes();
  return meter_->Check(bytes);
}

uint32_t KinetoImporter::GroupOf(std::string_view prefix) {
  bool is_new = false;
  const uint32_t number =
      NumberOf(prefix, static_cast<uint32_t>(groups_.size()), &group_numbers_, &is_new);
  if (is_new) groups_.emplace_back(prefix);
  return number;
}

bool KinetoImporter::TimesOf(const ChromeEvent& event, SpanNs* span) {
  const std::optional<int64_t> start = Nanoseconds(event.time);
  if (!start || *start > kLimitNs || *start < -kLimitNs) {
    notes_.Add(ImportNoteKind::kBadTime, event.name.text);
    return false;
  }
  span->start = span->end = *start;
  if (event.phase != 'X') return true;
  const std::optional<int64_t> duration = Nanoseconds(event.duration);
  if (!duration || *duration < 0) {
    notes_.Add(ImportNoteKind::kBadTime, event.name.text);
    return true;  // the moment is known
  }
  if (*duration > kLimitNs) notes_.Add(ImportNoteKind::kClipped, event.name.text);
  span->end = *start + std::min(*duration, kLimitNs);
  return true;
}

void KinetoImporter::OnEvent(const ChromeEvent& event) {
  SpanNs span;
  switch (event.phase) {
    case 'X':
      if (TimesOf(event, &span)) OnComplete(event, span);
      return;
    case 'M':
      OnMetadata(event);
      return;
    case 'i':
    case 'I':
    case 'R':
      OnInstant(event);
      return;
    case 'B':
    case 'E':
      if (TimesOf(event, &span)) AddToPairs(event, span.start, "");
      return;
    case 'b':
    case 'e':
      if (TimesOf(event, &span))
        AddToPairs(event, span.start, event.id ? event.id.text : std::string_view("-"));
      return;
    case 's':
    case 't':
    case 'f':
    case 'n':
      return;  // arrows between rows: rows are joined by their ids
    case 'C':
      return OnCounter(event);
    default:
      notes_.Add(ImportNoteKind::kUnknownPhase, std::string_view(&event.phase, 1));
  }
}

void KinetoImporter::AddToPairs(const ChromeEvent& event, int64_t time, std::string_view id) {
  // The event, its pair and the row of a range, each with its texts.
  constexpr uint64_t kPairBytes = 512;
  Hold(kPairBytes + 2 * (event.name.text.size() + event.category.text.size() + id.size()));
  pairs_.Add(event.phase, EntityOf(event.pid), EntityOf(event.tid), time, event.name.text,
             event.category.text, id);
}

namespace {

// Returns whether a row is work of a device, whatever its category is called: it has the device,
// the stream and the id of a call. Profilers of other devices have names of their own.
bool IsOfDevice(const ChromeEvent& event) {
  return WholeNumber(event.Arg("device")) && WholeNumber(event.Arg("stream")) &&
         WholeNumber(event.Arg("correlation"));
}

}  // namespace

void KinetoImporter::OnComplete(const ChromeEvent& event, SpanNs span) {
  const Category category = CategoryOf(event.category.text);
  switch (category) {
    case Category::kKernel:
    case Category::kCopy:
    case Category::kSet:
      return OnDeviceRow(event, category, span);
    case Category::kSync:
      return OnSync(event, span);
    case Category::kGpuAnnotation:
      return;  // the annotation itself is there
    case Category::kSpan:
      stop_ns_ = std::max(stop_ns_, span.end);
      return;
    case Category::kNone:
    case Category::kFlow:
    case Category::kInstant:
      return OnPlainSpan(event, span);
    case Category::kOther:
      if (IsOfDevice(event)) return OnDeviceRow(event, Category::kKernel, span);
      notes_.Add(ImportNoteKind::kUnknownCategory, event.category.text);
      return OnPlainSpan(event, span);
    default:
      return OnHostRow(event, category, span);
  }
}

void KinetoImporter::OnInstant(const ChromeEvent& event) {
  SpanNs span;
  if (event.pid.text == "Traces" || event.pid.text.empty() || !TimesOf(event, &span)) return;
  if (event.name.text == "[memory]") return OnMemory(event, span.start);
  Host& host = HostOf(EntityOf(event.pid));
  RangeRow row;
  row.span = span;
  row.name = host.builder->Intern(event.name.text);
  row.kind = proto::RangeKind::kMark;
  host.builder->Add(TimelineOf(&host, EntityOf(event.tid)), row);
}

void KinetoImporter::OnMetadata(const ChromeEvent& event) {
  Hold(kTextBytes + event.Arg("name").text.size() + event.Arg("labels").text.size());
  const Entity process = EntityOf(event.pid);
  if (event.name.text == "process_name") {
    process_names_[process] = event.Arg("name").text;
  } else if (event.name.text == "process_labels") {
    process_labels_[process] = event.Arg("labels").text;
  } else if (event.name.text == "thread_name") {
    thread_names_[{process, EntityOf(event.tid)}] = event.Arg("name").text;
  }
}

void KinetoImporter::OnHeader(std::string_view key, const JsonValue& value) {
  for (const CudaVersionKind& kind : kCudaVersions)
    if (key == kind.key) ReadVersion(kind, WholeNumber(value).value_or(0));
  if (key == "baseTimeNanoseconds") {
    base_ns_ = WholeNumber(value).value_or(0);
    if (base_ns_ > kLimitNs || base_ns_ < 0) base_ns_ = 0;
  } else if (key == "deviceProperties") {
    ReadDevices(value);
  } else if (key == "distributedInfo") {
    ReadDistributed(value);
  } else if (key == "host_name" || key == "hostname") {
    host_name_ = value.text;
  }
}

void KinetoImporter::ReadVersion(const CudaVersionKind& kind, int64_t number) {
  std::string text = CudaVersionText(kind, number);
  if (!text.empty()) versions_.push_back(std::move(text));
}

void KinetoImporter::ReadDevices(const JsonValue& json) {
  devices_.clear();
  for (const nlohmann::json& each : ParseHeader(json)) {
    if (devices_.size() == kMostDevices) break;
    if (!each.is_object()) continue;
    proto::Device& device = devices_.emplace_back();
    device.set_id(static_cast<uint32_t>(NumberIn(each, "id")));
    const auto name = each.find("name");
    if (name != each.end() && name->is_string()) device.set_name(name->get<std::string>());
    for (const DeviceField& field : kDeviceFields) field.set(&device, NumberIn(each, field.key));
    const uint64_t threads = NumberIn(each, "maxThreadsPerMultiprocessor");
    if (device.threads_per_warp() != 0)
      device.set_warps_per_multiprocessor(
          static_cast<uint32_t>(threads / device.threads_per_warp()));
  }
}

void KinetoImporter::ReadDistributed(const JsonValue& json) {
  const nlohmann::json info = ParseHeader(json);
  if (!info.is_object()) return;
  for (const auto& [key, variable] :
       {std::pair("rank", "RANK"), std::pair("world_size", "WORLD_SIZE")}) {
    const auto at = info.find(key);
    if (at != info.end() && at->is_number_integer())
      environment_[variable] = std::to_string(at->get<int64_t>());
  }
  ReadProcessGroups(info, &group_notes_);
}

}  // namespace gpuprof::analysis::import
