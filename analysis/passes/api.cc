// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `api`: sums over the CUDA calls of all threads, and how long the work that they began
// took to begin on the device.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "proto/results/api.pb.h"

namespace gpuprof::analysis {
namespace {

// cudaErrorNotReady and CUDA_ERROR_NOT_READY: the answer to a question, no fault.
constexpr uint32_t kNotReady = 600;
constexpr uint32_t kDriverDomain = 1;

struct Key {
  size_t owner;      // process
  int32_t tid;       // 0: of all threads
  std::string name;  // "" of a thread
  uint32_t domain;   // 0: of both
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  SampleList durations;
  int64_t max_ns = -1;
  int64_t max_start_ns = 0;
  int32_t max_tid = 0;
  uint64_t errors = 0;
  int64_t first_error_ns = 0;
  uint32_t first_error = 0;
  uint64_t work = 0;
  uint64_t delayed = 0;  // work that began after its call
  int64_t delay_ns = 0;
};

using Groups = std::map<Key, Sums>;

Key KeyOf(bool by_thread, size_t owner, const Process& process, const Track& track,
          uint32_t function) {
  if (by_thread) return {owner, track.tid, "", 0};
  return {owner, 0, ApiFunctionName(process, function), proto::ApiDomainOf(function)};
}

// Finds the sums of a function. A key has texts, so each is made once.
class GroupFinder {
 public:
  GroupFinder(bool by_thread, size_t owner, const Process& process, Groups* groups)
      : by_thread_(by_thread), owner_(owner), process_(process), groups_(groups) {}

  Sums* Of(const Track& track, uint32_t function) {
    const uint32_t number = by_thread_ ? static_cast<uint32_t>(track.tid) : function;
    if (last_ != nullptr && number == last_number_) return last_;
    Sums*& sums = known_[number];
    if (sums == nullptr) sums = &(*groups_)[KeyOf(by_thread_, owner_, process_, track, function)];
    last_number_ = number;
    return last_ = sums;
  }

 private:
  const bool by_thread_;
  const size_t owner_;
  const Process& process_;
  Groups* const groups_;
  std::unordered_map<uint32_t, Sums*> known_;
  uint32_t last_number_ = 0;
  Sums* last_ = nullptr;
};

struct CallColumns {
  explicit CallColumns(const ApiTable& calls)
      : end_ns(calls.end_ns),
        duration_ns(calls.duration_ns),
        weight(calls.weight),
        result(calls.result) {}

  Column<int64_t>::Reader end_ns, duration_ns;
  Column<uint32_t>::Reader weight, result;
};

void AddCall(const Track& track, const CallColumns& calls, size_t i, Sums* sums) {
  const int64_t duration = calls.duration_ns[i];
  if (duration > sums->max_ns) {
    sums->max_ns = duration;
    sums->max_start_ns = calls.end_ns[i] - duration;
    sums->max_tid = track.tid;
  }
  const uint32_t weight = calls.weight[i];
  sums->durations.Add(duration, weight);
  const uint32_t code = calls.result[i];
  if (code == 0 || code == kNotReady) return;
  const int64_t time = calls.end_ns[i];
  const bool is_first = sums->errors == 0;
  sums->errors += weight;
  if (is_first || time < sums->first_error_ns) {
    sums->first_error_ns = time;
    sums->first_error = code;
  }
}

// Adds the work to the call that began it.
void AddWork(const Process& process, const DeviceWork& work, const CallIndex& calls,
             GroupFinder* finder) {
  const std::optional<Call> launch = calls.Find(work.correlation);
  if (!launch) return;
  const Track& track = process.tracks[launch->track];
  Sums& sums = *finder->Of(track, track.api.function[launch->row]);
  sums.work += work.weight;
  // Clocks that do not agree let work begin before its call: then the delay is not known.
  const int64_t delay_ns = work.span.start - launch->start_ns;
  if (delay_ns < 0) return;
  sums.delayed += work.weight;
  sums.delay_ns += delay_ns * work.weight;
}

void FillRow(const Key& key, const Process& process, Sums* sums, int64_t all_ns,
             results::ApiCall* row) {
  SetProcess(process, row);
  if (key.domain == 0) {
    row->set_name(ThreadName(process, key.tid));
    row->set_tid(key.tid);
  } else {
    row->set_name(key.name);
    row->set_domain(key.domain == kDriverDomain ? results::API_DOMAIN_DRIVER
                                                : results::API_DOMAIN_RUNTIME);
  }
  const Samples durations = sums->durations.Take();
  FillDurations(durations, row);
  row->set_total_ratio(Ratio(durations.total(), all_ns));
  row->set_max_start_ns(sums->max_start_ns);
  row->set_max_tid(sums->max_tid);
  row->set_error_count(sums->errors);
  row->set_first_error(static_cast<int32_t>(sums->first_error));
  row->set_work_count(sums->work);
  if (sums->delayed > 0)
    row->set_mean_delay_ns(sums->delay_ns / static_cast<int64_t>(sums->delayed));
}

void AddCalls(PassContext& context, bool by_thread, results::ApiCalls* out) {
  Groups groups;
  std::map<size_t, const Process*> processes;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const size_t owner = context.Owner(index);
    processes[owner] = &process;
    GroupFinder finder(by_thread, owner, process, &groups);
    for (const Track& track : process.tracks) {
      const Column<uint32_t>::Reader functions(track.api.function);
      const CallColumns columns(track.api);
      for (size_t i = 0; i < track.api.rows(); ++i)
        AddCall(track, columns, i, finder.Of(track, functions[i]));
    }
    const CallIndex& calls = context.calls(index);
    ForEachDeviceWork(process, [&](const Track&, const DeviceWork& work) {
      AddWork(process, work, calls, &finder);
    });
  }
  int64_t total = 0;
  for (const auto& [key, sums] : groups) {
    total += sums.durations.total();
    out->set_count(out->count() + sums.durations.count());
  }
  for (auto& [key, sums] : groups)
    FillRow(key, *processes[key.owner], &sums, total, out->add_calls());
  SortByTotal(out->mutable_calls());
  out->set_total_ns(total);
}

}  // namespace

Error RunApi(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string by = context.By("function");
  auto out = std::make_unique<results::ApiCalls>(KeptRows<results::ApiCalls>(
      context.kept_of_all(), by,
      [&](results::ApiCalls* rows) { AddCalls(context, by == "thread", rows); }));
  out->set_by(by);
  context.FillCountMeta("api", out->mutable_meta());
  AddSampledNote(context, "", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
