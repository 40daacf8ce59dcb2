// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See stream_waits.h. A stream works in the order in which it is given work. So a wait is for the
// work that the recording stream had been given before the recording, and holds up the work that
// the waiting stream is given next: from the moment on in which nothing else does.

#include "analysis/passes/device/stream_waits.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/device_work.h"
#include "analysis/derived/event_records.h"
#include "analysis/passes/context.h"
#include "analysis/steps/interval.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

// Work that has no name of its own; beyond all string ids.
constexpr uint32_t kCopy = 0xffffff00, kSet = 0xffffff01, kGraph = 0xffffff02;

struct Work {
  int64_t launch_start, launch_end, start, end;
  uint32_t name;
};

// In the order in which the stream was given it.
struct Stream {
  std::vector<Work> work;
  std::vector<uint32_t> latest;  // of the work up to here, what ended last
};

uint32_t NameOfWork(const Process& process, const Track& track, const DeviceWork& work) {
  if (work.kind == DeviceWorkKind::kCopy) return kCopy;
  if (work.kind == DeviceWorkKind::kSet) return kSet;
  if (work.kind == DeviceWorkKind::kGraph) return kGraph;
  const auto signature = process.signatures.find(track.kernel.signature[work.row]);
  return signature == process.signatures.end() ? 0 : signature->second.name();
}

Stream StreamOf(const Process& process, const Track& track, const CallIndex& calls) {
  Stream stream;
  ForEachDeviceWork(track, [&](const DeviceWork& work) {
    const std::optional<Call> launch = calls.Find(work.correlation);
    if (!launch) return;
    stream.work.push_back({launch->start_ns, launch->end_ns, work.span.start, work.span.end,
                           NameOfWork(process, track, work)});
  });
  std::stable_sort(stream.work.begin(), stream.work.end(), [](const Work& x, const Work& y) {
    return x.launch_start != y.launch_start ? x.launch_start < y.launch_start : x.start < y.start;
  });
  for (uint32_t i = 0; i < stream.work.size(); ++i) {
    const bool is_latest = i == 0 || stream.work[i].end >= stream.work[stream.latest.back()].end;
    stream.latest.push_back(is_latest ? i : stream.latest.back());
  }
  return stream;
}

// Index of the first work whose launch began at `time` or later.
size_t FirstFrom(const Stream& stream, int64_t time) {
  const auto at =
      std::lower_bound(stream.work.begin(), stream.work.end(), time,
                       [](const Work& work, int64_t t) { return work.launch_start < t; });
  return static_cast<size_t>(at - stream.work.begin());
}

// Null: it was given none of which the trace knows.
const Work* LatestBefore(const Stream& stream, size_t index) {
  return index == 0 ? nullptr : &stream.work[stream.latest[index - 1]];
}

struct Pair {
  uint64_t count = 0, blocking_count = 0;
  int64_t max_ns = 0;
  std::vector<Interval> held_up;
  std::map<uint32_t, int64_t> by_name;
};

// The waiting track, and the recording one; kUnknown: not known.
using Pairs = std::map<std::pair<uint32_t, uint32_t>, Pair>;
constexpr uint32_t kUnknown = 0xffffffff;

// `wait`: when the call began; `record`: when that of the recording did.
void AddHeldUp(const Stream& waiting, int64_t wait, const Stream& recording, int64_t record,
               Pair* pair) {
  const size_t next = FirstFrom(waiting, wait);
  const Work* awaited = LatestBefore(recording, FirstFrom(recording, record));
  if (next == waiting.work.size() || awaited == nullptr) return;
  const Work& held = waiting.work[next];
  const Work* before = LatestBefore(waiting, next);
  const int64_t ready =
      before == nullptr ? held.launch_end : std::max(held.launch_end, before->end);
  const Interval span = {ready, std::min(awaited->end, held.start)};
  if (span.length() <= 0) return;
  ++pair->blocking_count;
  pair->max_ns = std::max(pair->max_ns, span.length());
  pair->held_up.push_back(span);
  pair->by_name[awaited->name] += span.length();
}

std::string NameOf(const Process& process, uint32_t name) {
  if (name == kCopy) return "copy";
  if (name == kSet) return "set";
  if (name == kGraph) return "graph";
  return Demangle(process.String(name).c_str());
}

void FillRow(const Process& process, const std::pair<uint32_t, uint32_t>& tracks, Pair* pair,
             results::StreamWait* row) {
  const Track& waiting = process.tracks[tracks.first];
  SetProcess(process, row);
  row->set_device(waiting.device);
  row->set_context(waiting.context);
  row->set_stream(waiting.stream);
  row->set_count(pair->count);
  if (tracks.second == kUnknown) return;
  const Track& recording = process.tracks[tracks.second];
  row->set_for_device(recording.device);
  row->set_for_context(recording.context);
  row->set_for_stream(recording.stream);
  row->set_blocking_count(pair->blocking_count);
  row->set_held_up_ns(TotalLength(UnionOf(std::move(pair->held_up))));
  row->set_held_up_max_ns(pair->max_ns);
  const auto most =
      std::max_element(pair->by_name.begin(), pair->by_name.end(),
                       [](const auto& x, const auto& y) { return x.second < y.second; });
  if (most != pair->by_name.end()) row->set_name(NameOf(process, most->first));
}

}  // namespace

void AddStreamWaits(const Process& process, const CallIndex& calls, results::Streams* out) {
  const EventRecords records(process, calls);
  const auto& rates = process.health.gpu_rate();
  const bool is_sampled = std::any_of(
      rates.begin(), rates.end(), [](const proto::GpuRate& rate) { return rate.left_out() != 0; });
  std::map<uint32_t, Stream> streams;
  const auto stream_of = [&](uint32_t track) -> const Stream& {
    const auto [at, added] = streams.try_emplace(track);
    if (added) at->second = StreamOf(process, process.tracks[track], calls);
    return at->second;
  };
  Pairs pairs;
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const SyncTable& waits = process.tracks[t].sync;
    for (size_t i = 0; i < waits.rows(); ++i) {
      if (waits.operation[i] != kStreamEventWait) continue;
      const EventRecord* record = records.Find(waits, i);
      const uint32_t own = records.OfDevice(t);
      Pair& pair = pairs[{own, record == nullptr ? kUnknown : record->track}];
      pair.count += waits.weight[i];
      // What else there was to do is not known where a part was left out.
      if (record == nullptr || is_sampled) continue;
      const std::optional<Call> call = calls.Find(waits.correlation[i]);
      const int64_t began = call ? call->start_ns : waits.end_ns[i] - waits.duration_ns[i];
      AddHeldUp(stream_of(own), began, stream_of(record->track), record->time_ns, &pair);
    }
  }
  for (auto& [tracks, pair] : pairs) FillRow(process, tracks, &pair, out->add_waits());
}

}  // namespace gpuprof::analysis
