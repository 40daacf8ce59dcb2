// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The rows in which the events of a process are shown. A thread has its pid and tid. A stream has
// the number of its device as pid, and its own number as tid.
//
// If several processes used GPUs, these numbers are not enough: each of the processes may have a
// device 0, and numbers of calls repeat. Then all pids are texts with a prefix. Process 4711 of
// rank 3 becomes "[rank 3] 4711", and its first device "[rank 3] 0". A process without a known rank
// has its own number in the prefix. Arrows get numbers that no other process has.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "analysis/export/event_writer.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// Returns whether the process has rows of a GPU.
bool UsesGpu(const Process& process);

class Places {
 public:
  // Takes the prefix of all pids, "" or "[rank 3] ", and the number of the process in this file.
  Places(const Process& process, const std::string& prefix, uint64_t number)
      : Places(process, prefix, prefix, number) {}
  // Takes a prefix for devices, so that no device has the pid of a process.
  Places(const Process& process, const std::string& prefix, const std::string& device_prefix,
         uint64_t number);

  std::string_view pid() const { return pid_; }
  // Returns the pid under which the streams of a device are shown.
  std::string_view DevicePid(uint32_t device) const;
  Place Of(const Track& track) const;
  // Returns the place of a stream by its number, on the device of `track`.
  Place OfStream(const Track& track, uint32_t stream) const;
  const std::map<uint32_t, std::string>& devices() const { return devices_; }
  uint64_t FlowOf(uint32_t correlation) const { return flows_ | correlation; }

 private:
  std::string pid_;
  std::map<uint32_t, std::string> devices_;
  uint64_t flows_;
};

// Returns the number of a thread or stream as a reader of JSON expects it. The number that stands
// for none becomes -1.
int64_t StreamNumber(uint32_t stream);

// Describes the process, its threads, its devices and their streams.
void WritePlaces(const Process& process, const Places& places, EventWriter* out);

}  // namespace gpuprof::analysis
