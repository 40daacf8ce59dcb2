// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Memory and clocks of a device. See memory_fact_finder.h.

#include "analysis/advice/facts/memory_fact_finder.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/passes/device/device_limits.h"
#include "analysis/steps/statistics.h"
#include "proto/operations.h"

namespace gpuprof::analysis {
namespace {

// What was allocated after each moment.
struct Level {
  int64_t time_ns;
  uint64_t bytes;
  uint64_t reserved;
};

// Returns the framework's counts for a device, by time.
std::vector<Level> TensorLevels(const Process& process, uint32_t device) {
  constexpr uint32_t kCuda = 1, kHip = 6;  // c10::DeviceType
  std::vector<Level> levels;
  for (const Track& track : process.tracks) {
    const TensorTable& tensors = track.tensor;
    for (size_t i = 0; i < tensors.rows(); ++i) {
      const uint32_t type = tensors.device[i] >> 8;
      if ((type != kCuda && type != kHip) || (tensors.device[i] & 0xff) != device) continue;
      if (tensors.total_allocated[i] == 0 && tensors.total_reserved[i] == 0) continue;  // not told
      levels.push_back({tensors.time_ns[i], tensors.total_allocated[i], tensors.total_reserved[i]});
    }
  }
  std::stable_sort(levels.begin(), levels.end(),
                   [](const Level& a, const Level& b) { return a.time_ns < b.time_ns; });
  return levels;
}

// Returns what the process had allocated through CUDA since the capture began.
std::vector<Level> CudaLevels(const Process& process, uint32_t device) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != device) continue;
    const DeviceMemoryTable& memory = track.device_memory;
    for (size_t i = 0; i < memory.rows(); ++i) {
      const bool is_release =
          proto::MemoryOperationOf(memory.operation[i]) == proto::kMemoryRelease;
      const auto bytes = static_cast<int64_t>(memory.bytes[i]);
      changes.emplace_back(memory.time_ns[i], is_release ? -bytes : bytes);
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Level> levels;
  int64_t sum = 0;
  for (const auto& [time, change] : changes) {
    // What an earlier allocation gives back was there from the beginning.
    sum = std::max<int64_t>(sum + change, 0);
    levels.push_back({time, static_cast<uint64_t>(sum), 0});
  }
  return levels;
}

// Finds the least of each step.
void FillFloors(const std::vector<Level>& levels, const std::vector<Step>& steps,
                MemoryFacts* facts) {
  size_t at = 0;
  uint64_t now = 0, before = 0;
  bool is_known = false;
  facts->never_falls = true;
  for (const Step& step : steps) {
    const int64_t end = step.span.end;
    for (; at < levels.size() && levels[at].time_ns < step.span.start; ++at) {
      now = levels[at].bytes;
      is_known = true;
    }
    const bool is_whole = is_known;  // what it began with is known
    uint64_t least = now;
    for (; at < levels.size() && levels[at].time_ns < end; ++at) {
      now = levels[at].bytes;
      is_known = true;
      least = std::min(least, now);
    }
    if (step.is_warmup || !is_whole) continue;
    if (facts->floor_steps == 0) {
      facts->first_floor_bytes = least;
    } else {
      facts->never_falls &= least >= before;
      if (least > before) ++facts->rising_steps;
    }
    ++facts->floor_steps;
    facts->last_floor_bytes = before = least;
  }
}

// Calls visit(sampler, track) for the readings of NVML of a device.
template <typename Visit>
void ForEachReadTrack(const Trace& trace, const proto::Device& device, Visit&& visit) {
  for (const Process& sampler : trace.samplers) {
    for (const Track& track : sampler.tracks) {
      const auto sampled = sampler.sampled_devices.find(track.id);
      if (sampled != sampler.sampled_devices.end() && !sampled->second.is_pm() &&
          IsSameDevice(device, sampled->second))
        visit(sampler, track);
    }
  }
}

// Calls visit(time, value) for the readings of a counter of the device, in its unit.
template <typename Visit>
void ForEachReading(const Process& sampler, const Track& track, std::string_view name,
                    Visit&& visit) {
  for (size_t i = 0; i < track.counter.rows(); ++i) {
    const auto counter = sampler.counters.find(track.counter.counter[i]);
    if (counter == sampler.counters.end() || counter->second.name() != name ||
        counter->second.pid() != 0)
      continue;
    const auto divisor = static_cast<double>(std::max(counter->second.divisor(), 1u));
    visit(track.counter.time_ns[i], static_cast<double>(track.counter.value[i]) / divisor);
  }
}

}  // namespace

void FillMemoryFacts(PassContext& context, size_t index, uint32_t device, MemoryFacts* facts) {
  const Process& process = context.process(index);
  const proto::Device* told = process.FindDevice(device);
  if (told != nullptr) {
    facts->capacity_bytes = told->memory_bytes();
    ForEachReadTrack(context.trace(), *told, [&](const Process& sampler, const Track& track) {
      ForEachReading(sampler, track, "memory_used", [&](int64_t time, double bytes) {
        if (static_cast<uint64_t>(bytes) > facts->used_peak_bytes) {
          facts->used_peak_bytes = static_cast<uint64_t>(bytes);
          facts->used_peak_time_ns = time;
        }
        facts->used_source = "all.as_nvml_read";
      });
    });
  }
  std::vector<Level> levels = TensorLevels(process, device);
  facts->floor_source = "all.tensors";
  for (const Level& level : levels) {
    if (level.bytes <= facts->tensors_bytes) continue;
    facts->tensors_bytes = level.bytes;
    facts->reserved_bytes = level.reserved;
    facts->tensors_time_ns = level.time_ns;
  }
  for (const Level& level : levels) {
    if (level.reserved <= facts->used_peak_bytes) continue;
    facts->used_peak_bytes = level.reserved;
    facts->used_peak_time_ns = level.time_ns;
    facts->used_source = "all.reserved_by_framework";
  }
  if (levels.empty()) {
    levels = CudaLevels(process, device);
    facts->floor_source = "all.cuda_allocations";
  }
  if (!levels.empty()) FillFloors(levels, context.steps(index).steps, facts);
}

void FillClockFacts(PassContext& context, size_t index, const results::DeviceSeries& series,
                    ClockFacts* facts) {
  constexpr uint64_t kSlowing = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;  // nvmlClocksEventReasons
  const proto::Device* told = context.process(index).FindDevice(series.device());
  if (told == nullptr) return;
  constexpr double kKhzPerMhz = 1000;
  facts->highest_mhz = static_cast<double>(told->core_clock_khz()) / kKhzPerMhz;
  double sum = 0;
  uint64_t masks = 0, limited = 0;
  const auto is_inside = [&](int64_t time) {
    return time >= series.start_ns() && time < series.end_ns();
  };
  ForEachReadTrack(context.trace(), *told, [&](const Process& sampler, const Track& track) {
    ForEachReading(sampler, track, "sm_clock", [&](int64_t time, double mhz) {
      facts->highest_mhz = std::max(facts->highest_mhz, mhz);
      if (!is_inside(time)) return;
      ++facts->reading_count;
      sum += mhz;
    });
    for (size_t i = 0; i < track.counter.rows(); ++i) {
      const auto counter = sampler.counters.find(track.counter.counter[i]);
      if (counter == sampler.counters.end() || counter->second.unit() != "mask" ||
          !is_inside(track.counter.time_ns[i]))
        continue;
      const auto bits = static_cast<uint64_t>(track.counter.value[i]);
      ++masks;
      limited += (bits & kSlowing) != 0 ? 1u : 0u;
      for (uint64_t left = bits & kSlowing; left != 0; left &= left - 1)
        facts->reasons[std::string(ClocksEventReasonName(left & (~left + 1)))] += 1;
    }
  });
  facts->mean_mhz = Ratio(sum, static_cast<double>(facts->reading_count));
  facts->limited_ratio = Ratio(limited, masks);
  for (auto& [name, count] : facts->reasons) count = Ratio(count, static_cast<double>(masks));
}

}  // namespace gpuprof::analysis
