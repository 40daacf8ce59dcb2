// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `memcpy`: sums over the copies and sets of all streams.

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/units.h"
#include "analysis/derived/call_index.h"
#include "analysis/model/names.h"
#include "analysis/passes/device/device_gaps.h"
#include "analysis/passes/device/device_limits.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/graph_launches.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/results/memcpy.pb.h"

namespace gpuprof::analysis {
namespace {

enum class Grouping { kDirection, kStream, kSize };

// A set has no direction of CUPTI's.
constexpr uint32_t kMemset = 0xff;
// In place of a size's power of two: the bytes are not known.
constexpr uint32_t kNoSize = 0xff;

// One copy or set, whichever table it is of.
struct Copy {
  uint32_t kind, source, destination;
  bool is_async;
  uint64_t bytes;
  int64_t duration_ns;
  bool in_graph;
};

// What a row stands for; what does not matter is 0.
struct Key {
  size_t owner;  // process
  uint32_t device;
  uint32_t first;   // kind, context or a size's power of two
  uint32_t second;  // source and destination, or stream
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  SampleList durations;
  int64_t max_ns = -1;
  int64_t max_start_ns = 0;
  uint64_t bytes = 0;
  bool lacks_bytes = false;  // some do not tell them
  uint64_t async = 0;
  uint64_t in_graphs = 0;
};

struct DeviceSpans {
  std::vector<Interval> copies, kernels;
};

using Groups = std::map<Key, Sums>;

Key KeyOf(Grouping grouping, size_t owner, const Track& track, const Copy& copy) {
  switch (grouping) {
    case Grouping::kStream:
      return {owner, track.device, track.context, track.stream};
    case Grouping::kSize:
      return {
          owner, track.device,
          copy.bytes == kUnknownBytes ? kNoSize : static_cast<uint32_t>(std::bit_width(copy.bytes)),
          0};
    case Grouping::kDirection:
      break;
  }
  return {owner, track.device, copy.kind, copy.source << 8 | copy.destination};
}

Copy CopyOf(const MemcpyTable& table, size_t i) {
  const uint32_t operation = table.operation[i];
  return {proto::CopyKindOf(operation),
          proto::CopySourceOf(operation),
          proto::CopyDestinationOf(operation),
          proto::IsAsyncCopy(operation),
          table.bytes[i],
          table.duration_ns[i],
          table.graph[i] != 0};
}

Copy CopyOf(const MemsetTable& table, size_t i) {
  const uint32_t operation = table.operation[i];
  return {kMemset,
          0,
          proto::CopyDestinationOf(operation),
          proto::IsAsyncCopy(operation),
          table.bytes[i],
          table.duration_ns[i],
          table.graph[i] != 0};
}

template <typename Table>
void AddTable(size_t owner, const Track& track, const Table& table, Grouping grouping,
              Groups* groups, std::vector<Interval>* spans) {
  for (size_t i = 0; i < table.rows(); ++i) {
    const Copy copy = CopyOf(table, i);
    Sums& sums = (*groups)[KeyOf(grouping, owner, track, copy)];
    const uint32_t weight = table.weight[i];
    sums.durations.Add(copy.duration_ns, weight);
    if (copy.duration_ns > sums.max_ns) {
      sums.max_ns = copy.duration_ns;
      sums.max_start_ns = table.end_ns[i] - copy.duration_ns;
    }
    sums.lacks_bytes |= copy.bytes == kUnknownBytes;
    sums.bytes += copy.bytes == kUnknownBytes ? 0 : copy.bytes * weight;
    sums.async += copy.is_async ? weight : 0;
    sums.in_graphs += copy.in_graph ? weight : 0;
    spans->push_back({table.end_ns[i] - table.duration_ns[i], table.end_ns[i]});
  }
}

results::MemoryKind MemoryKindOf(uint32_t code) {
  return results::MemoryKind_IsValid(static_cast<int>(code))
             ? static_cast<results::MemoryKind>(code)
             : results::MEMORY_KIND_UNKNOWN;
}

void FillName(Grouping grouping, const Key& key, const Process& process, results::Copies* row) {
  if (grouping == Grouping::kStream) {
    row->set_name(StreamName(process, key.device, key.first, key.second));
    row->set_context(key.first);
    row->set_stream(key.second);
  } else if (grouping == Grouping::kSize) {
    row->set_name(key.first == kNoSize ? "unknown size" : FormatSizeClass(key.first));
  } else {
    const bool is_set = key.first == kMemset;
    row->set_name(std::string(is_set ? "Memset" : CopyKindName(key.first)));
    if (!is_set) row->set_source(MemoryKindOf(key.second >> 8));
    row->set_destination(MemoryKindOf(key.second & 0xff));
  }
}

void FillRow(Grouping grouping, const Key& key, const Process& process, Sums* sums, int64_t all_ns,
             results::Copies* row) {
  FillName(grouping, key, process, row);
  SetProcess(process, row);
  row->set_device(key.device);
  const Samples durations = sums->durations.Take();
  row->set_count(durations.size());
  row->set_async_count(sums->async);
  row->set_graph_count(sums->in_graphs);
  if (!sums->lacks_bytes) row->set_total_bytes(sums->bytes);
  row->set_total_ns(durations.total());
  row->set_total_ratio(Ratio(durations.total(), all_ns));
  row->set_mean_ns(durations.mean());
  row->set_min_ns(durations.min());
  row->set_max_ns(durations.max());
  row->set_max_start_ns(sums->max_start_ns);
  // Bytes by nanosecond are 10^9 bytes by second.
  if (!sums->lacks_bytes)
    row->set_gb_per_s(
        Ratio(static_cast<double>(sums->bytes), static_cast<double>(durations.total())));
}

void FillLimit(const DeviceLimits::Limits& limits, const Key& key, results::Copies* row) {
  // CUpti_ActivityMemcpyKind
  enum : uint32_t { kHostToArray = 3, kArrayToHost, kArrayToArray, kDeviceToDevice = 8 };
  double limit = 0;
  bool is_link = false;
  if (key.first == kMemset) {
    limit = limits.memory_gb_per_s;
  } else if (key.first >= 1 && key.first <= kArrayToHost) {
    limit = limits.link_gb_per_s;
    is_link = true;
  } else if (key.first >= kArrayToArray && key.first <= kDeviceToDevice) {
    limit = limits.memory_gb_per_s / 2;
  }
  if (limit <= 0 || row->total_ns() == 0 || !row->has_gb_per_s()) return;
  row->set_limit_gb_per_s(limit);
  row->set_limit(is_link ? results::COPY_LIMIT_PCIE : results::COPY_LIMIT_MEMORY);
  row->set_limit_ratio(row->gb_per_s() / limit);
}

Grouping GroupingOf(const std::string& by) {
  if (by == "stream") return Grouping::kStream;
  return by == "size" ? Grouping::kSize : Grouping::kDirection;
}

int64_t Exposed(DeviceSpans spans) {
  const std::vector<Interval> copies = UnionOf(std::move(spans.copies));
  const std::vector<Interval> kernels = UnionOf(std::move(spans.kernels));
  return TotalLength(copies) - TotalLength(Intersection(copies, kernels));
}

void Fill(PassContext& context, Grouping grouping, const UsedDevices& devices,
          results::Memcpy* out) {
  Groups groups;
  std::map<size_t, DeviceLimits> limits;  // of a process's images the newest that had a device
  std::vector<DeviceSpans> spans_of(devices.all().size());
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const size_t owner = context.Owner(index);
    if (!process.devices.empty())
      limits.insert_or_assign(owner, DeviceLimits(context.trace(), process));
    for (const Track& track : process.tracks) {
      if (!track.is_stream || !HasWork(track)) continue;
      DeviceSpans& spans = spans_of[devices.Of(index, track.device)];
      AddTable(owner, track, track.memcpy, grouping, &groups, &spans.copies);
      AddTable(owner, track, track.memset, grouping, &groups, &spans.copies);
      for (size_t i = 0; i < track.kernel.rows(); ++i)
        spans.kernels.push_back(
            {track.kernel.end_ns[i] - track.kernel.duration_ns[i], track.kernel.end_ns[i]});
    }
  }
  int64_t total = 0;
  uint64_t bytes = 0;
  bool lacks_bytes = false;
  for (const auto& [key, sums] : groups) {
    total += sums.durations.total();
    out->set_count(out->count() + sums.durations.count());
    bytes += sums.bytes;
    lacks_bytes |= sums.lacks_bytes;
  }
  if (!lacks_bytes) out->set_total_bytes(bytes);
  for (auto& [key, sums] : groups) {
    results::Copies* row = out->add_copies();
    FillRow(grouping, key, context.process(key.owner), &sums, total, row);
    const auto known = limits.find(key.owner);
    if (grouping == Grouping::kDirection && known != limits.end())
      FillLimit(known->second.Of(key.device), key, row);
  }
  if (grouping != Grouping::kSize) {
    SortByTotal(out->mutable_copies());
  }
  out->set_total_ns(total);
  for (DeviceSpans& spans : spans_of)
    out->set_exposed_ns(out->exposed_ns() + Exposed(std::move(spans)));
}

}  // namespace

void ComputeMemcpy(PassContext& context, results::Memcpy* out) {
  Fill(context, Grouping::kDirection, UsedDevices(context), out);
}

Error RunMemcpy(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string by = context.By("direction");
  const UsedDevices devices(context);
  auto out = std::make_unique<results::Memcpy>(KeptRows<results::Memcpy>(
      context.kept_of_all(), by,
      [&](results::Memcpy* rows) { Fill(context, GroupingOf(by), devices, rows); }));
  out->set_by(by);
  context.FillMeta("memcpy", out->mutable_meta());
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    AddWholeGraphNote(process, WholeGraphLaunches(process, nullptr), "copies and memsets",
                      out->mutable_meta());
  }
  context.FillCountConfidence(out->meta(), out->mutable_meta()->mutable_confidence());
  AddSampledNote(context, "time that no kernel hides", out->mutable_meta());
  AddUntoldNote(devices, "time that no kernel hides is summed as if they had not shared them",
                out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
