// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See event_records.h.

#include "analysis/derived/event_records.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gpuprof::analysis {
namespace {

// A number that came twice names neither.
constexpr uint32_t kSeveral = 0xffffffff;

struct Found {
  EventRecord record;
  uint32_t event;
  uint64_t number;
};

std::vector<Found> RecordsOf(const Process& process) {
  std::vector<Found> all;
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const CudaEventTable& table = process.tracks[t].cuda_event;
    for (size_t i = 0; i < table.rows(); ++i)
      all.push_back({{table.time_ns[i], t, table.correlation[i]}, table.event[i], table.record[i]});
  }
  std::stable_sort(all.begin(), all.end(), [](const Found& x, const Found& y) {
    return x.record.time_ns < y.record.time_ns;
  });
  return all;
}

}  // namespace

EventRecords::EventRecords(const Process& process, const CallIndex& calls)
    : process_(&process), calls_(&calls) {
  JoinTracks();
  for (const proto::Loss& loss : process.health.loss()) {
    const bool is_gpu =
        loss.kind() == proto::LOSS_GPU_DROPPED || loss.kind() == proto::LOSS_GPU_TIMES;
    if (is_gpu && loss.count() != 0) is_whole_ = false;
  }
  for (const proto::GpuRate& rate : process.health.gpu_rate()) {
    if (rate.left_out() != 0) is_whole_ = false;
  }
  for (const Found& found : RecordsOf(process)) {
    const auto index = static_cast<uint32_t>(records_.size());
    records_.push_back(
        {found.record.time_ns, OfDevice(found.record.track), found.record.correlation});
    OfEvent& of_event = by_id_[found.event];
    const auto context = [&](uint32_t i) { return process.tracks[records_[i].track].context; };
    if (!of_event.records.empty() && context(index) != context(of_event.records.front()))
      of_event.is_of_one_context = false;
    of_event.records.push_back(index);
    if (found.number == 0) continue;
    const auto [at, added] = by_number_.try_emplace(found.number, index);
    if (!added) at->second = kSeveral;
  }
}

// Numbers of streams are their context's own, and a context is of one device.
void EventRecords::JoinTracks() {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;  // by context and stream
  const std::vector<Track>& tracks = process_->tracks;
  for (uint32_t t = 0; t < tracks.size(); ++t) {
    if (tracks[t].is_stream && tracks[t].device != kNoCudaId)
      known.emplace(std::pair(tracks[t].context, tracks[t].stream), t);
  }
  for (uint32_t t = 0; t < tracks.size(); ++t) {
    const bool is_known = !tracks[t].is_stream || tracks[t].device != kNoCudaId;
    const auto other =
        is_known ? known.end() : known.find(std::pair(tracks[t].context, tracks[t].stream));
    of_device_.push_back(other == known.end() ? t : other->second);
  }
}

// The last one that began by then; 0: none.
size_t EventRecords::CaptureOf(int64_t time_ns) const {
  size_t began = 0;
  while (began < process_->captures.size() && process_->captures[began].start_ns <= time_ns)
    ++began;
  return began;
}

const EventRecord* EventRecords::Find(const SyncTable& waits, size_t row) const {
  if (const uint64_t number = waits.event_record[row]; number != 0) {
    const auto found = by_number_.find(number);
    return found == by_number_.end() || found->second == kSeveral ? nullptr
                                                                  : &records_[found->second];
  }
  // The last one that is there may not be the last one that there was.
  if (!is_whole_) return nullptr;
  const auto of_event = by_id_.find(waits.event[row]);
  if (of_event == by_id_.end() || !of_event->second.is_of_one_context) return nullptr;
  const std::vector<uint32_t>& ids = of_event->second.records;
  const std::optional<Call> call = calls_->Find(waits.correlation[row]);
  const int64_t began = call ? call->start_ns : waits.end_ns[row] - waits.duration_ns[row];
  const auto behind = std::upper_bound(
      ids.begin(), ids.end(), began,
      [this](int64_t time, uint32_t index) { return time < records_[index].time_ns; });
  if (behind == ids.begin()) return nullptr;
  const EventRecord& last = records_[*(behind - 1)];
  // Between two captures it may have been recorded once more.
  return CaptureOf(last.time_ns) == CaptureOf(began) ? &last : nullptr;
}

}  // namespace gpuprof::analysis
