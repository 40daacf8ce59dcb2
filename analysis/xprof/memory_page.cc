// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// XProf's memory_profile: what allocators of TensorFlow and JAX said of themselves, and what was
// live at the peak, as XProf 2.24.0 sees it. See pages.h.

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/import/tensor_types.h"
#include "analysis/xprof/grouping.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

using nlohmann::json;

constexpr int64_t kNoMemoryStep = -1;
constexpr int64_t kMostMemorySamples = 1000;

// XProf adds without a check; a sum of a stranger's numbers may be too large.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// What the allocator counts after an event.
struct MemoryCounts {
  int64_t stack = 0, heap = 0, free = 0, peak = 0;
  double fragmentation = 0;

  int64_t used() const { return Sum(stack, heap); }
};

struct MemoryActivity {
  bool is_allocation = true;
  int64_t requested = 0, bytes = 0;
  uint64_t address = 0;
  int64_t step = kNoMemoryStep;
  std::string_view op, region, shape;
  std::string type;

  auto Key() const {
    return std::make_tuple(Minus(0, bytes), Minus(0, requested), op, region, std::string_view(type),
                           shape);
  }
};

struct MemoryMoment {
  int64_t time_ps = 0;  // since the begin of its line
  MemoryCounts counts;
  MemoryActivity activity;
};

// A row of the table of the peak: allocations that look the same.
struct MemoryRow {
  int64_t moment = 0;  // negative: the special one of the number -1 - moment
  const MemoryActivity* activity = nullptr;
  int64_t count = 1;
};

// One allocator.
class Allocator {
 public:
  void Add(MemoryMoment moment);
  // Ends the events.
  json Page();

 private:
  void FixSteps();
  void NameReleases();
  json Samples() const;
  int64_t PeakStep() const;
  std::vector<MemoryRow> RowsAtPeak();
  void AddSpecial(int64_t bytes, std::string_view op, std::string_view region,
                  std::vector<MemoryRow>* rows);

  std::vector<MemoryMoment> moments_;
  MemoryCounts peak_;
  int64_t peak_time_ps_ = 0, capacity_ = 0, peak_of_life_ = 0, peak_step_ = 0;
  std::vector<MemoryActivity> special_;
};

void Allocator::Add(MemoryMoment moment) {
  const MemoryCounts& now = moment.counts;
  peak_of_life_ = now.peak;
  if (now.used() >= peak_.peak) {
    peak_ = now;
    peak_.peak = now.used();
    peak_time_ps_ = moment.time_ps;
    capacity_ = Sum(now.used(), now.free);
  }
  moments_.push_back(std::move(moment));
}

// What has no step is of step 0, or of the one after the last.
void Allocator::FixSteps() {
  int64_t last = -1;
  for (MemoryMoment& moment : moments_) {
    int64_t& step = moment.activity.step;
    if (step == kNoMemoryStep) {
      step = Sum(last, 1);
    } else {
      last = step;
    }
  }
}

// A release has the names of the first allocation of its address.
void Allocator::NameReleases() {
  std::unordered_map<uint64_t, const MemoryActivity*> live;
  for (MemoryMoment& moment : moments_) {
    MemoryActivity& activity = moment.activity;
    if (activity.is_allocation) {
      live.try_emplace(activity.address, &activity);
      continue;
    }
    const auto found = live.find(activity.address);
    if (found == live.end()) continue;
    const MemoryActivity& from = *found->second;
    activity.op = from.op;
    activity.region = from.region;
    activity.type = from.type;
    activity.shape = from.shape;
    live.erase(found);
  }
}

int64_t Allocator::PeakStep() const {
  int64_t step = 0;
  for (const MemoryMoment& moment : moments_)
    if (moment.counts.used() == peak_.peak) step = moment.activity.step;
  return step;
}

void Allocator::AddSpecial(int64_t bytes, std::string_view op, std::string_view region,
                           std::vector<MemoryRow>* rows) {
  if (bytes <= 0) return;
  special_.push_back({true, bytes, bytes, 0, peak_step_, op, region, "unknown", "INVALID"});
  rows->push_back({-static_cast<int64_t>(special_.size()), nullptr});
}

// XProf lists what the step of the peak allocated and did not give back before the peak.
std::vector<MemoryRow> Allocator::RowsAtPeak() {
  int64_t other = peak_.heap, freed_of_others = 0;
  std::map<uint64_t, size_t> live;
  for (size_t i = 0; i < moments_.size() && moments_[i].time_ps <= peak_time_ps_; ++i) {
    const MemoryActivity& activity = moments_[i].activity;
    if (activity.step != peak_step_) continue;
    if (activity.is_allocation) {
      live[activity.address] = i;
      other = Minus(other, activity.bytes);
    } else {
      if (live.erase(activity.address) == 0) freed_of_others = Sum(freed_of_others, activity.bytes);
      other = Sum(other, activity.bytes);
    }
  }
  std::vector<MemoryRow> rows;
  for (const auto& [address, i] : live)
    rows.push_back({static_cast<int64_t>(i), &moments_[i].activity});
  AddSpecial(Minus(other, freed_of_others), "unused preallocated device memory", "persist/dynamic",
             &rows);
  AddSpecial(peak_.stack, "stack", "stack", &rows);
  for (MemoryRow& row : rows)
    if (row.moment < 0) row.activity = &special_[static_cast<size_t>(-1 - row.moment)];
  std::sort(rows.begin(), rows.end(), [](const MemoryRow& a, const MemoryRow& b) {
    const auto x = a.activity->Key(), y = b.activity->Key();
    return x != y ? x < y : a.moment < b.moment;
  });
  std::vector<MemoryRow> merged;
  for (const MemoryRow& row : rows) {
    if (!merged.empty() && merged.back().activity->Key() == row.activity->Key()) {
      ++merged.back().count;
    } else {
      merged.push_back(row);
    }
  }
  return merged;
}

json Number(int64_t value) { return std::to_string(value); }

json Real(double value) {
  constexpr double kExact = 1e15;
  if (value > -kExact && value < kExact &&
      value == static_cast<double>(static_cast<int64_t>(value)))
    return static_cast<int64_t>(value);
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

json ToJson(const MemoryCounts& counts) {
  return {{"stackReservedBytes", Number(counts.stack)},
          {"heapAllocatedBytes", Number(counts.heap)},
          {"freeMemoryBytes", Number(counts.free)},
          {"fragmentation", Real(counts.fragmentation)},
          {"peakBytesInUse", Number(counts.peak)}};
}

json ToJson(const MemoryActivity& activity) {
  return {{"memoryActivity", activity.is_allocation ? "ALLOCATION" : "DEALLOCATION"},
          {"requestedBytes", Number(activity.requested)},
          {"allocationBytes", Number(activity.bytes)},
          {"address", std::to_string(activity.address)},
          {"tfOpName", activity.op},
          {"stepId", Number(activity.step)},
          {"regionType", activity.region},
          {"dataType", activity.type},
          {"tensorShape", activity.shape}};
}

json ToJson(const MemoryMoment& moment) {
  return {{"timeOffsetPs", Number(moment.time_ps)},
          {"aggregationStats", ToJson(moment.counts)},
          {"activityMetadata", ToJson(moment.activity)}};
}

// At most a thousand moments, each the highest of as many events.
json Allocator::Samples() const {
  json samples = json::array();
  const auto count = static_cast<int64_t>(moments_.size());
  const int64_t width = std::max<int64_t>(1, count / kMostMemorySamples);
  const int64_t narrow =
      count > kMostMemorySamples ? kMostMemorySamples * (width + 1) - count : count;
  for (int64_t begin = 0, i = 0; begin < count; ++i) {
    const int64_t end = begin + (i < narrow ? width : width + 1);
    samples.push_back(ToJson(*std::max_element(moments_.begin() + begin, moments_.begin() + end,
                                               [](const MemoryMoment& a, const MemoryMoment& b) {
                                                 return a.counts.used() < b.counts.used();
                                               })));
    begin = end;
  }
  return samples;
}

json Allocator::Page() {
  std::stable_sort(
      moments_.begin(), moments_.end(),
      [](const MemoryMoment& a, const MemoryMoment& b) { return a.time_ps < b.time_ps; });
  FixSteps();
  NameReleases();
  peak_step_ = PeakStep();
  json page = {{"memoryProfileSnapshots", json::array()},
               {"activeAllocations", json::array()},
               {"specialAllocations", json::array()},
               {"sampledTimelineSnapshots", Samples()}};
  page["profileSummary"] = {{"peakBytesUsageLifetime", Number(peak_of_life_)},
                            {"peakStats", ToJson(peak_)},
                            {"peakStatsTimePs", Number(peak_time_ps_)},
                            {"memoryCapacity", Number(capacity_)}};
  int64_t listed = 0;
  for (const MemoryRow& row : RowsAtPeak()) {
    const bool is_special = row.moment < 0;
    page["activeAllocations"].push_back(
        {{"snapshotIndex", Number(is_special ? row.moment : listed++)},
         {"specialIndex", Number(is_special ? -1 - row.moment : -1)},
         {"numOccurrences", Number(row.count)}});
    if (!is_special)
      page["memoryProfileSnapshots"].push_back(ToJson(moments_[static_cast<size_t>(row.moment)]));
  }
  for (const MemoryActivity& each : special_) page["specialAllocations"].push_back(ToJson(each));
  return page;
}

// Reads an event. Of two stats with one meaning, the later one counts.
MemoryMoment ReadMoment(const Plane& host, const Event& event, std::string* allocator) {
  MemoryMoment moment;
  moment.time_ps = event.offset;
  MemoryActivity& activity = moment.activity;
  MemoryCounts& counts = moment.counts;
  for (const Stat& stat : host.StatsOf(event)) {
    switch (stat.key) {
      case StatKey::kIndexOnHost:
      case StatKey::kDeviceOrdinal:
        *allocator = std::to_string(stat.Signed());
        break;
      case StatKey::kAllocatorName:
        *allocator = stat.Text();
        break;
      case StatKey::kBytesReserved:
        counts.stack = stat.Signed();
        break;
      case StatKey::kBytesAllocated:
        counts.heap = stat.Signed();
        break;
      case StatKey::kBytesAvailable:
        counts.free = stat.Signed();
        break;
      case StatKey::kFragmentation:
        counts.fragmentation = stat.Double();
        break;
      case StatKey::kPeakBytesInUse:
        counts.peak = stat.Signed();
        break;
      case StatKey::kRequestedBytes:
        activity.requested = stat.Signed();
        break;
      case StatKey::kAllocationBytes:
        activity.bytes = stat.Signed();
        break;
      case StatKey::kAddress:
        activity.address = static_cast<uint64_t>(stat.Signed());
        break;
      case StatKey::kTfOp:
        activity.op = stat.Text();
        break;
      case StatKey::kRegionType:
        activity.region = stat.Text();
        break;
      case StatKey::kDataType:
        activity.type = import::NameOfDataType(stat.Signed());
        break;
      case StatKey::kShape:
        activity.shape = stat.Text();
        break;
      default:
        break;
    }
  }
  if (event.has_group) activity.step = event.group;
  return moment;
}

json ModulesOf(Space* space) {
  json modules = json::array();
  for (const Plane* plane : space->PlanesWithPrefix(kTpuPrefix)) {
    for (const Line& line : plane->lines) {
      if (line.name != "XLA Modules") continue;
      for (const Event& event : line.events) {
        modules.push_back({{"name", plane->names[event.name].name},
                           {"startTimePs", Number(event.offset)},
                           {"endTimePs", Number(Sum(event.offset, event.duration))},
                           {"id", std::to_string(modules.size())},
                           {"planeName", plane->name.substr(sizeof "/device:" - 1)}});
      }
    }
  }
  return modules;
}

}  // namespace

Result<std::string> MemoryPage(Space* space) {
  if (Error error = GroupEvents(space)) return error;
  const Plane* const host = space->FindPlane(kHostPlane);
  if (host == nullptr) return std::string();  // XProf has no page then
  std::map<std::string, Allocator> allocators;
  for (const Line& line : host->lines) {
    for (const Event& event : line.events) {
      const std::string_view name = host->names[event.name].name;
      const bool is_allocation = name == "MemoryAllocation";
      if (!is_allocation && name != "MemoryDeallocation") continue;
      std::string allocator;
      MemoryMoment moment = ReadMoment(*host, event, &allocator);
      moment.activity.is_allocation = is_allocation;
      allocators[allocator].Add(std::move(moment));
    }
  }
  json page = {{"memoryProfilePerAllocator", json::object()},
               {"numHosts", 1},
               {"memoryIds", json::array()},
               {"version", 1},
               {"hloModules", ModulesOf(space)}};
  for (auto& [name, allocator] : allocators) {
    page["memoryProfilePerAllocator"][name] = allocator.Page();
    page["memoryIds"].push_back(name);
  }
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace gpuprof::analysis::xprof
