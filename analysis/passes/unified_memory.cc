// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `unified_memory`: sums over what CUPTI's counters told of managed memory: what was moved
// where, and which pages were missing, by kind or by GPU.

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "proto/results/unified_memory.pb.h"

namespace gpuprof::analysis {
namespace {

// CUpti_ActivityUnifiedMemoryCounterKind.
enum Counter : uint32_t {
  kHtoD = 1,
  kDtoH = 2,
  kCpuPageFault = 3,
  kGpuPageFault = 4,
  kThrashing = 5,
  kThrottling = 6,
  kRemoteMap = 7,
  kDtoD = 8
};
constexpr size_t kMostPlaces = 10;

struct Key {
  size_t owner;  // process
  uint32_t counter;
  uint32_t cause;  // of a device: 0
  int64_t device;  // of a kind: 0; -1: of none, or not told
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  uint64_t count = 0, bytes = 0;
  int64_t total_ns = 0, max_ns = 0;
};

// An address at which something was moved or missing.
struct Place {
  uint64_t count = 0, bytes = 0, cpu_faults = 0, gpu_faults = 0;
};

using Groups = std::map<Key, Sums>;
using Places = std::map<std::pair<size_t, uint64_t>, Place>;

bool IsMigration(uint32_t counter) {
  return counter == kHtoD || counter == kDtoH || counter == kDtoD;
}

bool HasBytes(uint32_t counter) {
  return IsMigration(counter) || counter == kThrashing || counter == kRemoteMap;
}

// The GPU that took part. Of two the one copied to.
int64_t DeviceOf(const UnifiedMemoryTable& table, size_t i, uint32_t counter) {
  switch (counter) {
    case kHtoD:
    case kDtoD:
      return table.destination[i];
    case kDtoH:
    case kGpuPageFault:
      return table.source[i];
    default:
      return -1;
  }
}

void AddPlace(const UnifiedMemoryTable& table, size_t i, uint32_t counter, Place* place) {
  if (IsMigration(counter)) {
    ++place->count;
    place->bytes += table.value[i];
  }
  if (counter == kCpuPageFault) ++place->cpu_faults;
  if (counter == kGpuPageFault) ++place->gpu_faults;
}

void AddTotals(uint32_t counter, uint64_t bytes, results::UnifiedMemory* out) {
  out->set_count(out->count() + 1);
  if (counter == kHtoD) out->set_htod_bytes(out->htod_bytes() + bytes);
  if (counter == kDtoH) out->set_dtoh_bytes(out->dtoh_bytes() + bytes);
  if (counter == kDtoD) out->set_dtod_bytes(out->dtod_bytes() + bytes);
  if (counter == kCpuPageFault) out->set_cpu_page_fault_count(out->cpu_page_fault_count() + 1);
  if (counter == kGpuPageFault) out->set_gpu_page_fault_count(out->gpu_page_fault_count() + 1);
  if (counter == kThrashing) out->set_thrashing_count(out->thrashing_count() + 1);
}

void AddProcess(size_t owner, const Process& process, bool by_device, Groups* groups,
                Places* places, results::UnifiedMemory* out) {
  for (const Track& track : process.tracks) {
    const UnifiedMemoryTable& table = track.unified_memory;
    for (size_t i = 0; i < table.rows(); ++i) {
      const uint32_t counter = proto::UnifiedMemoryCounterOf(table.operation[i]);
      const uint32_t flags = proto::UnifiedMemoryFlagsOf(table.operation[i]);
      const uint64_t bytes = HasBytes(counter) ? table.value[i] : 0;
      Sums& sums = (*groups)[{owner, counter, by_device ? 0 : flags,
                              by_device ? DeviceOf(table, i, counter) : 0}];
      ++sums.count;
      sums.bytes += bytes;
      sums.total_ns += table.duration_ns[i];
      sums.max_ns = std::max(sums.max_ns, table.duration_ns[i]);
      AddTotals(counter, bytes, out);
      if (table.address[i] != 0) AddPlace(table, i, counter, &(*places)[{owner, table.address[i]}]);
    }
  }
}

void FillRow(bool by_device, const Key& key, const Process& process, const Sums& sums,
             results::UnifiedMemoryUse* row) {
  SetProcess(process, row);
  const std::string_view name = UnifiedMemoryCounterName(key.counter);
  row->set_name(name.empty() ? "kind " + std::to_string(key.counter) : std::string(name));
  if (by_device && key.device >= 0) row->set_device(static_cast<uint32_t>(key.device));
  if (!by_device) row->set_cause(std::string(UnifiedMemoryCauseName(key.counter, key.cause)));
  row->set_count(sums.count);
  row->set_bytes(sums.bytes);
  row->set_total_ns(sums.total_ns);
  row->set_max_ns(sums.max_ns);
  if (!IsMigration(key.counter) || sums.total_ns == 0) return;
  row->set_bytes_per_second(static_cast<double>(sums.bytes) * 1e9 /
                            static_cast<double>(sums.total_ns));
}

// Those that most was moved at, and then those where most was missing.
void FillPlaces(const PassContext& context, const Places& places, results::UnifiedMemory* out) {
  std::vector<std::pair<std::pair<size_t, uint64_t>, Place>> sorted(places.begin(), places.end());
  const auto faults = [](const Place& place) { return place.cpu_faults + place.gpu_faults; };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& x, const auto& y) {
    return x.second.bytes != y.second.bytes ? x.second.bytes > y.second.bytes
                                            : faults(x.second) > faults(y.second);
  });
  if (sorted.size() > kMostPlaces) sorted.resize(kMostPlaces);
  for (const auto& [where, place] : sorted) {
    results::UnifiedMemoryPlace* row = out->add_places();
    SetProcess(context.process(where.first), row);
    row->set_address(where.second);
    row->set_migration_count(place.count);
    row->set_bytes(place.bytes);
    row->set_cpu_page_fault_count(place.cpu_faults);
    row->set_gpu_page_fault_count(place.gpu_faults);
  }
}

}  // namespace

Error RunUnifiedMemory(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::UnifiedMemory>();
  const std::string by = context.By("kind");
  const bool by_device = by == "device";
  Groups groups;
  Places places;
  for (const size_t index : context.selected())
    AddProcess(context.Owner(index), context.process(index), by_device, &groups, &places,
               out.get());
  for (const auto& [key, sums] : groups)
    FillRow(by_device, key, context.process(key.owner), sums, out->add_uses());
  SortFalling(out->mutable_uses(),
              [](const auto& row) { return std::tuple(row.total_ns(), row.count()); });
  FillPlaces(context, places, out.get());
  out->set_by(by);
  context.FillCountMeta("unified_memory", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
