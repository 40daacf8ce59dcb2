// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The devices that the selected processes worked on, each once, although processes may number it
// differently. Devices differ by host and CUPTI's uuid, and with MIG also by the instances. Without
// a recorded uuid, each number of each process is a device, and two of them may be the same. For
// passes whose figures are of devices and not of processes. One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/passes/context.h"

namespace gpuprof::analysis {

struct UsedDevice {
  struct User {
    size_t process = 0;   // index in the trace
    uint32_t number = 0;  // the number that the process uses for the device
  };
  std::vector<User> users;   // by index
  uint32_t owner_count = 0;  // processes, images before an exec not counted
  bool has_uuid = false;
  // The device has no uuid, and other processes used a device of its host that may be the same.
  bool is_untold = false;
};

class UsedDevices {
 public:
  explicit UsedDevices(const PassContext& context);

  // Returns the devices in the order in which the trace's processes used them.
  const std::vector<UsedDevice>& all() const { return devices_; }
  // Returns the index in all() of the device that a selected process calls `number`. The process
  // must have work on the device.
  size_t Of(size_t process, uint32_t number) const { return places_.at({process, number}); }

  uint32_t shared_count() const;  // used by several processes
  uint32_t untold_count() const;
  // Processes that were not asked for, and worked on one of them too.
  uint32_t left_out_process_count() const { return left_out_process_count_; }

 private:
  std::vector<UsedDevice> devices_;
  std::map<std::pair<size_t, uint32_t>, size_t> places_;
  uint32_t left_out_process_count_ = 0;
};

// Adds a note if devices have no uuid, with the meaning of this for the figures.
void AddUntoldNote(const UsedDevices& devices, std::string_view meaning, results::Meta* meta);

// Adds notes about which rows of different processes belong to the same device.
void AddSharedNotes(const PassContext& context, const UsedDevices& devices, results::Meta* meta);

}  // namespace gpuprof::analysis
