// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See counter_trace.h.

#include "launcher/gpu/counter_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "launcher/base/version.h"
#include "proto/codec/tables.h"
#include "proto/contract.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

namespace field = codec::chunk_field;

// Microseconds are plenty; samples of PM sampling may be but 20 of them long.
constexpr uint32_t kTimeShift = 10, kPmTimeShift = 6;
// Tracks: a device's index and this.
constexpr uint32_t kFirstTrack = 1, kFirstPmTrack = 0x10001;
constexpr uint32_t kCapture = 1;
constexpr uint64_t kNoRing = ~uint64_t{0};
constexpr int kClockTries = 5;

const CounterInfo* FindCounter(uint32_t id) {
  for (const CounterInfo& info : CounterTable()) {
    if (info.id == id) return &info;
  }
  return nullptr;
}

}  // namespace

std::string CounterTrace::Create(const std::string& bundle) {
  proto::FileHeader header = {};
  header.pid = getpid();
  header.realtime_ns = proto::ReadClockNs(CLOCK_REALTIME);
  header.start_id = header.realtime_ns / 1000;
  header.ticks_kind = static_cast<uint32_t>(proto::ClockKind::kMonotonic);
  char name[64];
  std::snprintf(name, sizeof name, "%s%d-%llx%s", proto::kSamplerPrefix, header.pid,
                static_cast<unsigned long long>(header.start_id), proto::kTraceSuffix);
  const std::string path = bundle + "/" + name;
  if (!writer_.Create(path.c_str(), header)) return path + " cannot be made: " + strerror(errno);
  proto::Meta meta;
  meta.set_sampler(true);
  meta.set_pid(header.pid);
  meta.set_ppid(getppid());
  meta.set_start_id(header.start_id);
  char host[256] = {};
  if (gethostname(host, sizeof host - 1) == 0) meta.set_host(host);
  meta.set_writer_version(kVersion);
  meta.set_clock_kind(header.ticks_kind);
  meta.set_ticks_per_second(1'000'000'000);
  WriteTable(proto::ChunkKind::kMeta, field::kMeta, meta, 1);
  WriteClocks();
  return "";
}

void CounterTrace::WriteTable(proto::ChunkKind kind, int number,
                              const google::protobuf::Message& message, uint32_t entries) {
  const std::string bytes = message.SerializeAsString();
  writer_.WriteTable(kind, kCapture, number, reinterpret_cast<const uint8_t*>(bytes.data()),
                     bytes.size(), entries);
}

// As the recorder's: of several readings the one whose clocks were read closest together.
void CounterTrace::WriteClocks() {
  proto::Clocks clocks;
  proto::ClockSnapshot* best = clocks.add_snapshot();
  for (int i = 0; i < kClockTries; ++i) {
    const uint64_t before = proto::ReadClockNs(CLOCK_MONOTONIC);
    const uint64_t realtime = proto::ReadClockNs(CLOCK_REALTIME);
    const uint64_t bracket = proto::ReadClockNs(CLOCK_MONOTONIC) - before;
    if (i != 0 && bracket >= best->bracket_ticks()) continue;
    best->set_ticks(before + bracket / 2);
    best->set_monotonic_ns(before + bracket / 2);
    best->set_realtime_ns(realtime);
    best->set_bracket_ticks(static_cast<uint32_t>(std::min<uint64_t>(bracket, UINT32_MAX)));
  }
  WriteTable(proto::ChunkKind::kClocks, field::kClocks, clocks, 1);
}

void CounterTrace::AddDevice(const DeviceIdentity& device) {
  proto::SampledDevice* entry = fresh_.add_device();
  entry->set_track(device.index + kFirstTrack);
  entry->set_index(device.index);
  entry->set_name(device.name);
  entry->set_uuid(device.uuid);
  entry->set_has_gpm(device.has_gpm);
  entry->set_is_mig(device.is_mig);
  entry->set_pcie_generation(device.pcie_generation);
  entry->set_pcie_width(device.pcie_width);
}

void CounterTrace::AddPmDevice(const DeviceIdentity& device) {
  proto::SampledDevice* entry = fresh_.add_device();
  entry->set_track(device.index + kFirstPmTrack);
  entry->set_index(device.index);
  entry->set_name(device.name);
  entry->set_uuid(device.uuid);
  entry->set_is_pm(true);
}

uint32_t CounterTrace::CounterOfProcess(int32_t pid) {
  const auto first = static_cast<uint32_t>(CounterId::kProcessFirst);
  const auto [found, is_new] =
      processes_.emplace(pid, first + static_cast<uint32_t>(processes_.size()));
  if (is_new) {
    proto::Counter* entry = fresh_.add_counter();
    entry->set_id(found->second);
    entry->set_name("process_memory_used");
    entry->set_unit("bytes");
    entry->set_divisor(1);
    entry->set_source("nvml");
    entry->set_pid(pid);
  }
  return found->second;
}

void CounterTrace::AddRows(unsigned device, uint64_t time_ns,
                           const std::vector<Reading>& readings) {
  AddTo(device + kFirstTrack, kTimeShift, time_ns, readings);
}

void CounterTrace::AddPmRows(unsigned device, uint64_t time_ns,
                             const std::vector<Reading>& readings) {
  AddTo(device + kFirstPmTrack, kPmTimeShift, time_ns, readings);
}

void CounterTrace::AddTo(uint32_t track, uint32_t time_shift, uint64_t time_ns,
                         const std::vector<Reading>& readings) {
  if (!is_open()) return;
  std::unique_ptr<codec::ChunkBuilder>& builder = builders_[track];
  if (builder == nullptr)
    builder = std::make_unique<codec::ChunkBuilder>(proto::ChunkKind::kCounter, track, time_shift);
  for (const Reading& reading : readings) {
    const CounterInfo* info = FindCounter(reading.counter);
    if (info != nullptr && described_.emplace(reading.counter, true).second) {
      proto::Counter* entry = fresh_.add_counter();
      entry->set_id(info->id);
      entry->set_name(info->name);
      entry->set_unit(info->unit);
      entry->set_divisor(info->divisor);
      entry->set_source(info->source);
    }
    const uint64_t row[] = {time_ns, reading.counter, static_cast<uint64_t>(reading.value)};
    builder->Append(row, time_ns);
  }
}

void CounterTrace::AddNote(const std::string& source, const std::string& text) {
  proto::Note* note = health_.add_note();
  note->set_source(source);
  note->set_text(text);
  is_health_fresh_ = true;
}

void CounterTrace::AddLoss(proto::LossKind kind, uint64_t count) {
  proto::Loss* of_kind = nullptr;
  for (proto::Loss& loss : *health_.mutable_loss()) {
    if (loss.kind() == kind) of_kind = &loss;
  }
  if (of_kind == nullptr) of_kind = health_.add_loss();
  of_kind->set_kind(kind);
  of_kind->set_count(of_kind->count() + count);
  is_health_fresh_ = true;
}

void CounterTrace::Flush() {
  if (!is_open()) return;
  const int entries = fresh_.counter_size() + fresh_.device_size();
  if (entries != 0) {
    WriteTable(proto::ChunkKind::kCounters, field::kCounters, fresh_,
               static_cast<uint32_t>(entries));
    fresh_.Clear();
  }
  for (const auto& [track, builder] : builders_) {
    if (builder->count() != 0) writer_.WriteEvents(builder.get(), kCapture, kNoRing);
  }
  WriteClocks();
  if (is_health_fresh_) WriteTable(proto::ChunkKind::kHealth, field::kHealth, health_, 1);
  is_health_fresh_ = false;
}

void CounterTrace::Finish() {
  if (!is_open()) return;
  if (writer_.rows_lost() != 0) AddLoss(proto::LOSS_WRITE_ERROR, writer_.rows_lost());
  Flush();
  proto::EndMarker marker = {};
  marker.exit_way = static_cast<uint32_t>(proto::ExitWay::kReturn);
  writer_.WriteEnd(marker);
  writer_.Close();
}

}  // namespace gpuprof::launcher
