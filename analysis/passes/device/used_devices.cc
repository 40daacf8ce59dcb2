// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See used_devices.h.

#include "analysis/passes/device/used_devices.h"

#include <algorithm>
#include <set>
#include <string>

#include "analysis/passes/device/device_gaps.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kMostNotes = 4;  // before devices are told together
constexpr size_t kMostUsers = 8;    // that a note names

// What tells a device from others.
struct Key {
  std::string host;
  std::string uuid;  // "": not recorded; else what follows the instances is 0
  uint32_t gpu_instance = kNoCudaId;
  uint32_t compute_instance = kNoCudaId;
  size_t owner = 0;
  uint32_t number = 0;
  auto operator<=>(const Key&) const = default;
};

// A record that has no uuid leaves zeros.
bool IsUuid(const std::string& bytes) {
  return std::any_of(bytes.begin(), bytes.end(), [](char c) { return c != 0; });
}

Key KeyOf(const PassContext& context, size_t index, uint32_t number) {
  const Process& process = context.process(index);
  Key key;
  key.host = process.host;
  const proto::Device* device = process.FindDevice(number);
  if (device == nullptr || !IsUuid(device->uuid())) {
    key.owner = context.Owner(index);
    key.number = number;
    return key;
  }
  key.uuid = device->uuid();
  if (device->is_mig()) {
    key.gpu_instance = device->gpu_instance();
    key.compute_instance = device->compute_instance();
  }
  return key;
}

std::set<uint32_t> NumbersOf(const Process& process) {
  std::set<uint32_t> numbers;
  for (const Track& track : process.tracks) {
    if (HasWork(track)) numbers.insert(track.device);
  }
  return numbers;
}

// One process never calls a device by two numbers.
bool HaveCommonUser(const UsedDevice& one, const UsedDevice& other) {
  return std::any_of(one.users.begin(), one.users.end(), [&](const UsedDevice::User& user) {
    return std::any_of(
        other.users.begin(), other.users.end(),
        [&](const UsedDevice::User& another) { return user.process == another.process; });
  });
}

uint32_t Owners(const PassContext& context, const UsedDevice& device) {
  std::set<size_t> owners;
  for (const UsedDevice::User& user : device.users) owners.insert(context.Owner(user.process));
  return static_cast<uint32_t>(owners.size());
}

std::string NameOf(const PassContext& context, const UsedDevice::User& user) {
  return "device " + std::to_string(user.number) + " of pid " +
         std::to_string(context.process(user.process).pid);
}

}  // namespace

UsedDevices::UsedDevices(const PassContext& context) {
  std::map<Key, size_t> known;
  std::vector<bool> is_selected(context.trace().processes.size());
  for (const size_t index : context.selected()) {
    is_selected[index] = true;
    for (const uint32_t number : NumbersOf(context.process(index))) {
      const Key key = KeyOf(context, index, number);
      const auto [at, is_new] = known.try_emplace(key, devices_.size());
      if (is_new) devices_.emplace_back().has_uuid = !key.uuid.empty();
      devices_[at->second].users.push_back({index, number});
      places_[{index, number}] = at->second;
    }
  }
  std::set<size_t> left_out;
  for (size_t index = 0; index < is_selected.size(); ++index) {
    if (is_selected[index]) continue;
    for (const uint32_t number : NumbersOf(context.process(index))) {
      if (known.count(KeyOf(context, index, number)) != 0) left_out.insert(context.Owner(index));
    }
  }
  left_out_process_count_ = static_cast<uint32_t>(left_out.size());
  const auto host_of = [&](const UsedDevice& device) -> const std::string& {
    return context.process(device.users.front().process).host;
  };
  for (UsedDevice& device : devices_) {
    device.owner_count = Owners(context, device);
    device.is_untold = !device.has_uuid &&
                       std::any_of(devices_.begin(), devices_.end(), [&](const UsedDevice& other) {
                         return host_of(other) == host_of(device) && !HaveCommonUser(other, device);
                       });
  }
}

uint32_t UsedDevices::shared_count() const {
  return static_cast<uint32_t>(
      std::count_if(devices_.begin(), devices_.end(),
                    [](const UsedDevice& device) { return device.owner_count > 1; }));
}

uint32_t UsedDevices::untold_count() const {
  return static_cast<uint32_t>(std::count_if(
      devices_.begin(), devices_.end(), [](const UsedDevice& device) { return device.is_untold; }));
}

void AddUntoldNote(const UsedDevices& devices, std::string_view meaning, results::Meta* meta) {
  const uint32_t untold = devices.untold_count();
  if (untold == 0) return;
  meta->add_notes("no UUID was recorded for " + std::to_string(untold) + " of " +
                  std::to_string(devices.all().size()) +
                  " devices; several processes may have shared them: " + std::string(meaning));
}

void AddSharedNotes(const PassContext& context, const UsedDevices& devices, results::Meta* meta) {
  constexpr std::string_view kMeaning =
      "; each row belongs to one process; while its row says idle, the GPU may have worked for "
      "another process";
  const uint32_t count = devices.shared_count();
  if (count > kMostNotes) {
    meta->add_notes(std::to_string(count) + " GPUs were each used by several processes" +
                    std::string(kMeaning));
    return;
  }
  for (const UsedDevice& device : devices.all()) {
    if (device.owner_count < 2) continue;
    std::string names;
    for (size_t i = 0; i < std::min(device.users.size(), kMostUsers); ++i)
      names += (i == 0 ? "" : ", ") + NameOf(context, device.users[i]);
    if (device.users.size() > kMostUsers)
      names += " and " + std::to_string(device.users.size() - kMostUsers) + " more";
    meta->add_notes("one GPU: " + names + std::string(kMeaning));
  }
}

}  // namespace gpuprof::analysis
