// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See curves.h.

#include "analysis/timeline/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "analysis/derived/device_work.h"
#include "proto/operations.h"
#include "proto/record.h"

namespace gpuprof::analysis::timeline {
namespace {

// Sorts values by time. Those of one moment keep their order.
Curve Sorted(const std::vector<std::pair<int64_t, double>>& values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto is_before = [&](uint32_t x, uint32_t y) { return values[x].first < values[y].first; };
  if (!std::is_sorted(order.begin(), order.end(), is_before))
    std::stable_sort(order.begin(), order.end(), is_before);
  Curve curve;
  curve.time_ns.reserve(values.size());
  curve.value.reserve(values.size());
  for (const uint32_t i : order) {
    curve.time_ns.push_back(static_cast<double>(values[i].first));
    curve.value.push_back(values[i].second);
  }
  return curve;
}

// Returns how many bytes a sampled allocation stands for: the chance to be sampled grows with it.
double WeighedBytes(double bytes, double period) {
  return bytes / -std::expm1(-std::max(bytes, 1.0) / period);
}

}  // namespace

Curve CounterCurve(const Track& track, uint32_t counter, uint32_t divisor) {
  const CounterTable& table = track.counter;
  const Column<int64_t>::Reader times(table.time_ns), read(table.value);
  const Column<uint32_t>::Reader ids(table.counter);
  std::vector<std::pair<int64_t, double>> values;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (ids[row] == counter)
      values.emplace_back(times[row],
                          static_cast<double>(read[row]) / std::max<uint32_t>(divisor, 1));
  }
  return Sorted(values);
}

Curve TensorCurve(const Process& process, uint32_t device) {
  std::vector<std::pair<int64_t, double>> values;
  for (const Track& track : process.tracks) {
    const TensorTable& table = track.tensor;
    const Column<int64_t>::Reader times(table.time_ns);
    const Column<uint32_t>::Reader devices(table.device);
    const Column<uint64_t>::Reader totals(table.total_allocated);
    for (size_t row = 0; row < table.rows(); ++row) {
      if (devices[row] == device) values.emplace_back(times[row], static_cast<double>(totals[row]));
    }
  }
  return Sorted(values);
}

Curve HeapCurve(const Process& process) {
  struct Call {
    int64_t time_ns;
    uint64_t address;
    double bytes;
    uint32_t track;
    bool is_free;
  };
  std::vector<Call> calls;
  const double period = process.heap_period;
  for (uint32_t number = 0; number < process.tracks.size(); ++number) {
    const HeapTable& heap = process.tracks[number].heap;
    const Column<int64_t>::Reader times(heap.time_ns);
    const Column<uint32_t>::Reader operations(heap.operation);
    const Column<uint64_t>::Reader addresses(heap.address), sizes(heap.size);
    for (size_t row = 0; row < heap.rows(); ++row) {
      const uint32_t operation = operations[row];
      const auto size = static_cast<double>(sizes[row]);
      const bool is_sampled = (proto::FlagsOf(operation) & proto::kFlagSampled) != 0 && period > 0;
      calls.push_back({times[row], addresses[row], is_sampled ? WeighedBytes(size, period) : size,
                       number, proto::HeapIsFree(operation)});
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& x, const Call& y) { return x.time_ns < y.time_ns; });
  // Coarse times of two threads may be so far from their order.
  constexpr double kCoarseNs = 4e6;
  std::unordered_map<uint64_t, double> live;
  // Frees of other threads that seem to come before the allocation that they end.
  std::unordered_map<uint64_t, Call> early;
  Curve curve;
  curve.time_ns.reserve(calls.size());
  curve.value.reserve(calls.size());
  double total = 0;
  for (const Call& call : calls) {
    const auto known = live.find(call.address);
    const bool was_live = known != live.end();
    const auto before = early.find(call.address);
    const bool is_over =
        before != early.end() && before->second.track != call.track &&
        static_cast<double>(call.time_ns) - static_cast<double>(before->second.time_ns) < kCoarseNs;
    if (before != early.end()) early.erase(before);
    if (call.is_free && !was_live) early.emplace(call.address, call);
    if (was_live) {
      total -= known->second;
      live.erase(known);
    }
    if (!call.is_free && !is_over) {
      live.emplace(call.address, call.bytes);
      total += call.bytes;
    }
    curve.time_ns.push_back(static_cast<double>(call.time_ns));
    curve.value.push_back(total);
  }
  return curve;
}

Curve DeviceMemoryCurve(const Process& process, const std::vector<uint32_t>& tracks) {
  constexpr uint32_t kDeviceKind = 3;  // CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
  struct Change {
    int64_t time_ns;
    uint64_t address;
    double bytes;
    bool is_allocation;
  };
  std::vector<Change> changes;
  for (const uint32_t number : tracks) {
    const DeviceMemoryTable& table = process.tracks[number].device_memory;
    for (size_t row = 0; row < table.rows(); ++row) {
      const uint32_t operation = table.operation[row];
      if (proto::MemoryKindOf(operation) != kDeviceKind) continue;
      changes.push_back({table.time_ns[row], table.address[row],
                         static_cast<double>(table.bytes[row]),
                         proto::MemoryOperationOf(operation) == proto::kMemoryAllocation});
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& x, const Change& y) { return x.time_ns < y.time_ns; });
  std::unordered_map<uint64_t, double> live;
  Curve curve;
  double total = 0;
  for (const Change& change : changes) {
    // What was allocated before the recording is not known: its release does not count.
    const auto known = live.find(change.address);
    if (known != live.end()) {
      total -= known->second;
      live.erase(known);
    }
    if (change.is_allocation) {
      live.emplace(change.address, change.bytes);
      total += change.bytes;
    }
    curve.time_ns.push_back(static_cast<double>(change.time_ns));
    curve.value.push_back(total);
  }
  return curve;
}

Curve QueueCurve(const Process& process, const CallIndex& calls,
                 const std::vector<uint32_t>& streams) {
  std::vector<int64_t> begins, ends;
  for (const uint32_t number : streams) {
    ForEachDeviceWork(process.tracks[number], [&](const DeviceWork& work) {
      const std::optional<Call> call = calls.Find(work.correlation);
      if (!call || work.span.start <= call->end_ns) return;
      begins.push_back(call->end_ns);
      ends.push_back(work.span.start);
    });
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  Curve curve;
  double open = 0;
  for (size_t i = 0, k = 0; i < begins.size() || k < ends.size();) {
    const int64_t at = i < begins.size() ? std::min(begins[i], ends[k]) : ends[k];
    const double before = open;
    for (; i < begins.size() && begins[i] == at; ++i) ++open;
    for (; k < ends.size() && ends[k] == at; ++k) --open;
    if (open == before) continue;
    curve.time_ns.push_back(static_cast<double>(at));
    curve.value.push_back(open);
  }
  return curve;
}

CurvePart PartOf(const Curve& curve, double start_ns, double end_ns, double ns_per_px) {
  const auto begin = curve.time_ns.begin();
  const auto place = [&](double time) {
    return static_cast<size_t>(std::lower_bound(begin, curve.time_ns.end(), time) - begin);
  };
  const size_t from = std::max<size_t>(place(start_ns), 1) - 1, to = place(end_ns);
  int bits = 0;
  if (std::frexp(ns_per_px, &bits) == 0.5) --bits;
  const double width = std::ldexp(1, bits);
  CurvePart part;
  double cell = std::numeric_limits<double>::quiet_NaN();
  for (size_t i = from; i < to; ++i) {
    const double value = curve.value[i];
    const double at = std::floor(curve.time_ns[i] / width);
    if (at == cell) {
      part.least.back() = std::min(part.least.back(), value);
      part.most.back() = std::max(part.most.back(), value);
      continue;
    }
    cell = at;
    part.time_ns.push_back(curve.time_ns[i]);
    part.least.push_back(value);
    part.most.push_back(value);
  }
  return part;
}

}  // namespace gpuprof::analysis::timeline
