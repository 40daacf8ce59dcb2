// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Counters; see kineto_importer.h. Each argument of a counter event is a series of values. Its
// process may be a device, as in the files of TensorBoard's plugin. That is known when all rows are
// known.

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/import/kineto_importer.h"

namespace gpuprof::analysis::import {
namespace {

constexpr std::string_view kDevice = "device";

bool IsDeviceNumber(int64_t number) { return number >= 0 && number < kNoCudaId; }

uint32_t DivisorOf(uint32_t decimals) {
  uint32_t divisor = 1;
  for (uint32_t i = 0; i < decimals; ++i) divisor *= 10;
  return divisor;
}

// Returns the device that the event names beside its values; -1: none.
int64_t DeviceOf(const ChromeEvent& event) {
  if (event.args.size() < 2) return -1;
  const std::optional<int64_t> device = WholeNumber(event.Arg(kDevice));
  return device && IsDeviceNumber(*device) ? *device : -1;
}

}  // namespace

void KinetoImporter::OnCounter(const ChromeEvent& event) {
  SpanNs span;
  if (!TimesOf(event, &span)) return;
  // Counters of one name may be told apart by an id.
  std::string name(event.name.text);
  if (event.id) name += "[" + std::string(event.id.text) + "]";
  CounterKey counter{EntityOf(event.pid), DeviceOf(event), TextOf(name), 0};
  if (event.args.empty()) notes_.Add(ImportNoteKind::kCounter, name);
  for (const auto& [key, value] : event.args) {
    if (counter.device >= 0 && key == kDevice) continue;
    const std::optional<Fixed> number = FixedNumber(value);
    if (!number) {
      notes_.Add(ImportNoteKind::kCounter, name + ": " + std::string(key));
      continue;
    }
    counter.key = TextOf(key);
    constexpr uint64_t kValueBytes = 128;  // with its row and its columns
    std::vector<CounterValue>& values = counters_[counter];
    Hold(kValueBytes + (values.empty() ? kTextBytes + sizeof counter : 0));
    values.push_back({span.start, *number});
  }
}

// The process of an event may be a device: the file says so by its label, by the device's
// properties, or by work on the device.
bool KinetoImporter::IsDevice(const Entity& process, const CounterDevices& devices) const {
  if (!process.has_number || !IsDeviceNumber(process.number)) return false;
  const auto label = process_labels_.find(process);
  if (label != process_labels_.end() && label->second == "GPU " + std::to_string(process.number))
    return true;
  const auto device = static_cast<uint32_t>(process.number);
  const bool is_described =
      std::any_of(devices_.begin(), devices_.end(),
                  [&](const proto::Device& known) { return known.id() == device; });
  return is_described || devices.count({process.prefix, device}) != 0;
}

KinetoImporter::CounterPlace KinetoImporter::PlaceOf(const CounterKey& counter,
                                                     const CounterDevices& devices) const {
  const Entity& process = counter.process;
  const bool is_process = process.number > 0 || !process.has_number;
  if (is_process && hosts_.count(process) != 0) return {counter.device, true, false};
  if (IsDevice(process, devices))
    return {counter.device < 0 ? process.number : counter.device, false, false};
  return {counter.device, is_process, is_process};
}

void KinetoImporter::GiveCounters() {
  if (counters_.empty()) return;
  CounterDevices devices;
  for (const DeviceRow& row : device_rows_) devices.emplace(groups_[row.group], row.device);
  std::vector<std::pair<const CounterKey*, CounterPlace>> known, others;
  for (const auto& [counter, values] : counters_) {
    const CounterPlace place = PlaceOf(counter, devices);
    (place.is_new ? others : known).emplace_back(&counter, place);
  }
  // Processes that have counters alone come last: they must not hide the only other process.
  for (const auto& [counter, place] : known) GiveCounter(*counter, place);
  for (const auto& [counter, place] : others) GiveCounter(*counter, place);
  counters_.clear();
}

KinetoImporter::Host& KinetoImporter::OwnerOf(const CounterKey& counter,
                                              const CounterPlace& place) {
  if (place.is_process) return HostOf(counter.process);
  DeviceRow row;
  row.group = GroupOf(counter.process.prefix);
  row.device = static_cast<uint32_t>(std::max<int64_t>(place.device, 0));
  return OwnerOf(row);
}

void KinetoImporter::GiveCounter(const CounterKey& counter, const CounterPlace& place) {
  Host& host = OwnerOf(counter, place);
  ProcessBuilder& builder = *host.builder;
  const std::vector<CounterValue>& values = counters_[counter];
  const uint32_t decimals = CommonDecimals(values);
  proto::Counter described;
  described.set_name(texts_[counter.name]);
  described.set_source(texts_[counter.key]);
  described.set_divisor(DivisorOf(decimals));
  const uint32_t id = builder.AddCounter(std::move(described));
  uint32_t timeline = 0;
  if (place.device >= 0) {
    timeline = builder.Stream(static_cast<uint32_t>(place.device), 0, kNoCudaId);
  } else if (host.entity.has_number) {
    timeline = builder.Thread(host.entity.number);
  } else {
    timeline = TimelineOf(&host, host.entity);
  }
  for (const CounterValue& value : values)
    builder.AddCounterValue(timeline, value.time, id, Scaled(value.number, decimals));
}

}  // namespace gpuprof::analysis::import
