// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/passes/device/given_names.h"

#include <limits>
#include <utility>

#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

std::string NameOf(uint32_t stream, const std::string& given) {
  if (stream == kNoCudaId) return "no stream";
  return "stream " + std::to_string(stream) + (given.empty() ? "" : " (" + given + ")");
}

}  // namespace

std::string StreamName(const Process& process, uint32_t device, uint32_t context, uint32_t stream) {
  for (const Track& track : process.tracks) {
    const bool is_it = track.is_stream && track.device == device && track.context == context &&
                       track.stream == stream;
    if (is_it && !track.name.empty()) return NameOf(stream, track.name);
  }
  return NameOf(stream, "");
}

std::string StreamName(const Track& track) { return NameOf(track.stream, track.name); }

std::map<uint32_t, std::string> DeviceNames(const Process& process) {
  std::map<uint32_t, std::pair<int64_t, std::string>> last;  // and when it was given
  for (const Track& track : process.tracks) {
    const RangeTable& ranges = track.range;
    for (size_t i = 0; i < ranges.rows(); ++i) {
      if (proto::RangeKindOf(ranges.operation[i]) != proto::RangeKind::kNameDevice) continue;
      // The driver's handle of a device is its number, as the runtime's.
      if (ranges.payload[i] > std::numeric_limits<uint32_t>::max()) continue;
      auto& name = last[static_cast<uint32_t>(ranges.payload[i])];
      if (name.second.empty() || name.first <= ranges.end_ns[i])
        name = {ranges.end_ns[i], process.String(ranges.name[i])};
    }
  }
  std::map<uint32_t, std::string> names;
  for (auto& [device, name] : last) names[device] = std::move(name.second);
  return names;
}

}  // namespace gpuprof::analysis
