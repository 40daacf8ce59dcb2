// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `api`: sums over the CUDA calls of all threads, and how long the work that they began
// took to begin on the device.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/passes/device/sampled_activity.h"
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

void AddCall(const Track& track, size_t i, Sums* sums) {
  const ApiTable& calls = track.api;
  const int64_t duration = calls.duration_ns[i];
  if (duration > sums->max_ns) {
    sums->max_ns = duration;
    sums->max_start_ns = calls.end_ns[i] - duration;
    sums->max_tid = track.tid;
  }
  sums->durations.Add(duration, calls.weight[i]);
  const uint32_t code = calls.result[i];
  if (code == 0 || code == kNotReady) return;
  const int64_t time = calls.end_ns[i];
  const bool is_first = sums->errors == 0;
  sums->errors += calls.weight[i];
  if (is_first || time < sums->first_error_ns) {
    sums->first_error_ns = time;
    sums->first_error = code;
  }
}

// Adds the work to the call that began it. `groups` has all calls.
void AddWork(size_t owner, const Process& process, const DeviceWork& work, const CallIndex& calls,
             bool by_thread, Groups* groups) {
  const std::optional<Call> launch = calls.Find(work.correlation);
  if (!launch) return;
  const Track& track = process.tracks[launch->track];
  Sums& sums = (*groups)[KeyOf(by_thread, owner, process, track, track.api.function[launch->row])];
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
  row->set_count(durations.size());
  row->set_total_ns(durations.total());
  row->set_total_ratio(Ratio(durations.total(), all_ns));
  row->set_mean_ns(durations.mean());
  row->set_median_ns(durations.median());
  row->set_min_ns(durations.min());
  row->set_max_ns(durations.max());
  row->set_max_start_ns(sums->max_start_ns);
  row->set_max_tid(sums->max_tid);
  row->set_error_count(sums->errors);
  row->set_first_error(static_cast<int32_t>(sums->first_error));
  row->set_work_count(sums->work);
  if (sums->delayed > 0)
    row->set_mean_delay_ns(sums->delay_ns / static_cast<int64_t>(sums->delayed));
}

}  // namespace

std::string ApiFunctionName(const Process& process, uint32_t function) {
  const auto found = process.functions.find(function);
  std::string name = found == process.functions.end() ? "" : process.String(found->second);
  if (name.empty()) return "function " + std::to_string(proto::ApiCallbackOf(function));
  // Of the runtime, CUPTI's names end in the release that brought the interface: _v7000, _v13000. A
  // driver's _v2 is part of its name.
  const size_t at = name.rfind("_v");
  const bool is_release = at != std::string::npos && name.size() - at >= 6 &&
                          std::all_of(name.begin() + static_cast<ptrdiff_t>(at) + 2, name.end(),
                                      [](char c) { return c >= '0' && c <= '9'; });
  if (is_release) name.resize(at);
  return name;
}

Error RunApi(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::ApiCalls>();
  const std::string by = context.By("function");
  const bool by_thread = by == "thread";
  Groups groups;
  std::map<size_t, const Process*> processes;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const size_t owner = context.Owner(index);
    processes[owner] = &process;
    for (const Track& track : process.tracks) {
      for (size_t i = 0; i < track.api.rows(); ++i)
        AddCall(track, i, &groups[KeyOf(by_thread, owner, process, track, track.api.function[i])]);
    }
    const CallIndex& calls = context.calls(index);
    ForEachDeviceWork(process, [&](const Track&, const DeviceWork& work) {
      AddWork(owner, process, work, calls, by_thread, &groups);
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
  out->set_by(by);
  out->set_total_ns(total);
  context.FillCountMeta("api", out->mutable_meta());
  AddSampledNote(context, "", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
