// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See places.h.

#include "analysis/export/places.h"

#include <set>
#include <utility>

#include "analysis/model/process_name.h"

namespace gpuprof::analysis {
namespace {

// Devices are shown below all processes of the host, as Kineto does.
constexpr int64_t kFirstDeviceSortIndex = 5'000'000;

std::string PidText(const std::string& prefix, int64_t number) {
  if (prefix.empty()) return std::to_string(number);
  std::string text;
  AppendJsonString(prefix + std::to_string(number), &text);
  return text;
}

void WriteRow(const Place& place, const std::string& name, int64_t sort_index, EventWriter* out) {
  if (!name.empty()) {
    out->Metadata("thread_name", place);
    out->Arg("name", name);
    out->End();
  }
  out->Metadata("thread_sort_index", place);
  out->Arg("sort_index", sort_index);
  out->End();
}

void WriteGroup(std::string_view pid, const std::string& name, const std::string& label,
                int64_t sort_index, EventWriter* out) {
  const Place place = {pid, 0};
  if (!name.empty()) {
    out->Metadata("process_name", place);
    out->Arg("name", name);
    out->End();
  }
  out->Metadata("process_labels", place);
  out->Arg("labels", label);
  out->End();
  out->Metadata("process_sort_index", place);
  out->Arg("sort_index", sort_index);
  out->End();
}

// Returns the name without the rank, which has a place of its own. Empty: only the pid is known.
std::string NameWithoutRank(const Process& process) {
  const std::string name = ProcessName(process);
  const std::optional<Rank> rank = RankOf(process);
  const std::string end = rank ? " rank " + std::to_string(rank->number) : "";
  if (process.executable.empty() && process.argv.empty() && process.title.empty()) return "";
  return !rank || !name.ends_with(end) ? name : name.substr(0, name.size() - end.size());
}

// A thread without rows is not shown.
bool HasHostRows(const Track& track) {
  return track.op.rows() + track.python.rows() + track.tensor.rows() + track.range.rows() +
             track.api.rows() + track.overhead.rows() !=
         0;
}

// Counters alone make no row of a stream.
bool HasOnlyCounters(const Track& track) {
  const size_t rows = track.kernel.rows() + track.memcpy.rows() + track.memset.rows() +
                      track.sync.rows() + track.overhead.rows() + track.range.rows();
  return track.counter.rows() != 0 && rows == 0;
}

}  // namespace

bool UsesGpu(const Process& process) {
  for (const Track& track : process.tracks) {
    if (track.kernel.rows() + track.memcpy.rows() + track.memset.rows() + track.sync.rows() != 0)
      return true;
  }
  return false;
}

int64_t StreamNumber(uint32_t stream) { return stream == kNoCudaId ? -1 : int64_t{stream}; }

Places::Places(const Process& process, const std::string& prefix, const std::string& device_prefix,
               uint64_t number)
    : pid_(PidText(prefix, process.pid)), flows_(number << 32) {
  for (const Track& track : process.tracks) {
    if (track.is_stream)
      devices_.try_emplace(track.device, PidText(device_prefix, StreamNumber(track.device)));
  }
  for (const proto::Device& device : process.devices)
    devices_.try_emplace(device.id(), PidText(device_prefix, device.id()));
}

std::string_view Places::DevicePid(uint32_t device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? std::string_view(pid_) : std::string_view(found->second);
}

Place Places::Of(const Track& track) const {
  if (track.is_stream) return OfStream(track, track.stream);
  return {pid_, int64_t{static_cast<uint32_t>(track.tid)}};
}

Place Places::OfStream(const Track& track, uint32_t stream) const {
  return {DevicePid(track.device), StreamNumber(stream)};
}

void WritePlaces(const Process& process, const Places& places, EventWriter* out) {
  const std::string name = NameWithoutRank(process);
  WriteGroup(places.pid(), name, "CPU", process.pid, out);
  for (const auto& [device, pid] : places.devices())
    WriteGroup(pid, name, "GPU " + std::to_string(device), kFirstDeviceSortIndex + device, out);
  std::set<std::pair<uint32_t, uint32_t>> streams;
  for (const Track& track : process.tracks) {
    if (track.is_stream) {
      if (HasOnlyCounters(track)) continue;
      // Streams of two contexts may have one number. Then they are shown as one.
      if (!streams.emplace(track.device, track.stream).second) continue;
      const Place place = places.Of(track);
      const std::string number =
          place.tid < 0 ? "no stream" : "stream " + std::to_string(place.tid);
      WriteRow(place, number + " " + track.name, place.tid, out);
    } else if (HasHostRows(track)) {
      const Place place = places.Of(track);
      const std::string thread = "thread " + std::to_string(place.tid);
      WriteRow(place, track.name.empty() ? "" : thread + " (" + track.name + ")", place.tid, out);
    }
  }
}

}  // namespace gpuprof::analysis
