// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trace.h.

#include "analysis/model/trace.h"

#include <algorithm>

namespace gpuprof::analysis {

std::string Process::String(uint32_t id) const {
  if (id == 0) return "";
  const auto found = strings.find(id);
  if (found != strings.end()) return found->second;
  if (id == 1) return "(name not kept: string table full)";
  return "(string " + std::to_string(id) + " missing)";
}

const proto::Device* Process::FindDevice(uint32_t id) const {
  for (const proto::Device& device : devices) {
    if (device.id() == id) return &device;
  }
  return nullptr;
}

uint32_t Process::ProgramThreads() const {
  return static_cast<uint32_t>(std::count_if(tracks.begin(), tracks.end(), [](const Track& track) {
    return !track.tool && !track.is_stream;
  }));
}

}  // namespace gpuprof::analysis
