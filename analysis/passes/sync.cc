// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `sync`: sums over the waits for the GPU, by kind of wait and the call that waited, by
// thread, or by the stream waited for.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/event_records.h"
#include "analysis/model/names.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "proto/results/sync.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kShort = 10'000;
enum class Grouping { kKind, kThread, kStream };
// In place of a track: no stream alone was waited for, or it is not known which.
constexpr uint32_t kWholeContext = 0xffffffff, kUnknownStream = 0xfffffffe;

struct Key {
  size_t owner;          // process
  int32_t tid;           // 0: of all threads
  uint32_t kind;         // of a thread or stream: 0
  uint32_t track;        // of the stream waited for; else 0
  std::string function;  // "": not recorded
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  SampleList durations;
  int64_t max_ns = -1;
  int64_t max_start_ns = 0;
  std::optional<int32_t> max_tid;      // of the thread that waited
  std::optional<uint32_t> max_device;  // of the stream that waited
};

using Groups = std::map<Key, Sums>;

// What the wait in row `i` of that track was for.
uint32_t StreamOf(const Process& process, const EventRecords& records, uint32_t track, size_t i) {
  const SyncTable& table = process.tracks[track].sync;
  if (table.operation[i] == kStreamWait) return records.OfDevice(track);
  if (table.operation[i] == kContextWait) return kWholeContext;
  const EventRecord* record = table.operation[i] == kEventWait ? records.Find(table, i) : nullptr;
  return record == nullptr ? kUnknownStream : record->track;
}

Key KeyOf(Grouping by, size_t owner, const Process& process, const CallIndex& calls,
          const SyncTable& table, size_t i) {
  const std::optional<Call> call = calls.Find(table.correlation[i]);
  const Track* track = !call ? nullptr : &process.tracks[call->track];
  if (by == Grouping::kThread) return {owner, track == nullptr ? 0 : track->tid, 0, 0, ""};
  return {owner, 0, table.operation[i], 0,
          track == nullptr ? "" : ApiFunctionName(process, track->api.function[call->row])};
}

// Keeps the wait in row `i` of that track as the longest.
void SetLongest(const Process& process, const CallIndex& calls, uint32_t track, size_t i,
                Sums* sums) {
  const SyncTable& table = process.tracks[track].sync;
  sums->max_ns = table.duration_ns[i];
  sums->max_start_ns = table.end_ns[i] - table.duration_ns[i];
  sums->max_tid.reset();
  sums->max_device.reset();
  const std::optional<Call> call = calls.Find(table.correlation[i]);
  if (table.operation[i] == kStreamEventWait) {
    if (process.tracks[track].is_stream) sums->max_device = process.tracks[track].device;
  } else if (call) {
    sums->max_tid = process.tracks[call->track].tid;
  }
}

void AddProcess(size_t owner, const Process& process, const CallIndex& calls, Grouping by,
                Groups* groups, results::Syncs* out) {
  const EventRecords records(process, calls);
  for (uint32_t t = 0; t < process.tracks.size(); ++t) {
    const SyncTable& table = process.tracks[t].sync;
    for (size_t i = 0; i < table.rows(); ++i) {
      const bool is_host = table.operation[i] != kStreamEventWait;
      if (by != Grouping::kKind && !is_host) continue;
      const int64_t duration = table.duration_ns[i];
      const uint32_t weight = table.weight[i];
      const Key key = by == Grouping::kStream
                          ? Key{owner, 0, 0, StreamOf(process, records, t, i), ""}
                          : KeyOf(by, owner, process, calls, table, i);
      Sums& sums = (*groups)[key];
      sums.durations.Add(duration, weight);
      if (duration > sums.max_ns) SetLongest(process, calls, t, i, &sums);
      out->set_count(out->count() + weight);
      if (!is_host) continue;
      out->set_host_ns(out->host_ns() + duration * weight);
      out->set_host_max_ns(std::max(out->host_max_ns(), duration));
    }
  }
}

uint64_t ShortOf(const SampleList& durations) {
  uint64_t count = 0;
  for (size_t i = 0; i < durations.values().size(); ++i)
    count += durations.values()[i] < kShort ? durations.Weight(i) : 0;
  return count;
}

void NameStream(const Process& process, uint32_t track, results::Sync* row) {
  if (track >= process.tracks.size()) {
    row->set_name(track == kWholeContext ? "all streams" : "unknown stream");
    return;
  }
  const Track& stream = process.tracks[track];
  row->set_name(StreamName(stream));
  row->set_device(stream.device);
  row->set_context(stream.context);
  row->set_stream(stream.stream);
}

void FillRow(Grouping by, const Key& key, const Process& process, Sums* sums, int64_t all_ns,
             results::Sync* row) {
  SetProcess(process, row);
  if (by == Grouping::kThread) {
    row->set_name(key.tid == 0 ? "unknown thread" : ThreadName(process, key.tid));
    row->set_tid(key.tid);
  } else if (by == Grouping::kStream) {
    NameStream(process, key.track, row);
  } else {
    row->set_name(std::string(SyncKindName(key.kind)));
    if (!key.function.empty()) row->set_function(key.function);
  }
  row->set_short_count(ShortOf(sums->durations));
  const Samples durations = sums->durations.Take();
  row->set_count(durations.size());
  row->set_total_ns(durations.total());
  if (key.kind != kStreamEventWait) row->set_total_ratio(Ratio(durations.total(), all_ns));
  row->set_mean_ns(durations.mean());
  row->set_median_ns(durations.median());
  row->set_max_ns(durations.max());
  row->set_max_start_ns(sums->max_start_ns);
  if (sums->max_tid) row->set_max_tid(*sums->max_tid);
  if (sums->max_device) row->set_max_device(*sums->max_device);
}

}  // namespace

Error RunSync(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Syncs>();
  const std::string by = context.By("kind");
  const Grouping grouping = by == "thread"   ? Grouping::kThread
                            : by == "stream" ? Grouping::kStream
                                             : Grouping::kKind;
  Groups groups;
  std::map<size_t, const Process*> processes;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    // Tracks are an image's own.
    const size_t owner = grouping == Grouping::kStream ? index : context.Owner(index);
    processes[owner] = &process;
    AddProcess(owner, process, context.calls(index), grouping, &groups, out.get());
  }
  for (auto& [key, sums] : groups)
    FillRow(grouping, key, *processes[key.owner], &sums, out->host_ns(), out->add_syncs());
  SortByTotal(out->mutable_syncs());
  out->set_by(by);
  context.FillCountMeta("sync", out->mutable_meta());
  AddSampledNote(context, "", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
